from __future__ import annotations

import itertools
import os
import re
import stat
import sys
from pathlib import Path

import pytest

from sdcensus.cli.perturbation import options
from sdcensus.session import perturbation
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island_store
from tests.cli.conftest import Run, Village, start

#: A file with everything wrong that a hurried hand gets wrong.
BAD = """\
i;j;p;v;p_int_ub
0;0;1;0;1
1;0;0,5;-1;0,5
1;2;0.499;1;1
2;1;0.5;-1;0.5
2;3;0.4;1;0.9
"""


def private(path: Path) -> bool:
    return os.name == "nt" or not stat.S_IMODE(path.stat().st_mode) & 0o077


@pytest.fixture
def table(run: Run, tmp_path: Path) -> Path:
    path = tmp_path / "table.csv"
    assert run("ptable", "design", "--strength", "medium", "--out", path, "-q").code == 0
    return path


def test_the_strengths_are_those_of_the_session() -> None:
    assert [str(word) for word in options.Strength] == list(perturbation.STRENGTHS)


def test_the_variance_modes_are_those_of_the_session() -> None:
    here = [one.value.replace("-", "_") for one in options.VarianceMode]
    assert here == list(perturbation.VarianceMode)


def test_the_help_names_every_scheme_and_strength(run: Run) -> None:
    text = re.sub(r"\s+", " ", run("ptable", "show", "--help").out)
    for names in (perturbation.SCHEMES, perturbation.STRENGTHS):
        assert f"({', '.join(names)})" in text


# ---------------------------------------------------------------- design


def test_a_design_is_shown_with_what_it_could_not_meet(run: Run) -> None:
    answer = run("ptable", "design", "--max-deviation", 3, "--variance", 1.5, "--stay", 0.4)
    assert (answer.code, answer.err) == (0, "")
    # The rows of Diagram 1 A of the study of ECLAC (2020).
    for line in (
        "1               -      -  .3797  .3797  .1366  .0691  .0350",
        "2               -  .1231  .1927  .4000  .1629  .0880  .0333",
        "3 and more  .0237  .0869  .1895  .4000  .1895  .0869  .0237",
        "  row 1: stay probability 0.379671 instead of 0.4",
        "  row 1: variance 1.10728 instead of 1.5",
    ):
        assert line in answer.out
    assert answer.out.endswith("Nothing was written. Write it with --out FILE.\n")


def test_a_design_with_blocked_counts(run: Run) -> None:
    """Diagram 1 B of the study of ECLAC (2020)."""
    wishes = ("--max-deviation", 3, "--variance", 2.01, "--blocked", 2, "--stay", "1/3")
    answer = run("ptable", "design", *wishes)
    assert answer.code == 0
    assert "Counts of 1 and 2 are never published." in answer.out
    assert re.search(r"^1 +- +- +\.6675 +- +- +\.3300 +\.0025$", answer.out, re.MULTILINE)


def test_a_design_is_written_and_nobody_else_can_read_it(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    answer = run("ptable", "design", "--scheme", "cp3-eu", "--out", path)
    assert answer.code == 0
    assert private(path)
    assert f"Wrote {path} (argus, 10**8 keys). Only you can read it" in answer.out
    assert "Probabilities are the same to " in answer.out
    assert f"sdcensus ptable show {path}" in answer.out
    written, expected = perturbation.read(path), perturbation.scheme("CP3(EU)")
    for count in range(5):
        assert written.probabilities(count) == pytest.approx(expected.probabilities(count))


@pytest.mark.parametrize(
    ("line", "keys", "kind"),
    [
        ("--format ons --key-space 256", 256, "ons"),
        ("--format abs", 256, "abs"),
        ("--format sas --key-space 10**6", 10**6, "sas"),
        ("--format ptable --key-space 10^9", 10**9, "ptable"),
    ],
)
def test_the_key_space_is_that_which_was_asked_for(
    run: Run, tmp_path: Path, line: str, keys: int, kind: str
) -> None:
    path = tmp_path / "table.csv"
    answer = run("ptable", "design", "--scheme", "CP3", "--out", path, *line.split())
    assert answer.code == 0
    if keys < 10**6:
        assert f"because there are only {keys} keys." in answer.out
    assert f"({kind}, " in answer.out
    assert perturbation.check(path).format == kind


def test_a_scrambled_design_needs_the_secret(run: Run, tmp_path: Path, village: Village) -> None:
    path = tmp_path / "table.csv"
    line = ["ptable", "design", "--scheme", "CP3", "--order", "scrambled", "--out", path]
    answer = run(*line)
    assert answer.code == 7
    assert "--secret FILE" in answer.err
    assert run(*line, "--secret", village.secret).code == 0
    assert not perturbation.read(path).ascending
    other = tmp_path / "other.csv"
    assert run(*line[:-1], other, "--secret", village.secret, "--key-version", 2).code == 0
    assert other.read_bytes() != path.read_bytes()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("--source normal --sigma 2", "by at most 5"),
        ("--source normal --sigma 1.41 --max-deviation 4", "by at most 4"),
        ("--source geometric --epsilon 1.5 --max-deviation 7", ".6352"),
        ("--source per-unit --units 2", "1              -     -     -     -     -     -  .667"),
        ("--scheme CP3 --perturb-zeros 0.02", "Empty cells can grow."),
        ("--scheme CP3(1,2) --perturb-zeros 3:0.02,4:1/100", ".9700      -      -  .0200  .0100"),
        ("--max-deviation 2 --variance 1.05 --blocked 1 --not-monotone", "Counts of 1 are never"),
        ("--max-deviation 3 --variance 1.5 --stay .3,.4,.4", "2               -  .1231"),
        ("--max-deviation 3 --variance 1 --variance-mode equal --relax largest-stay", "1.0000"),
        ("--max-deviation 3 --variance 1 --stay .4 --strict", "1.0000"),
    ],
)
def test_every_way_to_say_what_is_wanted(run: Run, line: str, said: str) -> None:
    answer = run("ptable", "design", *line.split())
    assert (answer.code, answer.err) == (0, "")
    assert said in answer.out


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("", "Say what is wanted: --max-deviation and --variance, or --scheme, --strength or"),
        ("--max-deviation 3", "--variance is needed as well."),
        ("--variance 1.5", "--max-deviation is needed as well."),
        ("--scheme CP3 --max-deviation 3", "already says what --max-deviation would."),
        ("--strength light --stay 0.3 --strict", "already says what --stay and --strict would."),
        ("--scheme CP3 --strength light", "--scheme and --strength contradict each other."),
        ("--scheme CP3 --source normal --sigma 2", "--scheme and --source contradict each other."),
        ("--scheme CP33", "There is no scheme 'CP33'. Did you mean 'CP3'"),
        ("--strength mild", "'mild' is not one of 'light', 'medium', 'strong'"),
        ("--sigma 2", "--sigma belongs to --source normal."),
        ("--units 2 --max-deviation 3 --variance 1", "--units belongs to --source per-unit."),
        ("--source normal", "--source normal needs --sigma as well."),
        ("--source geometric --epsilon 1", "--source geometric needs --max-deviation as well."),
        ("--source per-unit --units 2 --variance 3", "already says what --variance would."),
        ("--source normal --sigma 0", "The standard deviation is a number above 0."),
        ("--source per-unit --units 0", "from 1 to "),
        ("--max-deviation 0 --variance 1", "--max-deviation is a whole number from 1 to 50"),
        ("--max-deviation 3 --variance 9.5", "--variance is above 0 and below 9 here, not 9.5"),
        ("--max-deviation 3 --variance 1,5", "'1,5' is no number. Write it with a point."),
        ("--max-deviation 3 --variance much", "'much' is no number."),
        ("--max-deviation 3 --variance 1 --stay 40%", "--stay '40%' is no probability."),
        ("--max-deviation 3 --variance 1 --stay 1.4", "--stay is above 0 and below 1 here"),
        ("--max-deviation 3 --variance 1 --stay .4,.3", "stay has 2 values, and there are 3 rows"),
        ("--scheme CP3 --perturb-zeros much", "--perturb-zeros 'much' is not understood."),
        ("--scheme CP3 --perturb-zeros 1:0.2:3", "is not understood."),
        ("--scheme CP3 --perturb-zeros 1:2", "sum to more than 1"),
        ("--scheme CP3(1,2) --perturb-zeros 1:0.2", "counts that are not blocked"),
        ("--scheme CP3 --key-space 256", "Say which one: --out FILE."),
        ("--scheme CP3 --order scrambled", "Say which one: --out FILE."),
        ("--scheme CP3 --out x.csv --key-space 2**33", "'2**33' is no number of keys."),
        ("--scheme CP3 --out x.csv --key-space many", "Give a whole number from 2 to 2**32"),
        ("--scheme CP3 --out x.csv --key-space 2**99999999", "is no number of keys."),
        ("--scheme CP3 --out x.csv --key-space 4096", "a power of ten"),
        ("--scheme RR3 --out x.csv", "3 rows serve larger counts in turn, as in rounding"),
        (
            "--scheme CP3 --perturb-zeros 0.1 --format abs --out x.csv",
            "The format abs has no row for empty cells",
        ),
    ],
)
def test_wishes_that_cannot_be_understood_are_explained(
    run: Run, line: str, said: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    answer = run("ptable", "design", *line.split())
    assert answer.code == 2
    assert answer.out == ""
    assert said in answer.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("line", "row", "nearest"),
    [
        ("--max-deviation 3 --variance 2 --blocked 2", "Row 2", "--variance 2.01"),
        ("--max-deviation 2 --variance 3 --blocked 2", "Row 3", "--max-deviation of at least 3"),
        ("--max-deviation 3 --variance 1.5 --stay .4 --strict", "row 1", "--variance 1.1145"),
    ],
)
def test_what_is_not_feasible_is_refused_with_the_row_and_the_nearest_that_works(
    run: Run, line: str, row: str, nearest: str
) -> None:
    answer = run("ptable", "design", *line.split())
    assert answer.code == 2
    assert row in answer.err
    assert nearest in answer.err
    assert "=" not in answer.err


def test_the_nearest_that_works_works(run: Run) -> None:
    line = ["ptable", "design", "--max-deviation", 3, "--variance", 2, "--blocked", 2]
    nearest = re.search(r"--variance ([0-9.]+), or --blocked (\d)", run(*line).err)
    assert nearest is not None
    assert run(*line, "--variance", nearest[1]).code == 0
    assert run(*line, "--blocked", nearest[2]).code == 0


# ---------------------------------------------------------------- show


def test_show_tells_rows_figures_and_the_risk_of_each_look_up(run: Run) -> None:
    answer = run("ptable", "show", "CP3")
    assert (answer.code, answer.err) == (0, "")
    assert answer.out.startswith("CP3: confidential\n")
    for line in (
        "3 and more            0    1.5000  2.306  .4000      .0237",
        "ascending                     .010            .402          .168       1.81",
        "hashed                        .193            .418          .178       2.01",
        "definition (default)          .193            .418          .178       2.01",
        "Default here: definition.",
        "All counts from 3 on are treated alike.",
        "0.046 for large counts, 0.620 for empty against one",
        "the mean of two hundred orders",
    ):
        assert line in answer.out


@pytest.mark.parametrize("name", [*perturbation.SCHEMES, *perturbation.STRENGTHS])
def test_show_fits_the_console_and_leaves_no_blanks_behind(run: Run, name: str) -> None:
    lines = run("ptable", "show", name).out.splitlines()
    tables = [line for line in lines if re.search(r"\S {2,}\S.* {2,}\S", line) or "──" in line]
    assert len(tables) > 10
    assert max(map(len, tables)) <= 80
    assert not [line for line in lines if line != line.rstrip()]


def test_wide_tables_are_cut_into_blocks(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    path = ["ptable", "design", "--source", "normal", "--sigma", "6", "--max-deviation", "15"]
    monkeypatch.setenv("COLUMNS", "60")
    lines = run(*path).out.splitlines()
    heads = [line.split()[1:] for line in lines if re.match(r"count +[−+]", line)]
    assert len(heads) > 2
    assert list(itertools.chain(*heads)) == [
        f"{v:+d}".replace("-", "−") if v else "0" for v in range(-15, 16)
    ]
    assert max(map(len, (line for line in lines if "──" in line))) <= 60


def test_rows_are_shown_up_to_a_count(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "many.csv"
    source = ("--source", "per-unit", "--units", 2)
    assert run("ptable", "design", *source, "--out", path, "--quiet").code == 0
    few = run("ptable", "show", path, "--counts", 3).out
    assert "196 rows between the first and the last are not shown. See them with --counts" in few
    assert re.search(r"^200 and more ", few, re.MULTILINE)
    assert not re.search(r"^4 ", few, re.MULTILINE)
    assert "not shown" not in run("ptable", "show", path, "--counts", 200).out


def test_show_with_the_secret_is_about_its_own_order(
    run: Run, table: Path, village: Village
) -> None:
    answer = run("ptable", "show", table, "--secret", village.secret)
    assert "the order of the secret that was given" in answer.out


def test_show_draws_pictures_that_only_the_owner_can_read(
    run: Run, table: Path, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("a.png", "a.svg", "a.html")]
    plots = [word for path in paths for word in ("--plot", path)]
    answer = run("ptable", "show", table, *plots)
    assert (answer.code, answer.err) == (0, "")
    for path in paths:
        assert private(path)
        assert f"Wrote {path}. Only you can read it: never publish the parameters." in answer.out
    before = paths[0].read_bytes()
    answer = run("ptable", "show", table, "--plot", paths[0])
    assert (answer.code, answer.out) == (8, "")
    assert "already exists" in answer.err
    assert paths[0].read_bytes() == before


def test_a_chart_can_be_drawn_alone(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "matrix.svg"
    assert run("ptable", "show", "CP1", "--plot", path, "--chart", "transitions").code == 0
    text = path.read_text(encoding="utf-8")
    assert "What a true count becomes" in text
    assert "How far counts change" not in text


def test_pictures_need_the_part_that_draws(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "vl_convert", None)
    answer = run("ptable", "show", "CP1", "--plot", tmp_path / "a.png")
    assert (answer.code, answer.out) == (10, "")
    assert "pip install 'sdcensus[reports]'" in answer.err
    assert run("ptable", "show", "CP1").code == 0


@pytest.mark.parametrize(
    ("line", "code", "said"),
    [
        ("show strng", 5, "There is no scheme, strength or file 'strng'. Did you mean 'strong'"),
        ("show none.csv", 5, "none.csv does not exist."),
        ("show CP3 --plot a.pdf", 8, "a picture ends with .png or .svg"),
        ("show CP3 --plot none/a.png", 8, "The folder none does not exist."),
        ("show CP3 --chart rows", 2, "Say where as well: --plot FILE."),
        ("show CP3 --plot a.png --chart row", 2, "'row' is not one of 'distribution'"),
        ("show CP3 --secret none.secret", 7, "none.secret"),
        ("show bad.csv", 3, "bad.csv has "),
        ("show note.txt", 3, "belongs to no format of perturbation tables"),
        ("show .", 5, ""),
        ("check none.csv", 5, "none.csv does not exist."),
        ("check note.txt --format csv", 2, "'csv' is not one of 'argus'"),
        ("convert none.csv x.csv --to sas", 5, "none.csv does not exist."),
        ("convert bad.csv x.csv --to sas", 3, "bad.csv has "),
        ("convert CP3 note.txt --to sas", 8, "note.txt already exists."),
        ("convert CP3 x.csv --to abs", 2, "--lossy"),
        ("convert CP3 x.csv --to abs --key-space 10**8", 2, "Files of the format abs have 256"),
        ("convert CP3 x.csv --to sas --order scrambled", 7, "--secret FILE"),
        ("convert CP3 x.csv", 2, "--to"),
    ],
)
def test_what_cannot_be_read_or_written_is_explained(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, code: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("bad.csv").write_text(BAD, encoding="utf-8", newline="\n")
    Path("note.txt").write_text("Dear office,\nhello.\n", encoding="utf-8", newline="\n")
    answer = run("ptable", *line.split())
    assert answer.code == code
    assert answer.out == ""
    assert answer.err.startswith("error: ")
    assert said in answer.err
    assert "Traceback" not in answer.err
    assert sorted(path.name for path in tmp_path.iterdir()) == ["bad.csv", "note.txt"]


def test_show_can_be_read_on_a_console_that_knows_ascii_only() -> None:
    process = start("ptable", "show", "CP1", PYTHONIOENCODING="ascii")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, err) == (0, b"")
    assert re.search(rb"count[ |]+-1[ |]+0[ |]+\+1", out)


# ---------------------------------------------------------------- check and convert


def test_check_says_what_a_good_file_is(run: Run, table: Path) -> None:
    answer = run("ptable", "check", table)
    assert (answer.code, answer.err) == (0, "")
    assert "  note: Counts from 3 on use row 3." in answer.out
    assert answer.out.endswith(f"{table} has no mistakes.\n")


def test_check_lists_every_mistake_with_its_line(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "bad.csv"
    path.write_text(BAD, encoding="utf-8", newline="\n")
    answer = run("ptable", "check", path)
    assert answer.code == 3
    assert answer.err.startswith(f"error: {path} has ")
    lines = {int(line) for line in re.findall(r"^ +line (\d+): ", answer.err, re.MULTILINE)}
    assert len(lines) >= 2
    assert lines <= set(range(1, 7))


def test_check_counts_warnings(run: Run, table: Path, tmp_path: Path) -> None:
    matrix = tmp_path / "matrix.csv"
    answer = run("ptable", "convert", table, matrix, "--to", "abs", "--lossy")
    assert answer.code == 0
    assert "Probabilities moved by up to 0.017 (for the count 2)" in answer.out
    assert "Keys are assigned anew" in answer.out
    answer = run("ptable", "check", matrix)
    assert answer.code == 0
    assert "  warning: There are only 256 keys" in answer.out
    assert answer.out.endswith("has no mistakes, and 1 warning.\n")


def test_a_conversion_that_loses_nothing_says_so(run: Run, table: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.csv"
    answer = run("ptable", "convert", table, other, "--to", "sas")
    assert answer.code == 0
    assert "Probabilities are exactly the same." in answer.out
    assert "Every key adds what it added before." in answer.out
    assert private(other)


def test_rounding_goes_to_a_file_and_back(run: Run, tmp_path: Path) -> None:
    path = tmp_path / "rounding.csv"
    answer = run("ptable", "convert", "RR5", path, "--to", "plain")
    assert answer.code == 0
    assert "here with --repeat 5." in answer.out
    assert "Only multiples of 5 are published." in run("ptable", "show", path, "--repeat", 5).out
    assert run("ptable", "check", path, "--repeat", 5).code == 0
    answer = run("ptable", "check", path, "--repeat", 50)
    assert answer.code == 2
    assert "has 5 rows" in answer.err
    again = run("ptable", "convert", path, tmp_path / "m.csv", "--to", "abs", "--repeat", 5)
    assert "move by up to 0.0016" in again.err


@pytest.mark.parametrize(
    "line", ["show CP3", "design --scheme CP3", "check {table}", "convert {table} x.csv --to sas"]
)
def test_quiet_commands_say_nothing(
    run: Run, table: Path, line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(table.parent)
    answer = run("ptable", *line.format(table=table.name).split(), "--quiet")
    assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_convert_says_that_a_file_is_biased(run: Run, tmp_path: Path) -> None:
    source = tmp_path / "biased.csv"
    lines = ["count,deviation,probability", "0,0,1", "1,0,0.9", "1,1,0.1", ""]
    source.write_text("\n".join(lines), encoding="utf-8", newline="")
    answer = run("ptable", "convert", source, tmp_path / "out.csv", "--to", "sas")
    assert answer.code == 0
    assert "change the expected count, by up to 0.1" in answer.out


@pytest.mark.parametrize("digits", [5, 9])
def test_convert_keeps_the_bounds_of_files_with_other_decimals(
    run: Run, tmp_path: Path, digits: int
) -> None:
    first, second = tmp_path / "first.csv", tmp_path / "second.csv"
    keys = f"10**{digits}"
    made = run("ptable", "design", "--scheme", "CP4", "--out", first, "--key-space", keys)
    assert f"{keys} keys" in made.out
    answer = run("ptable", "convert", first, second, "--to", "sas")
    assert "Probabilities are exactly the same." in answer.out
    bounds = [
        [float(line.split(";")[-1]) for line in path.read_text(encoding="utf-8").splitlines()[1:]]
        for path in (first, second)
    ]
    assert bounds[0] == bounds[1]


def test_the_table_of_a_design_is_used_as_the_remedy_says(run: Run, tmp_path: Path) -> None:
    """A file for other keys is refused; what the message proposes works."""
    island_store(tmp_path / "island.store")
    write_secret(SECRET, tmp_path / "office.secret")
    own, plain = tmp_path / "own.csv", tmp_path / "plain.csv"
    run("ptable", "design", "--scheme", "CP3", "--out", own)
    protect = ("protect", tmp_path / "island.store", "--by", "sex", "--method", "cell-key")
    secret = ("--secret", tmp_path / "office.secret")
    ascending = ("--lookup", "ascending")
    refused = run(*protect, *ascending, "--perturbation", own)
    assert refused.code == 2
    assert "--to plain" in refused.err
    assert run("ptable", "convert", own, plain, "--to", "plain").code == 0
    assert run(*protect, *ascending, "--perturbation", plain).code == 0
    default = run(*protect, *secret, "--perturbation", own, "--explain")
    assert "On average over keys, a published count is the true count." in default.out


@pytest.mark.parametrize("wrong", ["1e400", "", ","])
def test_a_stay_probability_that_is_none_is_refused(run: Run, wrong: str) -> None:
    answer = run("ptable", "design", "--max-deviation", "3", "--variance", "1.5", "--stay", wrong)
    assert answer.code == 2
    assert "is no probability" in answer.err
