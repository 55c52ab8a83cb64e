"""Looks of several kinds of units together: as generalised least squares over all cells have it."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pytest

from sdcensus.model.policy.menu import Menu, MenuVariable, finest_first
from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema, UnitIdentity
from sdcensus.model.schema.variable import (
    Code,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.risk.looks.budget import look_budget, look_budgets
from sdcensus.risk.looks.lattice import Lattice
from sdcensus.risk.looks.tied import TiedLattice, tied_lattice
from tests.attack.housed import without_identities
from tests.risk.least_squares import cell_of, cells_of_menu, indicator

HOUSEHOLD, PERSON = Entity.HOUSEHOLD, Entity.PERSON


def schema_of(sizes: Sequence[int], *, areas: int = 2, open_size: bool = True) -> Schema:
    """Households by area and size; the last size is open. Persons by sex and place."""
    codes = tuple(Code(f"{size:02}") for size in sizes)
    mixed = Level(
        "mixed",
        (Code("small"), Code("large")),
        tuple(0 if at < 2 else 1 for at in range(len(codes))),
    )
    variables = (
        Variable(
            name="area",
            entity=HOUSEHOLD,
            role=Role.GEOGRAPHY,
            codes=tuple(Code(f"A{at}") for at in range(areas)),
        ),
        Variable(
            name="size",
            entity=HOUSEHOLD,
            codes=codes,
            hierarchies=(Hierarchy("mixed", (mixed,)),) if len(codes) > 2 else (),
            counts=PERSON,
            counts_open=(codes[-1].code,) if open_size else (),
        ),
        Variable(name="sex", entity=PERSON, codes=(Code("1"), Code("2"))),
        Variable(name="place", entity=PERSON, codes=(Code("0"), Code("1"))),
    )
    return Schema(
        census=CensusInfo(name="Tied"),
        entities=(
            EntitySpec(entity=HOUSEHOLD, id=("household",)),
            EntitySpec(entity=PERSON, id=("person",), within=HOUSEHOLD),
        ),
        variables=variables,
        keys=KeyRules(space=KeySpace()),
        identities=(UnitIdentity(each=HOUSEHOLD, holds=PERSON, when="place == '0'"),),
    )


def menu(schema: Schema, of: Entity, dimensions: int, **levels: Sequence[str]) -> Menu:
    """A menu of these variables; no level named means the finest one."""
    offered = []
    for name, own in levels.items():
        variable = schema.variable(name)
        chosen = tuple(variable.level(one) for one in own) or (variable.level(),)
        offered.append(MenuVariable(variable, finest_first(chosen)))
    return Menu(of, tuple(offered), dimensions)


def solved(
    schema: Schema,
    menus: Mapping[Entity, Menu],
    of: Entity,
    chosen: Mapping[str, Level],
    codes: Mapping[str, str],
    variances: Mapping[Entity, float],
) -> float:
    """The looks at a cell by generalised least squares over every cell of every table."""
    shapes = {PERSON: ("area", "size", "sex", "place"), HOUSEHOLD: ("area", "size")}
    variables = {unit: [schema.variable(one) for one in own] for unit, own in shapes.items()}
    shape = {unit: [len(one.codes) for one in own] for unit, own in variables.items()}
    households = int(np.prod(shape[HOUSEHOLD]))
    total = households + int(np.prod(shape[PERSON]))
    start = {HOUSEHOLD: 0, PERSON: households}

    def row(unit: Entity, cell: tuple[frozenset[int], ...]) -> np.ndarray:
        found = np.zeros(total)
        inside = indicator(cell, shape[unit])
        found[start[unit] : start[unit] + inside.size] = inside
        return found

    rows, sight = [], []
    for unit, own in menus.items():
        order = [variable.variable.name for variable in own.variables]
        for cell in cells_of_menu(own):
            by_name = dict(zip(order, cell, strict=True))
            whole = tuple(
                by_name.get(one.name, frozenset(range(len(one.codes)))) for one in variables[unit]
            )
            rows.append(row(unit, whole))
            sight.append(np.sqrt(variances[of] / variances[unit]))
    equations = []
    everybody = [frozenset(range(2)), frozenset(range(2))]
    counting = schema.variable("size")
    for area, size in itertools.product(*(range(one) for one in shape[HOUSEHOLD])):
        here = (frozenset([area]), frozenset([size]))
        code = counting.codes[size].code
        if counting.counts is not None and code not in counting.counts_open:
            persons = row(PERSON, (*here, *everybody))
            equations.append(persons - int(code) * row(HOUSEHOLD, here))
        if schema.identities:
            first = row(PERSON, (*here, everybody[0], frozenset([0])))
            equations.append(first - row(HOUSEHOLD, here))
    basis = np.eye(total)
    if equations:
        _, values, directions = np.linalg.svd(np.stack(equations))
        basis = directions[int((values > 1e-9).sum()) :].T
    seen = (np.stack(rows) * np.array(sight)[:, None]) @ basis
    wanted = row(of, cell_of(variables[of], chosen, codes)) @ basis
    covariance = np.linalg.pinv(seen.T @ seen, rcond=1e-11)
    assert np.allclose(seen.T @ seen @ covariance @ wanted, wanted, atol=1e-6)
    return 1 / float(wanted @ covariance @ wanted)


SIZES = (1, 2, 3, 5, 7)


@pytest.mark.parametrize(
    ("held", "own"),
    [
        ({"area": (), "size": ("mixed",), "sex": ()}, {"area": (), "size": ()}),
        ({"area": (), "sex": (), "place": ()}, {"area": (), "size": ()}),
        ({"area": (), "size": ("mixed",), "place": ()}, {"area": (), "size": ("mixed", "size")}),
        ({"area": (), "size": (), "place": ()}, {"area": ()}),
        ({"size": (), "sex": ()}, {"area": (), "size": ()}),
        ({"area": (), "size": ("size", "mixed"), "sex": (), "place": ()}, {"area": (), "size": ()}),
    ],
)
@pytest.mark.parametrize("dimensions", [2, 3])
def test_tables_of_two_units_are_solved_together(
    held: dict[str, Sequence[str]], own: dict[str, Sequence[str]], dimensions: int
) -> None:
    schema = schema_of(SIZES)
    menus = {
        PERSON: menu(schema, PERSON, dimensions, **held),
        HOUSEHOLD: menu(schema, HOUSEHOLD, 2, **own),
    }
    variances = {PERSON: 7.0, HOUSEHOLD: 5.0}
    for unit in menus:
        lattice = tied_lattice(schema, menus, unit, variances)
        assert isinstance(lattice, TiedLattice)
        alone = Lattice(menus[unit])
        for names in ((), ("area",), ("size",), ("area", "size"), ("sex",), ("area", "place")):
            offered = {
                variable.variable.name: variable.levels[0] for variable in menus[unit].variables
            }
            if not {*names} <= {*offered}:
                continue
            chosen = {name: offered[name] for name in names}
            for at in (0, -1):
                codes = {name: level.codes[at].code for name, level in chosen.items()}
                expected = solved(schema, menus, unit, chosen, codes, variances)
                assert lattice.at_most(chosen, codes) == pytest.approx(expected, rel=1e-5)
                assert expected >= alone.at_most(chosen, codes) * (1 - 1e-9)


def by_size(schema: Schema, level: str) -> dict[Entity, Menu]:
    """Persons by size at a level, households by size, nothing else."""
    size = schema.variable("size")
    return {
        PERSON: Menu(PERSON, (MenuVariable(size, (size.level(level),)),), 1),
        HOUSEHOLD: Menu(HOUSEHOLD, (MenuVariable(size, (size.level(),)),), 1),
    }


def test_one_table_of_persons_by_a_single_size_is_worth_its_square() -> None:
    """By hand, for households of three: a table of persons is worth nine of households."""
    schema = schema_of((3, 7), areas=1)
    menus = by_size(schema, "size")
    cell = {"size": schema.variable("size").level()}
    # Two codes and their total: 1 + 1/2 looks at a code. Larger households are seen apart.
    assert Lattice(menus[HOUSEHOLD]).at_most(cell, {"size": "03"}) == pytest.approx(1.5)
    together = tied_lattice(schema, menus, HOUSEHOLD, {})
    assert together.at_most(cell, {"size": "03"}) == pytest.approx(1.5 + 9 * 1.5)
    assert together.at_most(cell, {"size": "07"}) < 2
    # The other way round it is one ninth of a look.
    back = tied_lattice(schema, menus, PERSON, {})
    assert back.at_most(cell, {"size": "03"}) == pytest.approx(1.5 + 1.5 / 9)
    # Persons with twice the variance tell half as much.
    noisier = tied_lattice(schema, menus, HOUSEHOLD, {PERSON: 8.0, HOUSEHOLD: 4.0})
    assert noisier.at_most(cell, {"size": "03"}) == pytest.approx(1.5 + 9 * 1.5 / 2)


def test_a_mixed_class_adds_what_generalised_least_squares_say() -> None:
    """By hand: one class of the sizes 1 and 2, and what its total less the rest says as well."""
    schema = schema_of((1, 2, 7), areas=1)
    together = tied_lattice(schema, by_size(schema, "mixed"), HOUSEHOLD, {})
    weights = np.array([1.0, 2.0])
    information = np.eye(2) + 0.5 * np.ones((2, 2)) + 1.5 * np.outer(weights, weights)
    expected = 1 / np.diag(np.linalg.inv(information))
    cell = {"size": schema.variable("size").level()}
    found = [together.at_most(cell, {"size": code}) for code in ("01", "02")]
    assert found == pytest.approx(expected.tolist())


def test_nothing_declared_is_nothing_told() -> None:
    schema = schema_of(SIZES)
    menus = {
        PERSON: menu(schema, PERSON, 2, area=(), size=(), sex=()),
        HOUSEHOLD: menu(schema, HOUSEHOLD, 2, area=(), size=()),
    }
    silent = without_identities(schema)
    assert not isinstance(tied_lattice(silent, menus, HOUSEHOLD, {}), TiedLattice)
    # Nor where persons are not told apart by size: an open size holds any number of them.
    hidden = menus | {PERSON: menu(schema, PERSON, 2, area=(), sex=())}
    assert not isinstance(tied_lattice(schema, hidden, HOUSEHOLD, {}), TiedLattice)
    # Where every size has its number, all persons together are a sum of households.
    closed = schema_of(SIZES, open_size=False)
    assert isinstance(tied_lattice(closed, hidden, HOUSEHOLD, {}), TiedLattice)


def test_levels_that_one_menu_lacks_make_a_bound() -> None:
    schema = schema_of(SIZES, areas=4)
    area = schema.variable("area")
    halves = Level("half", (Code("w"), Code("e")), (0, 0, 1, 1))
    area = replace(area, hierarchies=(Hierarchy("half", (halves,)),))
    schema = replace(schema, variables=(area, *schema.variables[1:]))
    menus = {
        PERSON: menu(schema, PERSON, 2, area=("half",), size=("mixed",), sex=()),
        HOUSEHOLD: menu(schema, HOUSEHOLD, 2, area=(), size=()),
    }
    lattice = tied_lattice(schema, menus, HOUSEHOLD, {})
    chosen = {name: schema.variable(name).level() for name in ("area", "size")}
    codes = {"area": "A0", "size": "02"}
    expected = solved(schema, menus, HOUSEHOLD, chosen, codes, dict.fromkeys(menus, 1.0))
    found = lattice.looks(chosen, codes)
    assert not found.exact
    assert expected <= found.looks * (1 + 1e-9)
    assert found.looks < 3 * expected


def test_budgets_say_which_looks_across_units_they_count() -> None:
    schema = schema_of(SIZES)
    menus = {
        PERSON: menu(schema, PERSON, 2, area=(), size=("mixed",), sex=()),
        HOUSEHOLD: menu(schema, HOUSEHOLD, 2, area=(), size=()),
    }
    together = look_budgets(schema, menus)[HOUSEHOLD]
    alone = look_budgets(without_identities(schema), menus)[HOUSEHOLD]
    assert alone == look_budget(menus[HOUSEHOLD])
    assert together.asked.looks > alone.asked.looks
    assert alone.across == ""
    assert "persons and households by size, with weights up to 25" in together.across
    # Noisier tables of persons tell less.
    noisier = look_budgets(schema, menus, variances={PERSON: 20.0, HOUSEHOLD: 2.0})[HOUSEHOLD]
    assert alone.asked.looks < noisier.asked.looks < together.asked.looks
    assert list(look_budgets(schema, menus, only=[PERSON])) == [PERSON]


def test_what_is_too_large_to_be_solved_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    schema = schema_of(SIZES)
    menus = {
        PERSON: menu(schema, PERSON, 2, area=(), size=("mixed",), place=()),
        HOUSEHOLD: menu(schema, HOUSEHOLD, 2, area=(), size=()),
    }
    assert "Not counted" not in look_budgets(schema, menus)[HOUSEHOLD].across
    monkeypatch.setattr("sdcensus.risk.looks.tied.MOST_UNKNOWNS", 5)
    found = look_budgets(schema, menus)[HOUSEHOLD].across
    assert "by place" in found.split("Not counted")[0]
    assert "by size" in found.split("Not counted")[1]
