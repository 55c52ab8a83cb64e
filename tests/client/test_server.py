"""The client against a real server over the island."""

from __future__ import annotations

import csv
import io
import json
import zipfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

import sdcensus as sc
from sdcensus.client import Connection, NotAllowed, QuotaUsedUp, ServiceError, TableRefused
from sdcensus.errors import QuestionError, Refused, UnknownName
from sdcensus.model.policy.policy import Limits, OnlineRules, RoleRules, UserRole
from tests.session.answer.services import published, service
from tests.web.servers import Place, opened

BY = ("area", "sex")


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Place]:
    with opened(tmp_path_factory.mktemp("web"), online_cells=200) as made:
        yield made


@pytest.fixture
def island(place: Place) -> Connection:
    return sc.connect(place.server.url)


def test_what_is_offered(island: Connection) -> None:
    assert [dataset.id for dataset in island.datasets()] == ["persons"]
    names = {variable.name for variable in island.variables("persons")}
    assert set(BY) <= names
    whole = island.variable("sex")
    assert whole.levels[0].size == len(whole.levels[0].codes) > 1
    assert island.census()["version"]["keys"] == 1
    with pytest.raises(UnknownName):
        island.variables("dwellings")
    with pytest.raises(UnknownName):
        island.variable("sexx")


def test_areas_come_whole_and_can_be_searched(
    island: Connection, monkeypatch: pytest.MonkeyPatch
) -> None:
    every = island.areas()
    monkeypatch.setattr("sdcensus.client.connection.PAGE", 2)
    assert island.areas() == every
    assert len(every) > 2
    found = island.areas(search=every[0].label)
    assert every[0] in found


def test_numbers_are_those_of_the_batch(place: Place, island: Connection) -> None:
    batch = published(place.site.service, *BY)
    table = island.table(*BY)
    for area in table.axes[0].codes:
        for sex in table.axes[1].codes:
            assert table.value(area=area, sex=sex) == batch.value(area=area, sex=sex)
    assert table.notes
    assert table.versions["keys"] == 1
    frame = table.to_pandas()
    assert len(frame) == table.values.size


def test_a_link_gives_the_same_table_again(place: Place, island: Connection) -> None:
    table = island.table(*BY, where="age >= 3", language="es")
    again = island.open_link(table.link)
    assert again.question == table.question
    assert np.array_equal(again.values, table.values)
    plain = json.loads(place.client.get(table.link).text)
    assert [one or 0 for one in plain["value"]] == table.values.reshape(-1).tolist()


def test_own_groups_are_sums_of_published_values(island: Connection) -> None:
    single = island.table("sex", "age")
    grouped = island.table("sex", "age", groups={"age": {"two of them": ["3", "8"]}})
    (code,) = [code for code in grouped.axes[1].codes if code != grouped.axes[1].total]
    assert "two of them" in grouped.axes[1].labels[grouped.axes[1].position(code)]
    parts = [single.value(age=one) for one in ("3", "8")]
    assert grouped.value(age=code) == sum(part for part in parts if part is not None)
    assert grouped.value() == single.value()
    assert grouped.parts is not None
    assert set(grouped.parts.reshape(-1).tolist()) == {1, 2}


def test_check_counts_cells_without_numbers(island: Connection) -> None:
    checked = island.check(*BY)
    assert checked.cells == island.table(*BY).values.size
    assert (checked.outcome, checked.variables) == ("allowed", 2)


def test_mistakes_say_where(island: Connection) -> None:
    with pytest.raises(QuestionError) as caught:
        island.table("sex", where="age >>= 3")
    assert caught.value.place == "where"
    with pytest.raises(sc.SdcensusError, match="sexx"):
        island.table("sexx")


def test_a_large_table_is_a_job_with_the_same_numbers(place: Place, island: Connection) -> None:
    steps: list[float] = []
    table = island.table("area", "sex", "age", progress=lambda _, done: steps.append(done))
    assert table.values.size > 200
    assert steps
    assert steps[-1] == 1.0
    batch = published(place.site.service, "area", "sex", "age")
    assert table.value() == batch.value()
    assert table.value(age=table.axes[2].codes[3]) == batch.value(age=table.axes[2].codes[3])


def test_downloads_hold_the_numbers_of_the_api(island: Connection, tmp_path: Path) -> None:
    table = island.table(*BY)
    path = island.download(*BY, to=tmp_path, format="csv")
    content = path.read_bytes()
    if content[:2] == b"PK":
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            name = next(one for one in packed.namelist() if one.endswith(".csv"))
            content = packed.read(name)
    rows = list(csv.reader(io.StringIO(content.decode("utf-8-sig"))))
    numbers = {int(one) for row in rows for one in row if one.isdigit()}
    assert set(table.values.reshape(-1).tolist()) <= numbers
    for ending in ("xlsx", "px", "parquet", "json", "csv", "zip", "sdmx.csv", "sdmx.zip"):
        assert island.download(*BY, to=tmp_path / f"named.{ending}").stat().st_size > 0


def test_programs_give_tables_and_figures(island: Connection) -> None:
    text = "TABLE t AS CROSSTABS OF person.area BY person.sex PERCENT ROW\n"
    (asked,) = island.program(text)
    counts = island.ask(asked.question)
    shares = island.run(text, "t")
    assert shares.decimals > 0
    area = next(code for code in counts.axes[0].codes if code != counts.axes[0].total)
    sex = next(code for code in counts.axes[1].codes if code != counts.axes[1].total)
    part, whole = counts.value(area=area, sex=sex), counts.value(area=area)
    assert part is not None
    assert whole
    assert shares.value(area=area, sex=sex) == pytest.approx(100 * part / whole, abs=0.06)
    with pytest.raises(QuestionError) as caught:
        island.program("TABLE t AS FREQUENCY OF person.sexx")
    assert caught.value.at == len("TABLE t AS FREQUENCY OF person.")


def test_the_quota_and_who_is_asking(place: Place, island: Connection) -> None:
    assert island.account()["role"] == "public"
    token = place.token("ben", "registered")["authorization"].removeprefix("Bearer ")
    known = sc.connect(place.server.url, token=token)
    assert known.account()["account"]["name"] == "ben"
    assert known.table(*BY).value() == island.table(*BY).value()
    with pytest.raises(NotAllowed):
        sc.connect(place.server.url, token="sdc_" + "x" * 40).account()


def test_refusals_have_reasons_and_remedies_that_work(tmp_path: Path) -> None:
    strict = service(limits=Limits(dimensions=2, cells=100_000), online=OnlineRules())
    with opened(tmp_path, strict) as made:
        island = sc.connect(made.server.url)
        with pytest.raises(Refused) as caught:
            island.table("area", "sex", "age")
        found = caught.value
        assert isinstance(found, TableRefused)
        assert [reason.code for reason in found.reasons] == ["too-many-variables"]
        assert found.remedies
        question = found.remedies[0].question
        assert question is not None
        assert island.ask(question).values.size > 0


def test_a_quota_that_is_used_up_is_an_error_of_its_own(tmp_path: Path) -> None:
    roles = (RoleRules(role=UserRole.PUBLIC, tables_per_day=2),)
    with opened(tmp_path, service(roles=roles)) as made:
        island = sc.connect(made.server.url, patience=0)
        island.table("sex")
        island.table("area")
        with pytest.raises(QuotaUsedUp) as caught:
            island.table("area", "sex")
        assert caught.value.retry_after
        assert isinstance(caught.value, ServiceError)
