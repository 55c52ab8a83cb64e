"""What a check says about files that can be read, and about files that cannot."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest

from sdcensus.errors import Refused
from sdcensus.formats.perturbation import (
    CheckReport,
    ExchangeFormat,
    Severity,
    check_perturbation,
    write_perturbation,
)
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Tail
from sdcensus.model.secret import Secret
from tests.formats.perturbation.tables import (
    CP1,
    DIAGRAM_1A,
    FILES,
    WITHOUT_SMALL,
    design,
    rounding,
)


def texts(report: CheckReport, severity: Severity | None = None) -> str:
    return "\n".join(
        finding.text
        for finding in report.findings
        if severity is None or finding.severity is severity
    )


def checked(
    folder: Path, perturbation: PerturbationDesign, kind: str, **options: object
) -> CheckReport:
    path = write_perturbation(perturbation, folder / f"{kind}.csv", kind, **options)  # type: ignore[arg-type]
    return check_perturbation(path)


def test_a_good_file_has_notes_only() -> None:
    report = check_perturbation(FILES / "diagram_1a.txt")
    assert report.ok
    assert report.warnings == ()
    assert report.format is ExchangeFormat.ARGUS
    notes = texts(report)
    assert "Format argus: rows up to the count 3, 100000000 keys, deviations up to 3." in notes
    assert "Counts from 3 on use row 3." in notes
    assert "Bounds have up to 8 decimals." in notes
    assert "Row 1 adds -0.00000001 on average, which comes from rounded figures." in notes
    assert "The probability that a count stays is between 0.3797 and 0.4000" in notes
    assert "that a count of 1 becomes 0, 0.3797" in notes
    # E20: the variance of row 1 is 1.107, since it cannot reach 1.5.
    assert "The variance of the deviation is between 1.1073 and 1.5000" in notes
    assert "Rows with another variance than the last one (1.5000): 1 (1.1073)." in notes


def test_facts_about_every_row_are_there() -> None:
    report = check_perturbation(FILES / "diagram_1a.txt")
    assert [row.row for row in report.rows] == [0, 1, 2, 3]
    assert [round(row.variance, 3) for row in report.rows] == [0, 1.107, 1.5, 1.5]
    assert [row.becomes_zero for row in report.rows] == [1, 0.37967089, 0.12310637, 0.02367714]
    assert [row.largest for row in report.rows] == [0, 3, 3, 3]
    assert report.rows[3].stay == 0.4


def test_few_keys_are_a_warning(tmp_path: Path) -> None:
    for kind in ("abs", "ons", "cantabular"):
        report = checked(tmp_path, CP1, kind)
        assert "There are only 256 keys" in texts(report, Severity.WARNING)
    assert checked(tmp_path, CP1, "argus").warnings == ()


def test_which_rows_serve_large_counts_is_told(tmp_path: Path) -> None:
    assert "Counts from 501 on use the rows 501 to 750 in turn: the count 501 uses row 501." in (
        texts(checked(tmp_path, CP1, "ons"))
    )
    matrix = texts(checked(tmp_path, CP1, "abs"))
    assert "Counts from 1 on use the rows 1 to 10 in turn: the count 1 uses row 2." in matrix
    assert "folded" in matrix


def test_blocked_counts_are_told(tmp_path: Path) -> None:
    assert "The counts 1 to 2 never appear as a result." in (
        texts(checked(tmp_path, WITHOUT_SMALL, "argus"))
    )
    assert "The count 1 never appears as a result." in (
        texts(check_perturbation(FILES / "ptable_with_row_names.csv"))
    )
    assert "never appear" not in texts(check_perturbation(FILES / "diagram_1a.txt"))
    assert "The counts 1 to 4 never appear as a result." in (
        texts(checked(tmp_path, rounding(5), "ons"))
    )


def test_rows_without_chance_are_a_warning(tmp_path: Path) -> None:
    stays = design({0: 1.0}, {-1: 0.25, 0: 0.5, 1: 0.25})
    assert "Rows that never change a count, which is so published as it is: 1." in (
        texts(checked(tmp_path, stays, "argus"), Severity.WARNING)
    )
    drops = design({-1: 1.0}, {-1: 0.25, 0: 0.5, 1: 0.25}, biased=(1,))
    report = checked(tmp_path, drops, "sas")
    assert "Rows that always add the same, without chance: 1." in texts(report, Severity.WARNING)
    assert "Row 1 is biased: it adds -1 on average" in texts(report, Severity.ERROR)


def test_a_bias_is_an_error_and_the_table_is_shown_all_the_same(tmp_path: Path) -> None:
    biased = design({-1: 0.2, 0: 0.5, 1: 0.3}, biased=(1,))
    report = checked(tmp_path, biased, "argus")
    assert not report.ok
    assert report.table is not None
    assert report.rows[1].bias == pytest.approx(0.1)
    assert "Row 1 is biased: it adds 0.1 on average" in texts(report, Severity.ERROR)
    assert "not symmetric around 0: 1." in texts(report, Severity.WARNING)


def test_an_unavoidable_bias_is_a_note(tmp_path: Path) -> None:
    report = checked(tmp_path, WITHOUT_SMALL, "cantabular")
    assert report.ok
    assert "Row 1 adds -0.00390625 on average, which no row with these deviations avoids" in (
        texts(report, Severity.NOTE)
    )


def test_an_asymmetric_last_row_is_a_warning(tmp_path: Path) -> None:
    skewed = design({-1: 0.25, 0: 0.5, 1: 0.25}, {-1: 0.4, 0: 0.4, 2: 0.2})
    assert "Rows that serve larger counts and are not symmetric around 0: 2." in (
        texts(checked(tmp_path, skewed, "argus"), Severity.WARNING)
    )


def test_changed_empty_cells_are_an_error(tmp_path: Path) -> None:
    report = checked(tmp_path, CP1.with_perturbed_zeros({1: 0.01}), "argus")
    assert "Row 0 changes empty cells: it adds 0.01 on average" in texts(report, Severity.ERROR)
    assert "Row 0 changes empty cells with probability 0.01" in texts(report, Severity.WARNING)


def test_the_order_of_a_scrambled_table_is_told(tmp_path: Path) -> None:
    report = checked(tmp_path, CP1, "abs", secret=Secret(bytes(32)))
    assert "the table is scrambled" in texts(report)


def test_habits_of_the_file_are_told() -> None:
    sas = texts(check_perturbation(FILES / "sas_with_commas.csv"))
    assert "byte-order mark" in sas
    assert "decimal commas" in sas
    assert "Delimiters at the end" in sas
    assert "Blank lines" in sas
    csv = texts(check_perturbation(FILES / "ptable_with_row_names.csv"))
    assert "Fields stand in quotes" in csv
    assert "A column without a name is left out" in csv
    ranges = texts(check_perturbation(FILES / "cantabular_with_ranges.csv"))
    assert "Ranges of keys" in ranges
    assert "no row for the count 0: empty cells stay empty" in ranges


def test_tau_argus_needs_semicolons(tmp_path: Path) -> None:
    text = (FILES / "diagram_1a.txt").read_text(encoding="utf-8").replace(";", ",")
    (tmp_path / "commas.csv").write_text(text, encoding="utf-8", newline="")
    report = check_perturbation(tmp_path / "commas.csv")
    assert "tau-ARGUS itself needs semicolons" in texts(report)


def test_keys_with_fewer_decimals_than_the_file_are_a_warning() -> None:
    report = check_perturbation(FILES / "diagram_1a.txt", modulus=10**5)
    assert "the file has more decimals than the keys" in texts(report, Severity.WARNING)


def test_unusual_numbers_of_keys_are_told(tmp_path: Path) -> None:
    path = write_perturbation(CP1, tmp_path / "odd.csv", "ons", modulus=200, tail=Tail(1))
    report = check_perturbation(path, tail=Tail(1))
    assert "Keys go from 0 to 199; usual are 0 to 255" in texts(report)


def test_errors_come_first_then_warnings_then_notes(tmp_path: Path) -> None:
    report = checked(tmp_path, design({-1: 0.2, 0: 0.5, 1: 0.3}, biased=(1,)), "cantabular")
    order = [list(Severity).index(finding.severity) for finding in report.findings]
    assert order == sorted(order)
    assert len(set(order)) == 3
    assert str(report.findings[0]).startswith("error: line 2: Row 1 is biased")


def test_a_report_shows_no_content_by_accident() -> None:
    report = check_perturbation(FILES / "diagram_1a.txt")
    for shown in (repr(report), str(report), f"{report}", repr(report.rows[1])):
        assert "0.3" not in shown
        assert "37967089" not in shown
    with pytest.raises(Refused):
        copy.deepcopy(report)


def test_rounding_rows_are_asymmetric_by_nature(tmp_path: Path) -> None:
    report = checked(tmp_path, rounding(5), "ons")
    assert report.ok
    assert "not symmetric" not in texts(report, Severity.WARNING)
    assert "Rows that serve larger counts in turn have different probabilities." in texts(report)
    assert DIAGRAM_1A.max_deviation == 3
