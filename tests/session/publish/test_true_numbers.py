"""Published numbers without noise are what a loop over the files counts, in odd tables too."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from pathlib import Path

import pytest

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark, Table
from sdcensus.session.commands import compile_program
from sdcensus.session.publish.products import PublishedPart
from sdcensus.session.publish.resolution import Resolved, resolve
from tests.documents.effects import edited
from tests.hamlet import SCHEMA, Hamlet, Row, rows, write_hamlet

PLAN = """\
store = "census.store"

[protect]
method = "cell-key"
perturbation = "none.csv"

[output]
folder = "published"
"""
#: No count is changed.
NONE = "count,deviation,probability\n0,0,1\n1,0,1\n"
PARISH = {"E1": "P1", "E2": "P1", "E3": "P2", "E4": "P2", "E5": "P3"}
Code = Callable[[Row], str]


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    persons, households = rows(90)
    made = write_hamlet(
        tmp_path_factory.mktemp("hamlet"),
        schema=SCHEMA + DECLARED,
        persons=persons,
        households=households,
    )
    made.load()
    made.write("none.csv", NONE)
    return made


def ten_year(row: Row) -> str:
    age = int(row["age"])
    return "999" if age == 999 else "90+" if age >= 90 else f"{age // 10 * 10}-{age // 10 * 10 + 9}"


def broad(row: Row) -> str:
    age = int(row["age"])
    return "999" if age == 999 else "0-14" if age < 15 else "15-64" if age < 65 else "65+"


def bracket(row: Row) -> str:
    if row["income"] in ("", "99999"):
        return row["income"] or "_Z"
    income = float(row["income"])
    return "0-999" if income < 1000 else "1000-2499" if income < 2500 else "2500+"


def rent(row: Row) -> str:
    return {"": "_Z", "99999": "99999"}.get(row["rent"], "stated")


#: Axes as a plan writes them, and the code of a record at each of their levels.
AXES: dict[str, tuple[Code, ...]] = {
    "ed": (lambda row: row["ed"],),
    "ed@parish": (lambda row: PARISH[row["ed"]],),
    "ed+parish": (lambda row: row["ed"], lambda row: PARISH[row["ed"]]),
    "sex": (lambda row: row["sex"],),
    "sex-total": (lambda row: row["sex"],),
    "age": (lambda row: row["age"],),
    "age@ten_year+broad": (ten_year, broad),
    "only": (lambda row: row["only"],),
    "unasked": (lambda row: row["unasked"],),
    "income@bracket": (bracket,),
    "married": (lambda row: row["married"],),
    "tenure": (lambda row: row["tenure"],),
    "rent": (rent,),
}
#: Universes of which conditions below are made, besides codes that there are.
DECLARED = """
[universe.adults]
condition = "age >= 15"

[universe.sex_stated]
condition = "sex != 9"

[universe.not_under_65]
condition = "not (age < 65)"
"""
#: No universe can say it: a table under it is made of sums.
UNDECLARED = "only == 1 or ed@parish == 'P3'"
UNIVERSES: dict[str, Callable[[Row], bool]] = {
    "": lambda row: True,
    "age >= 15 and sex != 9": lambda row: 15 <= int(row["age"]) < 999 and row["sex"] != "9",
    "unasked == 1": lambda row: False,
    UNDECLARED: lambda row: row["only"] == "1" or row["ed"] == "E5",
    "not (age < 65)": lambda row: not int(row["age"]) < 65,
    "ed == 'E5'": lambda row: row["ed"] == "E5",
}


def resolved(hamlet: Hamlet, name: str, text: str) -> Resolved:
    return resolve(hamlet.write(f"{name}.toml", PLAN + text), secret=hamlet.secret)


def delivered(made: Resolved) -> DeliveredTable:
    (only,) = made.products
    parts = []
    for spec in only.specs:
        protected = made.method(spec).protect(made.census.tabulate(spec))
        assert isinstance(protected.table, Table)
        parts.append(PublishedPart(protected.table, protected.provenance))
    return only.delivered(parts, made.heading)


def cells(table: DeliveredTable) -> Iterator[tuple[tuple[tuple[str, str], ...], int, Mark]]:
    """Level and code on every axis, the value, and its mark."""
    for place in product(*(range(len(axis)) for axis in table.axes)):
        codes = tuple(
            (axis.levels[at], axis.codes[at]) for axis, at in zip(table.axes, place, strict=True)
        )
        mark = Mark.NONE if table.marks is None else Mark(int(table.marks[place]))
        yield codes, int(table.values[place]), mark


def matches(row: Row, codes: tuple[tuple[str, str], ...], by: tuple[str, ...]) -> bool:
    for (level, code), axis in zip(codes, by, strict=True):
        if code == "_T" and level == "_T":
            continue
        names = axis.split("@")[-1].removesuffix("-total").split("+")
        own = AXES[axis][names.index(level) if len(AXES[axis]) > 1 else 0]
        if own(row) != code:
            return False
    return True


TABLES = [
    (by, universe)
    for by in [
        (),
        ("only",),
        ("unasked",),
        ("ed+parish", "only"),
        ("ed@parish", "unasked", "sex-total"),
        ("age@ten_year+broad", "married"),
        ("income@bracket", "ed"),
        ("age",),
    ]
    for universe in UNIVERSES
]


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("by", "universe"), TABLES)
def test_tables_of_persons(
    hamlet: Hamlet, by: tuple[str, ...], universe: str, weighted: bool
) -> None:
    axes = ", ".join(f'"{one}"' for one in by)
    text = f'[[table]]\nname = "t"\nrows = [{axes}]\n'
    setting = "where" if universe == UNDECLARED else "universe"
    text += f'{setting} = "{universe}"\n' if universe else ""
    text += 'measure = "weighted"\n' if weighted else ""
    table = delivered(resolved(hamlet, "table", text))
    weights = {
        (household["ed"], household["house"]): Fraction(household["weight"])
        for household in hamlet.households
    }
    chosen = [person for person in hamlet.persons if UNIVERSES[universe](person)]
    for codes, value, mark in cells(table):
        inside = [one for one in chosen if matches(one, codes, by)]
        wanted = Fraction(len(inside))
        if weighted:
            wanted = sum((weights[one["ed"], one["house"]] for one in inside), Fraction(0))
        if setting == "where" and weighted and table.support is not None:
            # A sum of published values, each of which is a whole number.
            assert abs(value - wanted) <= Fraction(int(table.support.parts.max()), 2), codes
        else:
            assert (value, mark) == (round(wanted), Mark.NONE), codes


@pytest.mark.parametrize("by", [("tenure",), ("rent", "ed+parish"), ("rent", "tenure")])
def test_tables_of_households(hamlet: Hamlet, by: tuple[str, ...]) -> None:
    axes = ", ".join(f'"{one}"' for one in by)
    text = f'[[table]]\nname = "t"\nof = "households"\nrows = [{axes}]\n'
    for codes, value, _ in cells(delivered(resolved(hamlet, "homes", text))):
        assert value == sum(matches(household, codes, by) for household in hamlet.households), codes


def ages(people: list[Row]) -> list[int]:
    return sorted(int(person["age"]) for person in people if person["age"] != "999")


def share(
    above: Callable[[Row], bool], below: Callable[[Row], bool]
) -> Callable[[list[Row]], Fraction | None]:
    def figure(rows: list[Row]) -> Fraction | None:
        whole = sum(map(below, rows))
        part = sum(below(row) and above(row) for row in rows)
        return Fraction(1000 * part, whole) if whole >= 3 else None

    return figure


def ratio(
    above: Callable[[Row], bool], below: Callable[[Row], bool]
) -> Callable[[list[Row]], Fraction | None]:
    def figure(rows: list[Row]) -> Fraction | None:
        whole = sum(map(below, rows))
        return Fraction(1000 * sum(map(above, rows)), whole) if whole >= 3 else None

    return figure


def mean_age(rows: list[Row]) -> Fraction | None:
    found = ages(rows)
    return Fraction(10 * sum(found), len(found)) if len(found) >= 3 else None


def median_age(rows: list[Row]) -> Fraction | None:
    found = ages(rows)
    if len(found) < 3:
        return None
    half = Fraction(len(found), 2)
    for age in sorted(set(found)):
        before, own = sum(one < age for one in found), found.count(age)
        if before + own >= half:
            return 10 * (age + (half - before) / own)
    raise AssertionError


FIGURES: list[tuple[str, Callable[[list[Row]], Fraction | None]]] = [
    (
        'kind = "share"\nnumerator = "sex == 2"\n',
        share(lambda row: row["sex"] == "2", lambda row: True),
    ),
    (
        'kind = "share"\nnumerator = "sex == 2 and age in (1, 2, 30, 31)"\n'
        'denominator = "age < 65"\n',
        share(
            lambda row: row["sex"] == "2" and row["age"] in ("1", "2", "30", "31"),
            lambda row: int(row["age"]) < 65,
        ),
    ),
    (
        'kind = "share"\nnumerator = "unasked == 1"\n',
        share(lambda row: False, lambda row: True),
    ),
    (
        'kind = "share"\nnumerator = "sex == 1"\ndenominator = "unasked == 1"\n',
        share(lambda row: True, lambda row: False),
    ),
    (
        'kind = "ratio"\nnumerator = "only != 1"\ndenominator = "only == 1"\n',
        ratio(lambda row: row["only"] != "1", lambda row: row["only"] == "1"),
    ),
    (
        'kind = "dependency-ratio"\n',
        ratio(
            lambda row: int(row["age"]) < 15 or 65 <= int(row["age"]) < 999,
            lambda row: 15 <= int(row["age"]) < 65,
        ),
    ),
    (
        'kind = "sex-ratio"\n',
        ratio(lambda row: row["sex"] == "1", lambda row: row["sex"] == "2"),
    ),
    ('kind = "mean"\nvariable = "age"\n', mean_age),
    ('kind = "median-age"\n', median_age),
]


@pytest.mark.parametrize("universe", [one for one in UNIVERSES if one != UNDECLARED])
@pytest.mark.parametrize(("text", "figure"), FIGURES)
def test_figures(
    hamlet: Hamlet, text: str, figure: Callable[[list[Row]], Fraction | None], universe: str
) -> None:
    by = ("ed+parish",)
    clashing = {"age", "sex", "only", "unasked"} & set(universe.replace("(", " ").split())
    said = f'[[indicator]]\nname = "f"\nby = ["ed+parish"]\n{text}'
    said += f'universe = "{universe}"\n' if universe else ""
    table = delivered(resolved(hamlet, "figure", said))
    chosen = [person for person in hamlet.persons if UNIVERSES[universe](person)]
    for codes, value, mark in cells(table):
        wanted = figure([one for one in chosen if matches(one, codes, by)])
        if wanted is None:
            assert (value, mark) == (0, Mark.NOT_AVAILABLE), (codes, clashing)
        else:
            assert mark in (Mark.NONE, Mark.LOW_RELIABILITY), (codes, clashing)
            assert value == round(wanted), (codes, clashing)


@pytest.mark.parametrize("first", ["1", "2"])
def test_the_sex_ratio_is_of_men_whoever_stands_first(
    hamlet: Hamlet, tmp_path: Path, first: str
) -> None:
    """A code list that begins with women gave women per 100 men, under the title of men."""
    codes = {"1": '1 = "Male"', "2": '2 = "Female"'}
    order = [codes[first], codes["2" if first == "1" else "1"]]
    schema = edited(SCHEMA, ('1 = "Male", 2 = "Female"', ", ".join(order)))
    other = write_hamlet(
        tmp_path, schema=schema, persons=hamlet.persons, households=hamlet.households
    )
    other.load()
    other.write("none.csv", NONE)
    made = resolved(other, "ratio", '[[indicator]]\nname = "f"\nkind = "sex-ratio"\n')
    men, women = (sum(person["sex"] == sex for person in hamlet.persons) for sex in "12")
    table = delivered(made)
    assert int(table.values) == round(Fraction(1000 * men, women))
    assert table.title.show("en").startswith("Sex ratio (men per 100 women)")
    program = compile_program("TABLE t AS SEX-RATIO", other.census().schema)
    (asked,) = program.tables
    labels = [group.label for _, groups in asked.question.groups for group in groups]
    assert labels == ["Sex: Male", "Sex: Female"]


def test_a_ratio_of_other_codes_is_not_called_one_of_men(hamlet: Hamlet) -> None:
    text = '[[indicator]]\nname = "f"\nkind = "sex-ratio"\nvariable = "married"\n'
    title = delivered(resolved(hamlet, "other", text)).title.show("en")
    assert title == "Ratio (Married: No, per 100 of: Married: Yes)"


def test_a_share_of_nobody_is_refused(hamlet: Hamlet) -> None:
    text = '[[indicator]]\nname = "f"\nnumerator = "sex == 2"\ndenominator = "sex == 1"\n'
    with pytest.raises(SpecError, match="No record can fulfil the condition"):
        resolved(hamlet, "nobody", text)
    program = "TABLE t AS SHARE OF person.sex = 2 OF person.sex = 1"
    with pytest.raises(SpecError, match="No record can fulfil"):
        compile_program(program, hamlet.census().schema)
