"""The smallest group: counting, protecting and hiding, against counting and protecting alone."""

from __future__ import annotations

import numpy as np

from benchmarks.measure import Line, seconds

_SECRET = bytes(range(32))


def measure(people: int = 1_000_000) -> list[Line]:
    """Tables of more and more ancestors; the same cells with and without the rule."""
    from sdcensus.methods.cell_key import CellKey
    from sdcensus.methods.perturbation.schemes import scheme
    from sdcensus.model.cube.cube import Origin
    from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
    from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Hierarchy, Level, Variable
    from sdcensus.model.secret import Secret
    from sdcensus.session.census.census import Census
    from sdcensus.session.protect.smallest_group import GroupRule
    from sdcensus.store.in_memory import InMemoryRecords

    secret = Secret(_SECRET)

    def variable(name: str, leaves: int, *steps: int) -> Variable:
        """Leaves in one tree, each level of which joins so many codes of the last."""
        codes = tuple(Code(str(at)) for at in range(leaves))
        levels, width = [], 1
        for step in steps:
            width *= step
            group = tuple(at // width for at in range(leaves))
            named = tuple(Code(f"{width}-{at}") for at in range(group[-1] + 1))
            levels.append(Level(f"{name}_{width}", named, group))
        trees = (Hierarchy("tree", tuple(levels)),) if levels else ()
        return Variable(name=name, entity=Entity.PERSON, codes=codes, hierarchies=trees)

    variables = (
        variable("area", 600, 10, 6),
        variable("age", 100, 5, 4),
        variable("sex", 2),
        variable("status", 6, 2),
    )
    schema = Schema(
        census=CensusInfo(name="groups"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=variables,
    )
    draw = np.random.default_rng(20260301)
    codes = {
        variable.name: draw.integers(0, len(variable.codes), people).astype(
            np.uint16 if len(variable.codes) > 256 else np.uint8
        )
        for variable in variables
    }
    keys = draw.integers(0, 1 << 32, people, dtype=np.uint64).astype(np.uint32)
    origin = Origin(KeySpace(), secret.id, "groups")
    records = InMemoryRecords(schema, Entity.PERSON, codes=codes, keys=keys, origin=origin)
    census = Census(schema, records)
    method, rule = CellKey(scheme("CP4"), secret), GroupRule(23)
    lines = []
    for by in (("area", "age@age_5"), ("area", "age", "sex"), ("area", "age", "sex", "status")):
        spec = census.spec(*by)
        extended = rule.counted(spec)
        alone = seconds(lambda: method.protect(census.tabulate(extended)))  # noqa: B023
        ruled = seconds(lambda: rule.protect(spec, method, census.tabulate))  # noqa: B023
        lines.append(
            Line(
                f"{' × '.join(by)}: {spec.cells:,} cells, {extended.cells:,} with ancestors",
                f"{ruled * 1e3:.0f} ms, {ruled / alone:.2f} times counting and protecting them"
                f" ({alone * 1e3:.0f} ms)",
                "at most twice",
                ruled <= 2 * alone,
            )
        )
    return lines
