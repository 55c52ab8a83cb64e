from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import DocumentError, OutputError
from sdcensus.model.plan.plan import Plan
from sdcensus.model.schema.schema import Schema
from sdcensus.session.census.census import open_store
from sdcensus.testing.island import island_store
from tests.cli.conftest import Run


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("island") / "island.store"
    island_store(path, 5_000)
    return path


def checked(path: Path) -> Plan:
    def schema_of(store: Path) -> Schema:
        return open_store(store).schema

    return read_plan(path, schema_of, files=True)


@pytest.mark.parametrize("name", ["plan.toml", "plan.xlsx"])
def test_a_drafted_plan_can_be_read(run: Run, store: Path, tmp_path: Path, name: str) -> None:
    out = tmp_path / name
    answer = run("plan", "draft", store, "--out", out)
    assert (answer.code, answer.err) == (0, "")
    assert "age-by-sex" in answer.out
    assert f"Wrote {out}" in answer.out
    assert f"sdcensus publish {out}" in answer.out
    plan = checked(out)
    assert plan.tables
    assert plan.protect is not None
    assert plan.protect.method == "cell-key"
    assert plan.policy is None
    assert plan.output is not None
    assert plan.output.formats == ("csv", "xlsx")


def test_both_forms_say_the_same(run: Run, store: Path, tmp_path: Path) -> None:
    for name in ("plan.toml", "plan.xlsx"):
        assert run("plan", "draft", store, "--out", tmp_path / name, "-q").out == ""
    assert checked(tmp_path / "plan.toml") == checked(tmp_path / "plan.xlsx")


def test_the_comments_explain_every_part(run: Run, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.toml"
    run("plan", "draft", store, "--out", out, "-q")
    text = out.read_text(encoding="utf-8")
    for part in ("[[table]]", "# [[indicator]]", "# [office]", "[protect]", "[output]"):
        assert part in text
    assert '# programme = "eu-2021"' in text
    # what is a comment can be taken in by removing the sign
    lines = text.splitlines()
    start = lines.index("# [office]")
    office = [line.removeprefix("# ") for line in lines[start : start + 5]]
    out.write_text(text + "\n" + "\n".join(office) + "\n", encoding="utf-8", newline="\n")
    assert checked(out).office.contact == "census@example.org"


def test_a_policy_beside_the_plan_is_kept_to(run: Run, store: Path, tmp_path: Path) -> None:
    policy = tmp_path / "policy.toml"
    text = 'name = "Own"\n[limits]\ndimensions = 2\ncells = 500\n'
    policy.write_text(text, encoding="utf-8", newline="\n")
    out = tmp_path / "plan.toml"
    answer = run("plan", "draft", store, "--out", out)
    assert "names no policy" not in answer.out
    plan = checked(out)
    assert plan.policy is not None
    assert plan.policy.file == "policy.toml"
    assert max(len(table.by) for table in plan.tables) <= 2


def test_nothing_is_written_over(run: Run, store: Path, tmp_path: Path) -> None:
    out = tmp_path / "plan.toml"
    out.write_text("mine", encoding="utf-8", newline="\n")
    answer = run("plan", "draft", store, "--out", out)
    assert answer.code == OutputError.exit_code
    assert "already exists" in answer.err
    assert out.read_text(encoding="utf-8") == "mine"
    answer = run("plan", "draft", store, "--out", tmp_path / "plan.csv")
    assert answer.code == OutputError.exit_code
    assert ".toml or .xlsx" in answer.err
    answer = run("plan", "draft", tmp_path / "no.store", "--out", tmp_path / "p.toml")
    assert answer.code != 0
    assert answer.code < 70
    assert not (tmp_path / "p.toml").exists()


def test_a_mapping_that_does_not_fit_is_not_proposed(run: Run, store: Path, tmp_path: Path) -> None:
    (tmp_path / "eu-mapping.toml").write_text("x = 1\n", encoding="utf-8", newline="\n")
    answer = run("plan", "draft", store, "--out", tmp_path / "plan.toml")
    assert answer.code == 0
    assert "fits this census" not in answer.out


PLAN = """\
[[table]]
name = "age-by-district"
rows = ["area@district"]
columns = ["age@class", "sex"]

[[table]]
name = "elders"
rows = ["area"]
measure = "share(age == 9)"

[[indicator]]
name = "women"
kind = "ratio"
by = ["area"]
numerator = "sex == 1"
denominator = "sex == 0"
"""


def island_plan(folder: Path, store: Path, more: str = PLAN) -> Path:
    path = folder / "plan.toml"
    text = f'store = "{store.as_posix()}"\n{more}'
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


def test_a_check_tells_what_a_plan_takes_and_writes_nothing(
    run: Run, store: Path, tmp_path: Path
) -> None:
    plan = island_plan(tmp_path, store)
    answer = run("plan", "check", plan)
    assert (answer.code, answer.err) == (0, "")
    facts = {line[:25].strip(): line[25:].strip() for line in answer.out.splitlines()}
    schema = open_store(store).schema
    cells = read_plan(plan, lambda _: schema).table("age-by-district").spec(schema).cells
    shown = next(line for line in answer.out.splitlines() if line.startswith("age-by-district"))
    assert shown.split()[-1] == f"{cells:,}"
    assert facts["tables"] == "3"
    assert facts["method"] == "cell-key"
    assert int(facts["passes over the records"]) >= 1
    assert "of 4GB allowed" in facts["memory"]
    assert facts["time"]
    assert [one.name for one in tmp_path.iterdir()] == ["plan.toml"]


def test_a_check_finds_what_publishing_would_refuse(run: Run, store: Path, tmp_path: Path) -> None:
    wrong = PLAN.replace("age@class", "age@clas").replace('"ratio"', '"ration"')
    answer = run("plan", "check", island_plan(tmp_path, store, wrong))
    assert answer.code == DocumentError.exit_code
    assert "plan.toml has 2 mistakes" in answer.err
    assert "line 5" in answer.err
    assert "Did you mean 'class'" in answer.err
    inside = PLAN + f'[output]\nfolder = "{(store / "published").as_posix()}"\n'
    answer = run("plan", "check", island_plan(tmp_path, store, inside))
    assert 0 < answer.code < 70
    assert not (store / "published").exists()


def test_too_little_memory_is_told(run: Run, store: Path, tmp_path: Path) -> None:
    answer = run("plan", "check", island_plan(tmp_path, store), "--memory", "1kB")
    assert answer.code == 0
    assert "too little for the largest table" in answer.err
    wrong = run("plan", "check", island_plan(tmp_path, store), "--memory", "much")
    assert 0 < wrong.code < 70


def test_a_level_alone_is_shown_with_its_variable(run: Run, store: Path, tmp_path: Path) -> None:
    wrong = PLAN.replace('rows = ["area@district"]', 'rows = ["District"]')
    answer = run("plan", "check", island_plan(tmp_path, store, wrong))
    assert "There is no variable 'District'. Did you mean 'area@district'?" in answer.err
