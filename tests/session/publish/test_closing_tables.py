"""Plans with a method for each table: what one table closes is closed in all."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import Refused, SpecError
from sdcensus.formats.read.tables import read_published
from sdcensus.kernels.inference.derivation import derivable
from sdcensus.model.linked.comparable import ComparedProducts
from sdcensus.model.linked.products import Closing, ProductTable
from sdcensus.model.published.table import Table
from sdcensus.session.census.census import open_store
from sdcensus.session.guard.guard import open_registry
from sdcensus.session.publish.estimate import check_plan
from sdcensus.testing.island import island_units
from tests.session.publish.closing import COUNTS, LEGAL, PROTECT, close_small, signs
from tests.session.publish.plans import (
    Office,
    Stop,
    contents,
    copy_of,
    new_office,
    stopped_after,
)
from tests.session.publish.publications import corrected

__all__ = ["close_small"]
pytestmark = pytest.mark.usefixtures("close_small")
SAME = '[protect.legal]\nmethod = "close-small"\n'


def office_of(
    folder: Path, tables: str = LEGAL + COUNTS, protect: str = PROTECT, people: int = 120
) -> Office:
    return new_office(folder, people=people, tables=tables, protect=protect)


def table(name: str, rows: str, more: str = "") -> str:
    return f'\n[[table]]\nname = "{name}"\nrows = [{rows}]\n{more}'


def second_plan(office: Office, tables: str, protect: str, name: str = "second") -> Path:
    """Another plan of the same office, with a published folder of its own."""
    path = office.write_plan(tables, protect=protect, name=f"{name}.toml")
    text = path.read_text(encoding="utf-8").replace(
        'folder = "published"', f'folder = "{name}"\noffice_folder = "published.office"'
    )
    path.write_text(text, encoding="utf-8", newline="")
    return path


CELL_KEY = '\n[protect]\nmethod = "cell-key"\nstrength = "strong"\n'
CLOSE = '\n[protect]\nmethod = "close-small"\n'


def test_small_cells_are_closed_and_the_others_are_true(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    report = office.publish()
    shown = signs(office.published / "legal.csv")
    census = open_store(office.store)
    counted = census.tabulate(census.spec("area@parish+district", "age@class")).held_for("a test")
    truth = dict(zip(shown, counted.count.reshape(-1).tolist(), strict=True))
    assert {truth[cell] for cell, sign in shown.items() if sign != "c"}.isdisjoint({1, 2})
    assert all(int(sign) == truth[cell] for cell, sign in shown.items() if sign != "c")
    assert "c" not in signs(office.published / "counts.csv").values()
    assert "closed cells" in " ".join(report.remarks).lower()
    assert (office.own / "remarks.txt").read_text(encoding="utf-8") == (
        "\n".join(report.remarks) + "\n"
    )
    assert not any(
        "losed cells:" in data.decode(errors="replace") for data in office.files().values()
    )
    about = json.loads((office.published / "manifest.json").read_text(encoding="utf-8"))
    methods = {one["name"]: one["provenance"][0]["method"] for one in about["tables"]}
    assert methods == {"legal": "close-small", "counts": "cell-key"}


def test_the_office_is_told_of_exact_numbers_beside_noise(tmp_path: Path) -> None:
    report = office_of(tmp_path / "office").publish()
    assert any("The difference is the noise" in warning for warning in report.warnings)


def test_publishing_again_changes_nothing(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    office.publish()
    before = office.files()
    assert office.publish().unchanged
    report = office.publish(restart=True)
    assert (report.unchanged, report.changed) == (False, 0)
    assert office.files() == before


def products_of(office: Office, *names: str) -> list[ProductTable]:
    """Published files as products that close cells."""
    return [
        ProductTable.of(
            name,
            read_published(office.published / f"{name}.csv").table,
            closing=Closing.SUMS,
            together="one",
        )
        for name in names
    ]


def can_be_computed(products: list[ProductTable]) -> int:
    """How many closed cells follow from everything that products show."""
    compared = ComparedProducts.of(products)
    known = compared.known(range(len(products)))
    targets = np.zeros(known.size, dtype=bool)
    for numbers, _ in compared.closed:
        targets[numbers] = True
    return int(derivable(compared.sums, known, targets).sum())


MORE = table("more", '"age@class", "area@district"', 'columns = ["sex"]\nprotect = "legal"\n')


def test_tables_with_the_same_method_and_settings_are_protected_together(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL + MORE + COUNTS, people=200)
    office.publish()
    assert can_be_computed(products_of(office, "legal", "more")) == 0
    # Each by itself leaves cells that can be computed from both.
    tables = {"a": LEGAL, "b": MORE}
    apart = [office_of(tmp_path / name, text, people=200) for name, text in tables.items()]
    for each in apart:
        each.publish()
    alone = [*products_of(apart[0], "legal"), *products_of(apart[1], "more")]
    assert can_be_computed(alone) > 0


def test_other_settings_keep_to_what_the_first_have_closed(tmp_path: Path) -> None:
    apart = PROTECT + '\n[protect.more]\nmethod = "close-small"\nminimum = 4\n'
    more = MORE.replace('"legal"', '"more"')
    office = office_of(tmp_path / "office", LEGAL + more + COUNTS, apart)
    office.publish()
    assert can_be_computed(products_of(office, "legal", "more")) == 0


def test_an_inline_method_is_the_same_as_a_named_one(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    office.publish()
    inline = LEGAL.replace('"legal"\n', '{ method = "close-small", minimum = 3 }\n').replace(
        'name = { method = "close-small", minimum = 3 }', 'name = "legal"'
    )
    other = office_of(tmp_path / "other", inline + COUNTS, CELL_KEY)
    other.publish()
    assert other.files()["legal.csv"] == office.files()["legal.csv"]


def test_levels_that_do_not_nest_are_protected_too(tmp_path: Path) -> None:
    tables = table("ages", '"age@class+half", "area@district"', 'protect = "legal"\n') + COUNTS
    office = office_of(tmp_path / "office", tables)
    office.publish()
    shown = signs(office.published / "ages.csv")
    assert "c" in shown.values()


@pytest.mark.parametrize("finished", [0, 1, 2])
def test_a_run_that_is_stopped_ends_with_the_same_bytes(tmp_path: Path, finished: int) -> None:
    more = table("more", '"age@class", "sex"', 'protect = "legal"\n')
    office = office_of(tmp_path / "office", LEGAL + more + COUNTS)
    office.publish()
    other = copy_of(office, tmp_path / "other")
    with pytest.raises(Stop):
        other.publish(progress=stopped_after(finished))
    assert not other.published.exists()
    other.publish()
    assert contents(other.published) == contents(office.published)
    assert other.beside() == office.beside()


def test_what_only_the_clock_ended_is_told_and_redone_together(tmp_path: Path) -> None:
    more = table("more", '"age@class", "sex"', 'protect = "legal"\n')
    office = office_of(tmp_path / "office", LEGAL + more, PROTECT + "stopped = true\n")
    with pytest.raises(Stop):
        office.publish(progress=stopped_after(0))
    report = office.publish()
    assert report.made == 2  # one of them had been finished by the run that was stopped
    assert "a second run may end elsewhere" in " ".join(report.remarks)


# ----------------------------------------------------------------------------- the refusal

#: What gives cells of the legal table away, each in another way.
GIVES_AWAY = {
    "the cells themselves": table("other", '"age@class", "area@parish"'),
    "with another variable": table("other", '"area@parish-total", "age@class-total", "married"'),
    "finer codes": table("other", '"area", "age"'),
    "a condition": table("other", '"area@parish"', 'universe = "age >= 7"\n'),
    "sums of published values": table("other", '"area@parish"', 'where = "age >= 7"\n'),
    "a share": table("other", '"area@parish"', 'measure = "share(age >= 7)"\n'),
    "weighted": table("other", '"area@parish", "age@class"', 'measure = "weighted"\n'),
    "what cannot occur": table(
        "other", '"area@parish", "age@class"', 'universe = "married != 1"\n'
    ),
    "two tables": table("young", '"area@parish", "age@class"', 'universe = "sex == 0"\n')
    + table("old", '"area@parish", "age@class"', 'universe = "sex == 1"\n'),
}


@pytest.mark.parametrize("how", GIVES_AWAY)
def test_a_plan_that_gives_a_closed_cell_away_is_refused(tmp_path: Path, how: str) -> None:
    office = office_of(tmp_path / "office", LEGAL + GIVES_AWAY[how])
    with pytest.raises(
        Refused, match="Cells that one product closes would be given away"
    ) as caught:
        office.publish(accept_risk="Ana Ruiz", reason="a test")
    said = str(caught.value)
    assert "legal closes" in said
    assert "area = " in said
    assert not office.published.exists()
    assert not (office.office / "publication.lock").exists()


@pytest.mark.parametrize("how", GIVES_AWAY)
def test_a_later_plan_that_gives_it_away_is_refused(tmp_path: Path, how: str) -> None:
    office = office_of(tmp_path / "office")
    office.publish()
    second = second_plan(office, GIVES_AWAY[how], CELL_KEY)
    with pytest.raises(Refused, match="Cells that one product closes would be given away"):
        office.publish(second, accept_risk="Ana Ruiz", reason="a test")
    with pytest.raises(Refused, match="given away"):
        office.publish(second, revision="no way round", accept_risk="Ana Ruiz", reason="a test")


@pytest.mark.parametrize(
    "harmless",
    [
        table("other", '"married", "age@class"'),
        table("other", '"sex", "married"', 'universe = "age >= 7"\n'),
        table("other", '"age"', 'columns = ["sex"]\n'),
    ],
)
def test_what_gives_nothing_away_is_published(tmp_path: Path, harmless: str) -> None:
    office_of(tmp_path / "office", LEGAL + harmless).publish(accept_risk="Ana", reason="a test")
    # By another plan as well, with the common totals as they are out.
    office = office_of(tmp_path / "other", LEGAL)
    office.publish()
    second = second_plan(office, harmless, f"{CELL_KEY}import_published = true\n")
    office.publish(second, accept_risk="Ana", reason="a test")


def test_to_close_what_is_out_is_pointless_and_said(tmp_path: Path) -> None:
    shown = table("shown", '"area@parish", "age@class"')
    office = office_of(tmp_path / "office", shown, CELL_KEY)
    office.publish(accept_risk="Ana Ruiz", reason="a test")
    office.write_plan(shown + LEGAL, protect=PROTECT)
    with pytest.raises(Refused, match=r"closed that are out already\. It hides nothing") as caught:
        office.publish()
    assert "--accept-risk NAME" in str(caught.value)
    report = office.publish(accept_risk="Ana Ruiz", reason="the law asks for it", restart=True)
    assert any("Closing them hides nothing" in warning for warning in report.warnings)
    kept = json.loads((office.own / "published.json").read_text(encoding="utf-8"))
    assert kept["accepted_risk"]["risks"][-1] == "closed-late"


def test_a_later_plan_cannot_close_what_is_out_either(tmp_path: Path) -> None:
    shown = table("shown", '"area@parish", "age@class"')
    office = office_of(tmp_path / "office", shown, CELL_KEY)
    office.publish(accept_risk="Ana Ruiz", reason="a test")
    legal = second_plan(office, LEGAL.replace('protect = "legal"\n', ""), CLOSE)
    with pytest.raises(Refused, match="It hides nothing: readers have the numbers"):
        office.publish(legal)


def test_closed_cells_of_another_lineage_are_closed_too(tmp_path: Path) -> None:
    """Other records of the same census: what is closed is known by its codes."""
    office = office_of(tmp_path / "office")
    office.publish()
    office.replace_store(island_units(120, seed=8))
    other = second_plan(office, GIVES_AWAY["finer codes"], CELL_KEY)
    with pytest.raises(Refused, match="given away"):
        office.publish(other, accept_risk="Ana Ruiz", reason="a test")


def test_corrected_records_keep_open_cells_open_and_closed_ones_closed(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL)
    office.publish()
    before = signs(office.published / "legal.csv")
    units = island_units(120)
    ages = units.leaves["age"].copy()
    ages[units.leaves["area"] == 0] = 8  # many of one parish: behind every number
    shutil.copytree(office.store, tmp_path / "old.store")
    office.replace_store(corrected(units, age=ages))
    with pytest.raises(Refused, match="Published numbers are permanent"):
        office.publish()
    report = office.publish(
        revision="corrected", revision_minimum=2, old_store=tmp_path / "old.store"
    )
    after = signs(office.published / "legal.csv")
    assert report.changed
    assert {cell for cell, sign in after.items() if sign == "c"} >= {
        cell for cell, sign in before.items() if sign == "c"
    }


def test_a_table_that_closed_cells_cannot_be_published_with_noise_instead(tmp_path: Path) -> None:
    """Not even by name: what it had closed is out as closed."""
    office = office_of(tmp_path / "office", LEGAL)
    office.publish()
    office.write_plan(LEGAL.replace('protect = "legal"\n', ""), protect=CELL_KEY)
    for asked in ({}, {"revision": "noise"}, {"revision": "noise", "rekey": True}):
        with pytest.raises(Refused, match="given away"):
            office.publish(accept_risk="Ana Ruiz", reason="a test", **asked)


def test_cells_that_a_revision_opens_or_closes_are_told(tmp_path: Path) -> None:
    """A small cell has to be closed although it was shown: both releases are out."""
    office = office_of(tmp_path / "office", LEGAL)
    office.publish()
    shutil.copytree(office.store, tmp_path / "old.store")
    office.write_plan(LEGAL, protect=PROTECT.replace("minimum = 3", "minimum = 9"))
    with pytest.raises(Refused, match="permanent"):
        office.publish()
    report = office.publish(revision="stricter", rekey=True)
    assert any("cells that were shown are closed now" in note for note in report.warnings)


def test_the_registry_keeps_what_is_closed_and_no_number_of_it(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    office.publish()
    registry = open_registry(office.office)
    entries = {entry.name: entry for entry in registry.entries()}
    assert (entries["legal"].closes, entries["counts"].closes) == ("sums", "")
    kept = registry.table(entries["legal"])
    assert isinstance(kept, Table)
    assert kept.flags is not None
    assert not kept.published[kept.flags != 0].any()
    published = read_published(office.published / "legal.csv").table
    assert isinstance(published, Table)
    assert published.flags is not None
    assert np.array_equal(kept.flags, published.flags)


# ------------------------------------------------------------------------ what cannot be asked


def test_a_table_cannot_have_two_methods(tmp_path: Path) -> None:
    twice = LEGAL + table("twice", '"age@class", "area@parish+district"')
    office = office_of(tmp_path / "office", twice)
    with pytest.raises(SpecError, match="'legal' and 'twice' stand on the same table"):
        office.publish()


def test_the_smallest_group_is_for_methods_with_a_number_for_every_group(tmp_path: Path) -> None:
    grouped = PROTECT.replace("minimum = 3", "smallest_group = 23")
    with pytest.raises(SpecError, match="smallest_group reads the published number of every group"):
        office_of(tmp_path / "own", LEGAL + COUNTS, grouped).publish()
    beside = PROTECT.replace('"strong"\n', '"strong"\nsmallest_group = 23\n')
    office = office_of(tmp_path / "beside", LEGAL + COUNTS, beside)
    office.publish()
    assert "k" not in signs(office.published / "legal.csv").values()


def test_exempt_totals_are_refused_where_a_method_cannot(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL)
    policy = "name = 'p'\n\n[exempt]\nrecord_sets = ['persons by area@district']\n"
    (office.folder / "policy.toml").write_text(policy, encoding="utf-8", newline="\n")
    office.write_plan(LEGAL, protect=PROTECT, more='\n[policy]\nfile = "policy.toml"\n')
    with pytest.raises(SpecError, match="which the method 'close-small' cannot"):
        office.publish()


def test_a_plan_is_checked_without_a_secret_and_names_all_methods(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    checked = check_plan(office.plan)
    assert checked.method == "close-small, cell-key"
    assert checked.enough


def test_tables_that_do_not_fit_into_memory_together_are_refused(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office")
    with pytest.raises(SpecError, match="memory"):
        office.publish(memory="10kB")


def obey(office: Office, rules: str) -> None:
    (office.folder / "policy.toml").write_text(
        f"name = 'p'\n{rules}", encoding="utf-8", newline="\n"
    )
    office.write_plan(LEGAL, protect=PROTECT, more='\n[policy]\nfile = "policy.toml"\n')


def test_a_policy_with_a_smallest_group_is_not_obeyed_by_closing_cells(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL)
    obey(office, "[online]\nsmallest_group = 23\n")
    with pytest.raises(SpecError, match="by a plan of their own where the policy has it"):
        office.publish()


def test_a_policy_with_rules_on_published_numbers_is_refused(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL)
    obey(office, "[online]\nones = 0.5\n")
    with pytest.raises(Refused, match="rules on published numbers, and 'close-small' decides"):
        office.publish()


def test_tables_too_large_to_be_held_are_refused_before_any_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdcensus.session.publish.refusals.LARGEST_DENSE_GRID", 30)
    office = office_of(tmp_path / "office", LEGAL)
    with pytest.raises(SpecError, match="too large to be held whole, which 'close-small' needs"):
        office.publish()
    monkeypatch.setattr("sdcensus.model.linked.tables.MOST_CELLS", 30)
    with pytest.raises(SpecError, match="at most 30 can be protected together"):
        office.publish()


# -------------------------------------------------------------------------- suppression itself

SUPPRESSION = PROTECT.replace("close-small", "suppression")


def test_suppression_is_used_as_any_method_that_closes(tmp_path: Path) -> None:
    office = office_of(tmp_path / "office", LEGAL + MORE + COUNTS, SUPPRESSION, people=200)
    report = office.publish()
    assert can_be_computed(products_of(office, "legal", "more")) == 0
    assert any("primary" in remark for remark in report.remarks)
    assert office.publish(restart=True).changed == 0
    second = second_plan(office, GIVES_AWAY["finer codes"], CELL_KEY)
    with pytest.raises(Refused, match="given away"):
        office.publish(second, accept_risk="Ana Ruiz", reason="a test")


def test_what_another_table_of_the_plan_shows_is_refused_by_the_guard(tmp_path: Path) -> None:
    """The method closes it, since it may not be shown; that another table shows it is told."""
    shown = GIVES_AWAY["the cells themselves"]
    office = office_of(tmp_path / "office", LEGAL + shown, SUPPRESSION)
    with pytest.raises(Refused, match=r"other shows .* cells that legal closes"):
        office.publish(accept_risk="Ana Ruiz", reason="a test")


def test_a_series_keeps_to_the_release_of_another_year(tmp_path: Path) -> None:
    first = office_of(tmp_path / "first", LEGAL, SUPPRESSION)
    first.publish()
    second = new_office(
        tmp_path / "second",
        people=120,
        seed=8,
        tables=LEGAL,
        protect=f'{SUPPRESSION}earlier_release = "../first/published"\ncontradictions = "close"\n',
    )
    second.publish()
    before, after = (signs(each.published / "legal.csv") for each in (first, second))
    assert {cell for cell, sign in before.items() if sign == "c"} <= {
        cell for cell, sign in after.items() if sign == "c"
    }
