"""Blanked records go out and come back: every check of what another system returns."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sdcensus.cli.derive.impute_export import run_export
from sdcensus.errors import InputError, OutputError, SecretError, SpecError
from sdcensus.model.secret import Secret
from sdcensus.session.derive import derive, export_blanks
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import is_owner_only
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet
from tests.microdata.settlement import P, by_identity

RECORD, FLAG = "confidential_record", "confidential_blanked"
ASKED = {"blank": "married,sex", "rate": 0.2, "context": "age@ten_year,age,ed,tenure"}
Row = dict[str, Any]


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


@pytest.fixture
def sent(hamlet: Hamlet, tmp_path: Path) -> list[Row]:
    export_blanks(hamlet.store, tmp_path / "out.csv", ASKED, secret=SECRET)
    with (tmp_path / "out.csv").open(encoding="utf-8") as file:
        return list(csv.DictReader(file))


def filled(rows: list[Row], **values: str) -> list[Row]:
    new = {"married": "0", "sex": "1", **values}
    return [{**row, **(new if row[FLAG] == "1" else {})} for row in rows]


def returned(hamlet: Hamlet, folder: Path, rows: list[Row], name: str = "back.csv") -> Any:
    path = folder / name
    if name.endswith(".parquet"):
        pq.write_table(pa.Table.from_pylist(rows), path)
    else:
        with path.open("w", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, list(rows[0]))
            writer.writeheader()
            writer.writerows(rows)
    said = {"file": path, "note": folder / "out.csv.office.json"}
    return derive(hamlet.store, folder / "b", "returned-imputation", said, secret=SECRET)


def test_records_go_out_under_pseudonyms_with_blanked_values(
    hamlet: Hamlet, sent: list[Row], tmp_path: Path
) -> None:
    store = CensusStore.open(hamlet.store)
    assert len(sent) == store.rows(P)
    blanked = [row for row in sent if row[FLAG] == "1"]
    assert len(blanked) == round(0.2 * len(sent))
    assert all(row["married"] == row["sex"] == "" for row in blanked)
    assert all(row["married"] and row["sex"] for row in sent if row[FLAG] == "0")
    assert all(row["age"] and row["ed"] and row["tenure"] for row in sent)
    names = {int(row[RECORD], 16) for row in sent}
    assert len(names) == len(sent)
    assert not names & set(store.digests(P).tolist())
    assert all(is_owner_only(tmp_path / name) for name in ("out.csv", "out.csv.office.json"))
    note = json.loads((tmp_path / "out.csv.office.json").read_text(encoding="utf-8"))
    assert note["confidential"] is True
    # Another export has other pseudonyms; the same one has the same, and is refused in its place.
    other = export_blanks(hamlet.store, tmp_path / "o.csv", {**ASKED, "rate": 0.1}, secret=SECRET)
    with other.file.open(encoding="utf-8") as file:
        assert not names & {int(row[RECORD], 16) for row in csv.DictReader(file)}
    with pytest.raises(OutputError, match="--replace"):
        export_blanks(hamlet.store, tmp_path / "out.csv", ASKED, secret=SECRET)


@pytest.mark.parametrize("name", ["back.csv", "back.parquet"])
def test_what_comes_back_is_taken_over_and_nothing_else(
    hamlet: Hamlet, sent: list[Row], tmp_path: Path, name: str
) -> None:
    rows = list(reversed(filled(sent)))
    report = returned(hamlet, tmp_path, [{"note": "x", **row} for row in rows], name)
    before, after = (by_identity(CensusStore.open(p)) for p in (hamlet.store, tmp_path / "b"))
    blanked = sum(row[FLAG] == "1" for row in sent)
    same = sum(before[one] == record for one, record in after.items())
    assert set(before) == set(after)
    assert len(after) - same <= blanked == report.figures["imputed anew"]
    imputed = [
        one
        for one, record in after.items()
        if {**record, "married": 0, "sex": 0} != {**before[one], "married": 0, "sex": 0}
    ]
    assert not imputed
    changed = [record for one, record in after.items() if record != before[one]]
    assert changed
    assert all((record["married"], record["sex"]) == (0, 0) for record in changed)


def _one(rows: list[Row], flag: str, **values: str) -> list[Row]:
    """The rows with other values in the first that is blanked, or is not."""
    at = next(at for at, row in enumerate(rows) if row[FLAG] == flag)
    return [{**row, **values} if number == at else row for number, row in enumerate(rows)]


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda rows: rows[1:], "1 exported records are missing"),
        (lambda rows: [*rows, rows[0]], "line 682, column confidential_record: the record was"),
        (lambda rows: [*rows, {**rows[0], RECORD: "0" * 16}], "line 682.*no such record"),
        (lambda rows: [*rows[1:], {**rows[0], RECORD: "0" * 16}], "no such record was exported"),
        (lambda rows: _one(rows, "1", sex="7"), r"column sex: '7' is no code"),
        (lambda rows: _one(rows, "1", sex=""), "column sex: the blanked value is still empty"),
        (lambda rows: _one(rows, "0", sex="7"), "column sex: '7' is not what was exported"),
        (lambda rows: _one(rows, "0", sex=""), "column sex: '' is not what was exported"),
        (lambda rows: _one(rows, "1", ed="E9"), "column ed: 'E9' is not what was exported"),
        (lambda rows: _one(rows, "1", **{FLAG: "0"}), f"column {FLAG}"),
        (lambda rows: filled(rows, married="1"), "impossible by the schema: age < 15 and married"),
        (lambda rows: [{k: v for k, v in row.items() if k != "ed"} for row in rows], "'ed' is mis"),
    ],
)
def test_what_was_changed_is_refused_and_nothing_is_written(
    hamlet: Hamlet, sent: list[Row], tmp_path: Path, change: Any, words: str
) -> None:
    with pytest.raises(InputError, match=words) as told:
        returned(hamlet, tmp_path, change(filled(sent)))
    assert "back.csv" in str(told.value)
    assert not (tmp_path / "b").exists()


def test_files_that_are_none_and_notes_that_were_changed(
    hamlet: Hamlet, sent: list[Row], tmp_path: Path
) -> None:
    note = tmp_path / "out.csv.office.json"
    whole = note.read_text(encoding="utf-8")
    for text in (whole.replace('"rate": 0.2', '"rate": 0.3'), "{}", "no json"):
        note.write_text(text, encoding="utf-8")
        with pytest.raises(InputError, match=r"out\.csv\.office\.json"):
            returned(hamlet, tmp_path, filled(sent))
    note.write_text(whole, encoding="utf-8")
    other = tmp_path / "other.store"
    derive(hamlet.store, other, "drop-records", {"where": "age > 95"}, secret=SECRET)
    said = {"file": tmp_path / "out.csv"}
    with pytest.raises(InputError, match="from another store"):
        derive(other, tmp_path / "b", "returned-imputation", said, secret=SECRET)
    for name, content in (("junk.csv", b"\xff\xfe\x00,\n1,2,3\n"), ("junk.parquet", b"x")):
        (tmp_path / name).write_bytes(content)
        said = {"file": tmp_path / name, "note": note}
        with pytest.raises(InputError, match="cannot be read"):
            derive(hamlet.store, tmp_path / "b", "returned-imputation", said, secret=SECRET)
    with pytest.raises(InputError, match=r"^n: there is no file"):
        derive(hamlet.store, tmp_path / "b", "returned-imputation", {"file": "n"}, secret=SECRET)


def test_the_step_is_named_by_the_content_of_the_file(
    hamlet: Hamlet, sent: list[Row], tmp_path: Path
) -> None:
    """A killed run must not go on with another file of the same name."""
    first = returned(hamlet, tmp_path, filled(sent)).lineage
    (tmp_path / "b").rename(tmp_path / "c")
    assert returned(hamlet, tmp_path, filled(sent), "elsewhere.csv").lineage == first
    (tmp_path / "b").rename(tmp_path / "d")
    assert returned(hamlet, tmp_path, filled(sent, sex="2")).lineage != first


def test_what_is_wrong_with_an_export_is_said(hamlet: Hamlet, tmp_path: Path) -> None:
    for said, words in (
        ({"blank": "sex"}, "needs --rate"),
        ({**ASKED, "match": "age"}, "takes no --match"),
        ({**ASKED, "context": "sex"}, "leave it out"),
        ({**ASKED, "rate": 0}, "blanks no record"),
        ({**ASKED, "blank": "income"}, "continuous"),
    ):
        with pytest.raises(SpecError, match=words):
            export_blanks(hamlet.store, tmp_path / "x.csv", said, secret=SECRET)
    with pytest.raises(OutputError, match=r"\.csv or \.parquet"):
        export_blanks(hamlet.store, tmp_path / "x.txt", ASKED, secret=SECRET)
    with pytest.raises(SecretError):
        export_blanks(hamlet.store, tmp_path / "x.csv", ASKED, secret=Secret(bytes(32)))
    assert not list(tmp_path.iterdir())


def test_the_command_says_how_to_read_it_back(
    hamlet: Hamlet, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    run_export(hamlet.store, tmp_path / "x.parquet", dict(ASKED), secret=hamlet.secret)
    assert "--import" in capsys.readouterr().out
    assert (tmp_path / "x.parquet").exists()
