"""``sdcensus publish``, ``verify``, ``approve`` and ``plan check`` as they are typed."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import sdcensus as sc
from sdcensus.errors import (
    DocumentError,
    InputError,
    OutputError,
    Refused,
    SecretError,
    SpecError,
    StoreError,
)
from tests.cli.conftest import Run, Village
from tests.session.publish.plans import contents

PLAN = """\
store = "village.store"

[[table]]
name = "people"
rows = ["ed@parish"]
columns = ["sex"]

[[indicator]]
name = "size"
kind = "average-household-size"
by = ["ed@parish"]

[protect]
method = "cell-key"
strength = "light"

[office]
name = { en = "Office of <Nowhere>", es = "Oficina" }

[output]
folder = "published"
formats = ["csv", "px"]
languages = ["en", "es"]
evaluation = true
"""


@pytest.fixture
def folder(village: Village, tmp_path: Path) -> Path:
    """An office with a plan."""
    shutil.copytree(village.store, tmp_path / "village.store")
    shutil.copy(village.secret, tmp_path / "office.secret")
    write(tmp_path, PLAN)
    return tmp_path


def write(folder: Path, text: str) -> Path:
    path = folder / "plan.toml"
    path.write_text(text, encoding="utf-8", newline="")
    return path


def secret(folder: Path) -> tuple[str, Path]:
    return "--secret", folder / "office.secret"


# ---------------------------------------------------------------------------------- publish


def test_from_a_plan_to_an_approved_folder(run: Run, folder: Path) -> None:
    first = run("publish", folder / "plan.toml", *secret(folder))
    assert (first.code, first.err) == (0, "")
    lines = " ".join(first.out.split())
    # Before anything is written: nobody has decided about a table builder.
    assert lines.index("The plan names no policy") < lines.index("Published")
    assert f"Published 2 tables in {folder / 'published'}" in lines
    assert "passes over the records" in lines
    assert f"sdcensus verify {folder / 'published'}" in lines
    before = contents(folder)
    again = run("publish", folder / "plan.toml", *secret(folder))
    assert "nothing to do" in again.out
    assert contents(folder) == before
    sound = run("verify", folder / "published")
    assert (sound.code, sound.err) == (0, "")
    assert "NW1 plan, all 8 files" in sound.out
    assert (
        "Not approved yet"
        in run("verify", folder / "published", "--office", folder / "published.office").out
    )
    one = run("approve", folder / "published", "--name", "Ana Ruiz", "--role", "head")
    assert one.out == "Approved by Ana Ruiz: 1 of 2. A second person has to approve.\n"
    assert run("approve", folder / "published", "--name", " ana  ruiz").code == Refused.exit_code
    two = run("approve", folder / "published", "--name", "Ben", "--date", "2026-03-01", "-l", "es")
    assert two.out == "Aprobado por Ana Ruiz y Ben.\n"
    shown = run("verify", folder / "published", "--office", folder / "published.office")
    assert "Approved by Ana Ruiz (head) and Ben." in shown.out


def test_quiet_is_quiet(run: Run, folder: Path) -> None:
    for arguments in (
        ("publish", folder / "plan.toml", *secret(folder)),
        ("verify", folder / "published"),
        ("approve", folder / "published", "--name", "Ana"),
        ("plan", "check", folder / "plan.toml"),
    ):
        answer = run(*arguments, "--quiet")
        assert (answer.code, answer.out, answer.err) == (0, "", "")


def test_labels_of_the_office_are_text_on_its_page(run: Run, folder: Path) -> None:
    run("publish", folder / "plan.toml", *secret(folder), "-q")
    page = (folder / "published" / "notes.en.html").read_text(encoding="utf-8")
    assert "Office of &lt;Nowhere&gt;" in page
    assert "<Nowhere>" not in page


@pytest.mark.soak
def test_exported_files_give_the_same_bytes(run: Run, folder: Path) -> None:
    run("publish", folder / "plan.toml", *secret(folder), "-q")
    exported = folder / "exported"
    assert run("export", folder / "village.store", "--out", exported).code == 0
    answer = run(
        *("publish", folder / "plan.toml", *secret(folder), "-q"),
        *("--parquet", exported, "--out", folder / "other"),
    )
    assert answer.code == 0, answer.err
    assert contents(folder / "other") == contents(folder / "published")


def test_exported_files_are_counted_within_a_memory_in_bytes(run: Run, folder: Path) -> None:
    exported = folder / "exported"
    assert run("export", folder / "village.store", "--out", exported).code == 0
    report = sc.publish(
        folder / "plan.toml",
        secret=folder / "office.secret",
        data=str(exported),
        memory=500_000_000,
    )
    assert report.cells


def test_the_secret_may_be_named_by_the_environment(
    run: Run, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    missing = run("publish", folder / "plan.toml")
    assert missing.code == SecretError.exit_code
    assert "SDCENSUS_SECRET_FILE" in missing.err
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(folder / "office.secret"))
    assert run("publish", folder / "plan.toml", "-q").code == 0


# ---------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("before", "after", "said"),
    [
        ('"sex"', '"sexx"', "line 6: table (number 1): There is no variable 'sexx'"),
        ('rows = ["ed@parish"]', 'rows = ["ed@paris"]', "There is no level 'paris'"),
        ('columns = ["sex"]', 'columns = ["sex"]\nuniverse = "sex == 7"', "'7'"),
        ('columns = ["sex"]', 'columns = ["sex"]\nuniverse = "sxe == 1"', "'sxe'"),
        ('"px"', '"pxx"', "There is no format 'pxx'. Did you mean 'px'"),
        ('["en", "es"]', '["en", "fr"]', "There is no language in this census 'fr'"),
        ('"cell-key"', '"cell-kye"', "There is no method 'cell-kye'"),
        ('"light"', '"lite"', "'lite'"),
        ('"average-household-size"', '"average-hosehold"', "'average-hosehold'"),
        ('"village.store"', '"vilage.store"', "line 1: store: There is no store"),
        ("[output]", "[ouput]", "There is no setting or table 'ouput'"),
        ('folder = "published"', 'folder = "."', "holds the plan itself"),
        ('folder = "published"', 'folder = "village.store/x"', "cannot lie in each other"),
        ('store = "village.store"', 'store = "village.store"\nprogramme = "eu-2022"', "'eu-2022'"),
        (
            'store = "village.store"',
            'store = "village.store"\nprogramme = "eu-2021"\nmapping = "none.toml"',
            "no file 'none.toml'",
        ),
        ("[protect]", '[policy]\nfile = "none.toml"\n\n[protect]', "no file 'none.toml'"),
        ("[protect]", 'secret = "x"\n[protect]', "a secret never stands in a document"),
        ("[[table]]", "[[table]\n", "line 3"),
    ],
)
def test_mistakes_of_a_plan_are_told_with_their_lines(
    run: Run, folder: Path, before: str, after: str, said: str
) -> None:
    assert before in PLAN
    write(folder, PLAN.replace(before, after, 1))
    left = contents(folder)
    for command in (("publish",), ("plan", "check")):
        answer = run(*command, folder / "plan.toml", *secret(folder))
        assert answer.code == DocumentError.exit_code
        assert said in " ".join(answer.err.split())
        assert "Traceback" not in answer.err
    assert contents(folder) == left


def test_all_mistakes_are_told_at_once(run: Run, folder: Path) -> None:
    text = PLAN.replace('"sex"', '"sexx"').replace('"px"', '"pxx"').replace("parish", "paris")
    write(folder, text)
    answer = run("publish", folder / "plan.toml", *secret(folder))
    assert "has 4 mistakes" in answer.err
    assert all(one in answer.err for one in ("'sexx'", "'pxx'", "'paris'"))


MAPPING = """\
programme = "eu-2021"

[breakdown."GEO.L"]
variable = "ed"

[breakdown.SEX]
variable = "sex"
codes = { "1" = ["1"], "2" = ["2", "1"] }
"""


def test_mistakes_of_a_mapping_are_told_before_any_work(run: Run, folder: Path) -> None:
    (folder / "mapping.toml").write_text(MAPPING, encoding="utf-8", newline="")
    head = 'store = "village.store"\nprogramme = "eu-2021"\nmapping = "mapping.toml"\n'
    write(folder, PLAN.replace('store = "village.store"\n', head))
    left = contents(folder)
    answer = run("publish", folder / "plan.toml", *secret(folder))
    assert answer.code == DocumentError.exit_code
    assert "mapping.toml has" in answer.err
    assert "Traceback" not in answer.err
    assert contents(folder) == left


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (["--memory", "lots"], SpecError.exit_code),
        (["--memory", "1MB"], SpecError.exit_code),
        (["--threads", "0"], 2),
        (["--engine", "abacus"], 2),
        (["--rekey"], SpecError.exit_code),
        (["--revision", " "], SpecError.exit_code),
        (["--parquet", "nothing-here"], StoreError.exit_code),
        (["--out", "plan.toml/x"], OutputError.exit_code),
    ],
)
def test_settings_that_cannot_be(
    run: Run, folder: Path, arguments: list[str], code: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(folder)
    answer = run("publish", "plan.toml", *secret(folder), *arguments)
    assert answer.code == code, answer.err
    assert answer.err.startswith("error: ")
    assert not (folder / "published").exists()


@pytest.mark.parametrize("name", ["nothing.toml", "village.store", "office.secret", "plan.csv"])
def test_what_is_no_plan(run: Run, folder: Path, name: str) -> None:
    answer = run("publish", folder / name, *secret(folder))
    assert answer.code in (DocumentError.exit_code, InputError.exit_code)
    assert "bug" not in answer.err


# ---------------------------------------------------------------------------------- the others


def test_verify_lists_what_is_wrong(run: Run, folder: Path) -> None:
    run("publish", folder / "plan.toml", *secret(folder), "-q")
    (folder / "published" / "people.csv").unlink()
    for at in range(30):
        (folder / "published" / f"new-{at:02}.txt").write_bytes(b"")
    answer = run("verify", folder / "published")
    assert answer.code == InputError.exit_code
    assert "people.csv: missing" in answer.err
    assert "new-00.txt: not part of the publication" in answer.err
    assert "and 11 more" in answer.err
    refused = run("approve", folder / "published", "--name", "Ana")
    assert refused.code == Refused.exit_code
    assert "and 30 more" in refused.err
    assert run("verify", folder / "village.store").code == InputError.exit_code
    assert run("approve", folder / "village.store", "--name", "A").code == InputError.exit_code


def test_a_check_shows_what_a_plan_takes(run: Run, folder: Path) -> None:
    left = contents(folder)
    answer = run("plan", "check", folder / "plan.toml", *secret(folder))
    assert (answer.code, answer.err) == (0, "")
    lines = [line.split() for line in answer.out.splitlines()]
    assert ["people", "persons", "ed@parish,", "sex", "12"] in lines
    facts = " ".join(answer.out.split())
    for word in (
        "tables 2",
        "passes over the records",
        "memory about",
        "time about",
        "csv, px",
    ):
        assert word in facts
    small = run("plan", "check", folder / "plan.toml", *secret(folder), "--memory", "10MB")
    assert small.code == 0
    assert "too little" in small.err
    assert contents(folder) == left


def test_a_check_needs_no_secret_and_notices_a_wrong_one(run: Run, folder: Path) -> None:
    assert run("plan", "check", folder / "plan.toml").code == 0
    other = folder / "other.secret"
    run("secret", "new", other, "-q")
    answer = run("plan", "check", folder / "plan.toml", "--secret", other)
    assert answer.code == SecretError.exit_code
