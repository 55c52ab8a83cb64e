"""Identities between units at the prompt: proposed by load, refused by plans, used by attacks."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sdcensus.formats.write import write_table
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.attack.housed import housed, housed_schema, without_identities
from tests.cli.conftest import Run

HEAD = """\
[census]
name = "Town"
code = "T"
[files.household]
path = "households.csv"
entity = "household"
[files.person]
path = "persons.csv"
entity = "person"
[entity.household]
id = ["home"]
[entity.person]
id = ["home", "no"]
within = "household"
[variable.size]
file = "household"
range = [1, 4]
{more}
[variable.sex]
file = "person"
codes = {{ 1 = "Male", 2 = "Female" }}
"""


@pytest.fixture
def town(tmp_path: Path) -> Path:
    """Files of 100 households with one to four persons."""
    homes = [(f"{at:03}", at % 4 + 1) for at in range(100)]
    rows = [f"{home},{size}" for home, size in homes]
    (tmp_path / "households.csv").write_text("\n".join(["home,size", *rows, ""]), encoding="utf-8")
    rows = [f"{home},{no},{no % 2 + 1}" for home, size in homes for no in range(size)]
    (tmp_path / "persons.csv").write_text("\n".join(["home,no,sex", *rows, ""]), encoding="utf-8")
    return tmp_path


def loaded(run: Run, town: Path, more: str, store: str) -> str:
    (town / "schema.toml").write_text(HEAD.format(more=more), encoding="utf-8")
    if not (town / "office.secret").exists():
        assert run("secret", "new", town / "office.secret").code == 0
    given = ("load", town / "schema.toml", "--out", town / store)
    answer = run(*given, "--secret", town / "office.secret", "--propose")
    assert answer.code == 0
    return answer.out + answer.err


def test_load_proposes_what_is_not_declared(run: Run, town: Path) -> None:
    said = loaded(run, town, "", "first.store")
    assert 'counts = "persons"' in said
    assert "[variable.size]" in said
    # Once it is there, nothing is proposed, and a policy that shows both units is named.
    said = loaded(run, town, 'counts = "persons"', "second.store")
    assert "counts =" not in said
    policy = town / "policy.toml"
    policy.write_text('name = "All"\n', encoding="utf-8")
    answer = run("policy", "check", policy, "--store", town / "second.store")
    assert "serve does not open this" in answer.out
    assert 'units = ["households"]' in answer.out
    policy.write_text('name = "All"\n[variable.size]\nunits = ["households"]\n', encoding="utf-8")
    answer = run("policy", "check", policy, "--store", town / "second.store")
    assert answer.code == 0
    assert "serve does not open this" not in answer.out


def test_a_draft_says_what_may_be_a_size(run: Run, town: Path) -> None:
    answer = run("schema", "draft", town / "households.csv", "--out", town / "draft")
    assert answer.code == 0
    assert 'counts = "persons"' in (town / "draft" / "schema.toml").read_text(encoding="utf-8")


def test_an_attack_uses_noise_that_is_known(run: Run, tmp_path: Path) -> None:
    census: Census = housed(
        tmp_path / "census.store", 2_000, schema=without_identities(housed_schema())
    )
    method = CellKey(scheme("CP3(EU)"), secret=SECRET, lookup="ascending")
    (tmp_path / "published").mkdir()
    for at, (of, by) in enumerate(
        [("household", ("area", "size")), ("person", ("area", "size")), ("person", ("area", "sex"))]
    ):
        protected = method.protect(census.tabulate(*by, of=of))
        path = tmp_path / "published" / f"t{at}.csv"
        write_table(protected.table, path, provenance=protected.provenance)
    noise = tmp_path / "noise.csv"
    made = run(
        *("ptable", "design", "--max-deviation", 3, "--variance", 1),
        *("--format", "plain", "--out", noise),
    )
    assert made.code == 0
    found = {}
    for name, options in (("without", ()), ("with", ("--knows-noise", noise))):
        answer = run(
            *("attack", tmp_path / "published", "--attacks", "identities,key-decoding"),
            *("--limit", "0.45", "--out", tmp_path / f"{name}.json", *options),
        )
        assert answer.code == 0
        found[name] = json.loads((tmp_path / f"{name}.json").read_text(encoding="utf-8"))
    assert [one["assumptions"]["noise_known"] for one in found.values()] == [False, True]
    counts = {
        name: {one["attack"]: one["counts_claimed"] for one in report["attacks"]}
        for name, report in found.items()
    }
    assert counts["without"]["identities"] > 0
    assert counts["without"]["key-decoding"] == 0
    assert counts["with"]["key-decoding"] > 0
    answer = run("attack", tmp_path / "published", "--knows-noise", tmp_path / "no.csv")
    assert answer.code != 0
    assert "no.csv" in answer.err
