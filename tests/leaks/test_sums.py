"""A canary of amounts: incomes and their true sums, which occur nowhere else, are looked for.

Every income is a number of twelve digits. Whatever `serve`, `publish`, `protect` and `assess` say
and write for the public is searched for each of them, for their sums and their means in every cell.
"""

from __future__ import annotations

import contextlib
import io
import re
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.cli.shared.run import run as run_command
from sdcensus.documents.policy.document import read_policy
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import Answer, TableService
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.hamlet import SCHEMA, Hamlet, Row, rows, write_hamlet
from tests.leaks.test_server import API, Said, secrets_of, served
from tests.web.servers import Place

BY = ("ed@parish+ed", "sex", "age@broad")
FORMS = ("csv", "xlsx", "parquet", "sdmx-csv", "px")
MEASURES = ("sum(income)", "mean(income)", "median(income)")
POLICY = """
name = "canary"
[limits]
dimensions = 4
[online]
smallest_group = 24
brackets = 30
[amount.income]
measures = ["sum", "mean", "median"]
at_least = 5
"""
PLAN = """
store = "census.store"
[protect]
method = "cell-key"
smallest_group = 24
[protect.sums]
method = "cell-key-sums"
[[table]]
name = "sums"
measure = "sum(income)"
rows = ["ed@parish+ed"]
columns = ["sex", "age@broad"]
[[indicator]]
name = "means"
kind = "mean"
variable = "income"
by = ["ed@parish", "sex"]
[[indicator]]
name = "medians"
kind = "median"
variable = "income"
by = ["ed@parish", "sex"]
[output]
folder = "published"
office_folder = "office"
formats = ["csv", "xlsx", "parquet", "json-stat", "sdmx-csv", "px"]
languages = ["en", "es"]
"""
LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)
COUNTS = CellKey(design_perturbation(4, 3.0), secret=LOOKUP)
#: A noise share that is told apart from all other figures.
SHARE = 0.13719264
SUMS = CellKeySums(noise_share=SHARE, secret=LOOKUP)


def incomes() -> tuple[list[Row], list[int]]:
    """The persons of the hamlet with incomes that are found again, and these in cents."""
    persons, _ = rows()
    draw = np.random.default_rng(2026)
    told = []
    for person in persons:
        if person["income"] in ("", "99999"):
            continue
        told.append(int(draw.integers(10**11, 9 * 10**11)))
        person["income"] = f"{told[-1] // 100}.{told[-1] % 100:02}"
    return persons, told


@dataclass(frozen=True)
class Canary:
    hamlet: Hamlet
    census: Census
    hidden: frozenset[int]

    def service(self, kind: type[TableService] = TableService) -> TableService:
        policy = read_policy(self.hamlet.folder / "policy.toml", self.census.schema)
        return kind(self.census, policy, {Entity.PERSON: COUNTS}, sums={Entity.PERSON: SUMS})


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Canary:
    persons, told = incomes()
    schema = SCHEMA.replace('"0,1000,2500+"', '"0,3000000000,6000000000+"')
    assert schema != SCHEMA
    made = write_hamlet(tmp_path_factory.mktemp("canary"), schema=schema, persons=persons)
    made.write("policy.toml", POLICY)
    made.write("plan.toml", PLAN)
    census = made.load()
    cube = census.tabulate(census.spec(*BY), sums="income").dense
    assert cube is not None
    ((_, sums),) = cube.values.sums
    known = census.tabulate(census.spec(*BY, "income")).dense
    assert known is not None
    number = known.count[..., :3].sum(axis=-1)  # those of all three classes
    means = [
        round(Fraction(int(total), int(number)) * 10**decimals)
        for total, number in zip(sums.reshape(-1), number.reshape(-1), strict=True)
        for decimals in (-2, 0)
        if number
    ]
    hidden = {*told, *sums.reshape(-1).tolist(), *means} - {0}
    long = {each for each in hidden if each >= 10**9}
    assert len(long) > 600
    return Canary(made, census, frozenset(long))


def found_in(data: bytes, hidden: frozenset[int]) -> list[int]:
    """Hidden amounts as text, however they are grouped, with their cents or rounded; as bytes."""
    text = data.decode("latin-1")
    for sign in (",", ".", " ", "_", "\xa0", "\xc2\xa0", "\u202f".encode().decode("latin-1")):
        text = text.replace(sign, "")
    # Every run of digits is looked up by its beginnings: there are too many to look for each.
    runs = set(re.findall(r"\d{9,}", text))
    digits = {len(str(each)) for each in hidden}
    spelled = {
        int(run[at : at + size])
        for run in runs
        for size in digits
        for at in range(len(run) - size + 1)
    }
    return [*(spelled & hidden), *(each for each in hidden if each.to_bytes(8, "little") in data)]


def assert_silent(said: Said, hidden: frozenset[int]) -> None:
    words = [*secrets_of(SECRET.reveal_for_record_keys())]
    words += [*secrets_of(SECRET.sub_key(Purpose.LOOKUP, 1)), str(SHARE).encode()]
    for data, where in {data: where for where, data in said.parts}.items():
        assert found_in(data, hidden) == [], where
        assert [word for word in words if word in data] == [], where


QUESTIONS: list[dict[str, Any]] = [
    {"by": list(BY)},
    {"by": ["ed@parish"]},
    {"by": []},
    {"by": ["sex"], "where": "ed == 'E5' and age >= 65"},
    {"by": ["ed"], "groups": {"ed": [{"label": "two", "codes": ["E1", "E5"]}]}},
    {"by": ["ed", "sex"], "codes": {"ed": ["E5"], "sex": ["9"]}},
]
WRONG: list[dict[str, Any]] = [
    {"by": ["income@bracket"]},
    {"by": ["sex"], "where": "income >= 6000000000"},
    {"by": ["sex"], "where": "income >= 1"},
    {"by": ["nothing"]},
    {"by": ["ed", "sex", "age", "married", "only"]},
    {"by": ["sex"], "of": "households"},
]
PROGRAM = "".join(
    f"TABLE t{at} AS {word} OF person.income BY person.sex, household.ed FOR person.age >= 15\n"
    for at, word in enumerate(("MEAN", "AVERAGE", "MEDIAN"))
)


def ask_everything(place: Place, said: Said) -> None:
    """Every measure in every form; what is refused; what means nothing."""
    client = place.client
    for number, question in enumerate([*QUESTIONS, *WRONG]):
        for measure in (*MEASURES, "sum(rent)", "total(income)"):
            body = {"of": "persons", "measure": measure, **question}
            answer = said.answer(f"{body}", client.post(f"{API}/tables", json=body))
            assert answer.status_code < 500, answer.text
            said.answer(f"check {body}", client.post(f"{API}/tables/check", json=body))
            if answer.status_code == 200 and number < 2:
                link = answer.json()["extension"]["sdcensus"]["link"]
                for form in FORMS:
                    said.answer(f"{form} {body}", client.get(f"{link}&format={form}"))
    said.answer("program", client.post(f"{API}/commands", json={"program": PROGRAM}))
    for path in ("datasets", "datasets/persons/variables/income", "about"):
        said.answer(path, client.get(f"{API}/{path}"))
    said.answer("about", client.get("/about"))


def test_the_search_finds_what_it_looks_for(canary: Canary) -> None:
    told = sorted(canary.hidden)[300]
    cents = f"{told // 100}.{told % 100:02}"
    for text in (cents, f"{told // 100:,}.{told % 100:02}", f"x{told}9", cents.replace(".", ",")):
        assert found_in(text.encode(), canary.hidden), text
    assert found_in(b"!" + told.to_bytes(8, "little"), canary.hidden)
    assert not found_in(str(told + 1).encode(), canary.hidden)


def test_a_server_tells_no_true_sum(canary: Canary, tmp_path: Path) -> None:
    said = Said()
    with served(tmp_path, canary.service(), said) as place:
        ask_everything(place, said)
    shown = [data for where, data in said.parts if where.startswith("{")]
    assert sum(data.startswith(b'{"version":"2.0"') for data in shown) >= 15
    assert_silent(said, canary.hidden)


class FailingService(TableService):
    """A service that breaks in the middle of its work, with true sums in the words of its error."""

    def answer(
        self,
        question: Question,
        role: str | UserRole = UserRole.PUBLIC,
        *,
        progress: Progress = no_progress,
    ) -> Answer:
        if question.by == BY:
            cube = self.census.tabulate(self.census.spec(*BY), sums="income").dense
            assert cube is not None
            raise ValueError(f"the sums are {cube.values.sums[0][1].tolist()}")
        return super().answer(question, role, progress=progress)


def test_a_failure_tells_no_true_sum(canary: Canary, tmp_path: Path) -> None:
    said = Said()
    with served(tmp_path, canary.service(FailingService), said) as place:
        body = {"of": "persons", "measure": "sum(income)", "by": list(BY)}
        assert (
            said.answer("failed", place.client.post(f"{API}/tables", json=body)).status_code == 500
        )
    assert_silent(said, canary.hidden)


def told_by(*words: str) -> str:
    """What a command says on both streams."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        run_command([*words])
    return out.getvalue() + err.getvalue()


def test_publications_and_commands_tell_no_true_sum(canary: Canary, tmp_path: Path) -> None:
    folder, secret = canary.hamlet.folder, ("--secret", str(canary.hamlet.secret))
    store, said = str(canary.hamlet.store), Said()
    plan, files = (
        str(folder / "plan.toml"),
        (str(tmp_path / "sums.csv"), str(tmp_path / "sums.xlsx")),
    )
    sums = ("--measure", "sum(income)", "--method", "cell-key-sums")
    by = ("--by", ",".join(BY), *sums, *secret)
    said.add("check", told_by("plan", "check", plan, *secret).encode())
    said.add("publish", told_by("publish", plan, *secret).encode())
    said.folder("published", folder / "published")
    assert len(said.parts) > 30
    for file in files:
        said.add("protect", told_by("protect", store, *by, "--out", file, "--explain").encode())
    assert all(Path(file).exists() for file in files), said.parts[-1]
    said.folder("protected", tmp_path)
    said.add("show", told_by("protect", store, *by, "--show").encode())
    said.add(
        "refused", told_by("tabulate", store, "--by", "sex", "--measure", "sum(income)").encode()
    )
    office = tmp_path / "assessment"
    said.add("assess", told_by("assess", store, *by, "--out", str(office)).encode())
    assert any(path.suffix == ".html" for path in office.iterdir())
    for path in sorted(office.iterdir()):
        if ".public." in path.name:
            said.add(path.name, path.read_bytes())
    assert_silent(said, canary.hidden)
