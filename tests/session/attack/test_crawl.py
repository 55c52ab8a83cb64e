"""Walking through a menu: all of its tables, as the public gets them, with or without a server."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from sdcensus.errors import InputError, SpecError, UnknownName
from sdcensus.model.policy.policy import Limits, OnlineRules, RoleRules, UserRole
from sdcensus.model.published.table import Table
from sdcensus.session.attack.attack import attack_address, attack_menu
from sdcensus.session.attack.crawl import COUNTRY, MenuWalk, crawl_menu, questions_of
from sdcensus.session.attack.crawl_served import crawl_served
from tests.session.answer.services import published, service
from tests.web.servers import opened


def test_every_combination_of_variables_is_asked_for_once() -> None:
    made = service(300)
    names = ("sex", "age", "married")
    for dimensions in (1, 2, 3):
        walk = MenuWalk(areas=(COUNTRY,), dimensions=dimensions)
        questions = questions_of(made.policy, walk)
        assert len(questions) == math.comb(len(names), dimensions)
        assert len({frozenset(question.by) for question in questions}) == len(questions)
        assert not any("area" in axis for question in questions for axis in question.by)
    levels = questions_of(made.policy, MenuWalk(areas=("district",), every_level=True))
    assert all("area@district" in level.by for level in levels)
    # Two of three variables, of which age has three levels.
    assert len(levels) == 3 + 1 + 3
    everything = questions_of(made.policy, MenuWalk())
    assert len(everything) == 1 + 2 * 3


def test_tables_are_those_that_the_batch_publishes() -> None:
    made = service(300)
    crawl = crawl_menu(made, MenuWalk(areas=("parish",), dimensions=2))
    assert (len(crawl.tables), crawl.asked, crawl.refused, crawl.left) == (3, 3, 0, 0)
    for table in crawl.tables:
        by = [axis.name for axis in table.table.spec.axes]
        assert table.table == published(made, *by)
        assert table.provenance is not None
    assert len(crawl_menu(made, MenuWalk(variables=("sex", "age"), areas=(COUNTRY,))).tables) == 1


def test_a_walk_may_be_short_and_says_what_it_left_out() -> None:
    crawl = crawl_menu(service(300), MenuWalk(most_tables=2))
    assert (len(crawl.tables), crawl.left) == (2, 5)
    assert "5 further tables" in crawl.sentences[0]


def test_withheld_areas_are_unknown_and_not_0() -> None:
    made = service(300, online=OnlineRules(mean_cell_size=4))
    crawl = crawl_menu(made, MenuWalk(areas=("parish",)))
    whole = [table.table for table in crawl.tables if isinstance(table.table, Table)]
    assert len(whole) == len(crawl.tables)
    assert crawl.refused or any(table.flags is not None for table in whole)


def test_walks_that_make_no_sense_are_refused() -> None:
    made = service(50)
    for walk in (MenuWalk(areas=("moon",)), MenuWalk(variables=("area",))):
        with pytest.raises(UnknownName):
            crawl_menu(made, walk)
    with pytest.raises(SpecError):
        MenuWalk(dimensions=0)
    with pytest.raises(SpecError):
        MenuWalk(most_tables=0)


def test_a_server_gives_the_same_tables_as_its_service(tmp_path: Path) -> None:
    walk = MenuWalk(areas=("parish", COUNTRY))
    with opened(tmp_path / "web") as place:
        served = crawl_served(place.server.url, walk, keep=tmp_path / "kept")
        own = crawl_menu(place.site.service, walk)
        assert len(served.tables) == len(own.tables) == 4
        mine = {table.table.spec: table.table for table in own.tables}
        for table in served.tables:
            assert mine[table.table.spec] == table.table
        assert len(list((tmp_path / "kept").iterdir())) == 4
        with pytest.raises(InputError, match="not empty"):
            crawl_served(place.server.url, walk, keep=tmp_path / "kept")
        names = ("patterns", "twins")
        found = attack_address(place.server.url, walk, attacks=names)
        offline = attack_menu(place.site.service, walk, attacks=names)
        for mine_found, own_found in zip(found.report.results, offline.report.results, strict=True):
            assert mine_found.groups_claimed == own_found.groups_claimed


def test_a_server_that_has_had_enough_is_left_alone(tmp_path: Path) -> None:
    made = service(
        200,
        limits=Limits(dimensions=3, cells=100_000),
        roles=(RoleRules(role=UserRole.PUBLIC, tables_per_day=2),),
    )
    with opened(tmp_path / "web", made) as place:
        crawl = crawl_served(place.server.url, MenuWalk())
    assert len(crawl.tables) == 2
    assert "had enough after 2 tables" in crawl.sentences[0]
