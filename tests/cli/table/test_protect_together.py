"""``sdcensus protect`` with a method that looks at all cells at once."""

from __future__ import annotations

import csv
import stat
from pathlib import Path

import pytest

from sdcensus.cli.shared.console import Output, Stages
from sdcensus.store.secrets import write_secret
from sdcensus.testing.close_small import CloseSmall, install_close_small
from sdcensus.testing.island import SECRET, island_store
from tests.cli.conftest import Run

Store = tuple[Path, Path]


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """The store of a small island, and the file of its secret."""
    folder = tmp_path_factory.mktemp("island")
    island_store(folder / "island.store", 120)
    write_secret(SECRET, folder / "office.secret")
    return folder / "island.store", folder / "office.secret"


@pytest.fixture(autouse=True)
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The method of the tests, under its name."""
    monkeypatch.syspath_prepend(install_close_small(tmp_path / "packages"))


def rows(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


LEGAL = ("--by", "area@parish+district,age@class", "--method", "close-small")


def test_levels_that_do_not_nest_are_protected(run: Run, island: Store) -> None:
    answer = run("protect", island[0], "--by", "age@class+half,sex", "--method", "close-small")
    assert answer.code == 0, answer.err
    assert "protected by close-small" in answer.out


def test_what_a_search_found_is_told_to_the_office_only(
    run: Run, island: Store, tmp_path: Path
) -> None:
    out, audit = tmp_path / "legal.csv", tmp_path / "audit.csv"
    answer = run("protect", island[0], *LEGAL, "--out", out, "--audit", audit, "--confidential")
    assert answer.code == 0, answer.err
    said = "for the office: Closed cells: "
    assert said in answer.err
    assert "losed cells" not in answer.out
    remarks = tmp_path / "audit.remarks.txt"
    assert remarks.read_text(encoding="utf-8").startswith("Closed cells: ")
    assert stat.S_IMODE(remarks.stat().st_mode) & 0o077 == 0
    assert f"Wrote {remarks}, for the office only." in answer.out
    for path in (out, out.with_suffix(".about.json")):
        assert "losed cells" not in path.read_text(encoding="utf-8")
    counts = [int(row["count"]) for row in rows(audit)]
    for count, row in zip(counts, rows(out), strict=True):
        assert row["flag"] == "c" or int(row["published"]) == count
    assert not run("protect", island[0], *LEGAL, "-q").err


def test_a_result_that_is_not_repeatable_is_a_caution(run: Run, island: Store) -> None:
    answer = run("protect", island[0], *LEGAL, "--set", "stopped=yes")
    assert answer.code == 0
    assert "caution: Closed cells:" in answer.err
    assert "a second run may end elsewhere" in answer.err


def test_an_interruption_that_a_search_takes_keeps_the_best(
    run: Run, island: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The search takes Ctrl+C itself: the command goes on, writes, and says so."""
    plain = CloseSmall.publish_linked

    def interrupted(self: CloseSmall, linked: object, progress: object) -> object:
        try:
            raise KeyboardInterrupt
        except KeyboardInterrupt:
            return plain(CloseSmall(stopped=True), linked, progress)  # type: ignore[arg-type]

    monkeypatch.setattr(CloseSmall, "publish_linked", interrupted)
    out = tmp_path / "legal.csv"
    answer = run("protect", island[0], *LEGAL, "--out", out)
    assert answer.code == 0
    assert out.exists()
    assert "the best that was found before it was stopped" in answer.err


def test_an_interruption_that_nobody_takes_writes_nothing(
    run: Run, island: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(self: CloseSmall, linked: object, progress: object) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(CloseSmall, "publish_linked", interrupted)
    out = tmp_path / "legal.csv"
    answer = run("protect", island[0], *LEGAL, "--out", out)
    assert answer.code == 130
    assert "nothing was written" in answer.err
    assert not out.exists()


def test_the_smallest_group_is_refused(run: Run, island: Store) -> None:
    answer = run("protect", island[0], *LEGAL, "--smallest-group", "23")
    assert answer.code != 0
    assert "smallest_group reads the published number of every group" in answer.err


def test_groups_need_codes_that_the_table_shows(run: Run, island: Store, tmp_path: Path) -> None:
    groups = tmp_path / "groups.csv"
    lines = "variable,group,code\nage,young,0\nage,young,1\n"
    groups.write_text(lines, encoding="utf-8", newline="\n")
    answer = run("protect", island[0], *LEGAL, "--groups", groups)
    assert answer.code == 4
    assert "a second table beside the first could give away what that hides" in answer.err
    shown = "variable,group,code\narea,both,P0\narea,both,P1\n"
    groups.write_text(shown, encoding="utf-8", newline="\n")
    answer = run("protect", island[0], *LEGAL, "--groups", groups)
    assert answer.code == 0, answer.err


def test_a_closed_cell_stays_closed_in_the_registry(
    run: Run, island: Store, tmp_path: Path
) -> None:
    store, secret = island
    registry = tmp_path / "registry"
    out = tmp_path / "legal.csv"
    assert run("protect", store, *LEGAL, "--out", out, "--registry", registry).code == 0
    for number, by in enumerate(("area@parish,age@class", "age,area", "area@parish,age,sex")):
        noisy = ("--by", by, "--method", "cell-key", "--secret", secret)
        new = tmp_path / f"noisy{number}.csv"
        answer = run("protect", store, *noisy, "--out", new, "--registry", registry)
        assert answer.code == 4, answer.out
        assert "Cells that one product closes would be given away by others." in answer.err
        assert "legal.csv closes" in answer.err
        assert not new.exists()
    # The same again, and in another spelling, is no other product.
    turned = ("--by", "age@class,area@parish+district", "--method", "close-small")
    answer = run("protect", store, *turned, "--out", tmp_path / "t.csv", "--registry", registry)
    assert answer.code == 0, answer.err


def test_what_is_out_cannot_be_closed_any_more(run: Run, island: Store, tmp_path: Path) -> None:
    store, secret = island
    registry = tmp_path / "registry"
    noisy = ("--by", "area@parish-total,age@class-total", "--method", "cell-key")
    files = ("--out", tmp_path / "noisy.csv", "--registry", registry, "--secret", secret)
    assert run("protect", store, *noisy, *files).code == 0
    answer = run(
        *("protect", store, "--by", "area@parish-total,age@class-total,sex", "--method"),
        *("close-small", "--out", tmp_path / "legal.csv", "--registry", registry),
    )
    assert answer.code == 4
    assert "It hides nothing: readers have the numbers." in answer.err
    assert not (tmp_path / "legal.csv").exists()


def test_an_earlier_release_is_kept_to(run: Run, island: Store, tmp_path: Path) -> None:
    store, _ = island
    first = tmp_path / "first.csv"
    registry = tmp_path / "registry"
    assert run("protect", store, *LEGAL, "--out", first, "--registry", registry).code == 0
    closed = {(row["area"], row["age"]) for row in rows(first) if row["flag"] == "c"}
    for number, earlier in enumerate((first, registry, first.parent)):
        again = tmp_path / f"again{number}.csv"
        answer = run(
            *("protect", store, "--by", "age@class,area@parish+district,sex"),
            *("--method", "close-small", "--set", f"earlier={earlier}", "--out", again),
        )
        assert answer.code == 0, answer.err
        totals = {
            (row["area"], row["age"]): row["flag"] for row in rows(again) if row["sex"] == "_T"
        }
        assert closed <= {cell for cell, flag in totals.items() if flag == "c"}
    answer = run("protect", store, *LEGAL, "--set", f"earlier={tmp_path / 'nowhere'}")
    assert "there is no such earlier release" in answer.err


def test_a_search_tells_more_from_time_to_time(capsys: pytest.CaptureFixture[str]) -> None:
    output = Output()
    with Stages(output, "counting", patience=60, pause=0) as stages:
        stages._begin()
        stages("closing cells: best 12, bound 10, gap 16.7%", 0.5)
        stages("closing cells: best 11, bound 10, gap 9.1%", 0.9)
    with Stages(output, "counting", patience=60, pause=60) as stages:
        stages._begin()
        stages("closing cells: best 12, bound 10, gap 16.7%", 0.5)
        stages("closing cells: best 11, bound 10, gap 9.1%", 0.9)
    lines = capsys.readouterr().err.splitlines()
    assert lines == [
        "counting ...",
        "closing cells: best 12, bound 10, gap 16.7% ...",
        "closing cells: best 11, bound 10, gap 9.1% ...",
        "counting ...",
        "closing cells: best 12, bound 10, gap 16.7% ...",
    ]
