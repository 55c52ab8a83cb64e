"""hypothesis strategies: small censuses with everything that a real one has, and their tables."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import ge, gt, le, lt

import numpy as np
from hypothesis import strategies as st

from sdcensus.model.schema.schema import (
    CensusInfo,
    Combine,
    DeclaredUniverse,
    KeyRules,
    KeyScope,
    KeySpace,
    Schema,
)
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    EmptyField,
    EmptyOwner,
    Entity,
    Hierarchy,
    Level,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.model.spec.declared_universes import set_condition, with_universe
from sdcensus.model.text import Text
from sdcensus.testing.small_census import SHAPES, Shape, SmallCensus, id_variables, random_units

KEY_SPACES = (
    KeySpace(),
    KeySpace(combine=Combine.XOR),
    KeySpace(10**8),
    KeySpace(256),
    KeySpace(4096, Combine.XOR),
    KeySpace(65521),
    KeySpace(4294967291),
)

#: Codes that trip up whoever puts them into SQL, csv or a regular expression.
AWKWARD_CODES = ("a'b", 'x"y', "1;2", "p,q", "é ü", "$1", "%", "NULL", "-", "\\", "x y", "[*]")


@dataclass(frozen=True, slots=True)
class Where:
    """A condition in the grammar of plans, and what it means for the leaves of a unit."""

    text: str
    holds: Callable[[Mapping[str, int]], bool]


@dataclass(frozen=True, slots=True)
class TableRequest:
    """A table in the grammar of plans."""

    of: Entity
    by: tuple[str, ...]
    where: Where | None = None
    weights: bool = False
    sums: tuple[str, ...] = ()
    households: bool = False
    measure: str = "count"
    largest: int = 0
    replicates: bool = False

    @property
    def amount(self) -> str:
        """The variable that a table of sums adds up."""
        return self.measure.partition("(")[2].rstrip(")")

    @property
    def weighs(self) -> bool:
        """Whether contributions are amounts times weights."""
        return self.measure.startswith("weighted-sum")


def texts() -> st.SearchStrategy[str]:
    """Codes as offices write them, and awkward ones."""
    plain = st.from_regex(r"[A-Za-z0-9]{1,4}", fullmatch=True)
    return st.one_of(plain, st.sampled_from(AWKWARD_CODES), st.integers(0, 120).map(str))


def _distinct_codes(size: int) -> st.SearchStrategy[list[str]]:
    """Codes that no reader can take for each other."""
    return st.lists(texts(), min_size=size, max_size=size, unique_by=_meaning)


def _meaning(code: str) -> object:
    """Codes that are the same number are the same code to a reader of files."""
    try:
        return float(code)
    except ValueError:
        return code


@st.composite
def levels(draw: st.DrawFn, name: str, leaves: Sequence[Code]) -> Level:
    """A partition of some leaves under codes in any order; a code may have no leaf."""
    size = draw(st.integers(1, len(leaves)))
    group = draw(st.lists(st.integers(0, size - 1), min_size=len(leaves), max_size=len(leaves)))
    # Official lists number each level by itself, so that codes stand at several.
    alike = [leaf.code for leaf in leaves[::-1][:size]]
    codes = alike if draw(st.booleans()) else draw(_distinct_codes(size))
    ragged = draw(st.booleans())
    named = [
        # A leaf that stands for itself keeps its code.
        leaves[group.index(at)] if ragged and group.count(at) == 1 else Code(code, Text.of(code))
        for at, code in enumerate(codes)
    ]
    if len({code.code for code in named}) < len(named):
        named = [Code(f"{name}{at}") for at in range(size)]
    return Level(name, tuple(named), tuple(group))


@st.composite
def coarser(draw: st.DrawFn, name: str, fine: Level) -> Level:
    """A level in which another one nests."""
    over = draw(levels(name, fine.codes))
    return Level(name, over.codes, tuple(over.group[group] for group in fine.group))


@st.composite
def variables(
    draw: st.DrawFn,
    name: str,
    entity: Entity,
    file: Entity,
    *,
    role: Role | None = None,
    may_be_missing: bool = False,
) -> Variable:
    """A variable with one to six leaves, missing codes, nested and other levels."""
    kinds = [
        (CodeKind.NOT_APPLICABLE,),
        (CodeKind.NOT_STATED,),
        (CodeKind.NOT_APPLICABLE, CodeKind.NOT_STATED),
    ]
    missing = draw(st.sampled_from(kinds if may_be_missing else [(), *kinds]))
    size = draw(st.integers(1, 6))
    if draw(st.booleans()):  # numbers: codes that can be compared
        low = draw(st.integers(-2, 10))
        numbers = range(low, low + size)
        valid = [
            Code(str(number), Text.of(str(number)), lower=number, upper=number)
            for number in numbers
        ]
        marks = ["999", "998"][: len(missing)]
    else:
        written = draw(_distinct_codes(size + len(missing)))
        valid = [Code(code, Text.of(f"label of {code}")) for code in written[:size]]
        marks = written[size:]
    codes = (
        *valid,
        *(Code(code, kind=kind) for code, kind in zip(marks, missing, strict=True)),
    )
    hierarchies = []
    if draw(st.booleans()):
        fine = draw(levels("fine", codes))
        chain = (fine, draw(coarser("broad", fine))) if draw(st.booleans()) else (fine,)
        hierarchies.append(Hierarchy("tree", chain))
    if draw(st.booleans()):
        hierarchies.append(Hierarchy("other", (draw(levels("other", codes)),)))
    empty = EmptyField.PROBLEM
    may_be_empty = draw(st.booleans())
    if missing and may_be_empty:
        empty = EmptyField(draw(st.sampled_from(missing)).value)
    return Variable(
        name=name,
        entity=entity,
        codes=codes,
        hierarchies=tuple(hierarchies),
        role=role,
        source=VariableSource(file=file.value, column=f"column of {name}", empty=empty),
    )


@st.composite
def small_censuses(
    draw: st.DrawFn, *, most_units: int = 12, with_amount: bool = False
) -> SmallCensus:
    """A census with up to a dozen units of each kind, possibly none at all.

    One ``with_amount`` surely has one, which may belong to owners and may have waivers.
    """
    shape = draw(st.sampled_from(SHAPES))
    skeleton = Schema(census=CensusInfo(name="small"), entities=shape.entities, variables=())
    described: list[Variable] = []
    areas = draw(st.sampled_from((0, 1, 2)))
    for at in range(draw(st.integers(1, 4))):
        entity, file = _home(draw, shape)
        role = Role.GEOGRAPHY if at < areas else None
        may = _may_be_missing(skeleton, entity)
        described.append(draw(variables(f"v{at}", entity, file, role=role, may_be_missing=may)))
    if areas == 2 and len(described) > 1:
        main = draw(st.integers(0, 1))
        described[:2] = [replace(described[at], main=at == main) for at in range(2)]
    amounts = _amounts(draw, shape, with_amount=with_amount)
    waivers: dict[str, tuple[str, frozenset[int]]] = {}
    if with_amount:
        amounts, waivers = _with_waivers(draw, amounts, described, skeleton)
    scope = draw(st.sampled_from(KeyScope))
    schema = Schema(
        census=CensusInfo(name="small", code=("TT", "2011")),
        entities=shape.entities,
        variables=(*described, *amounts, *id_variables(shape)),
        keys=KeyRules(space=draw(st.sampled_from(KEY_SPACES)), scope=scope),
    )
    schema = _with_universes(draw, schema, described)
    # What the units are is drawn from one number: simpler units would not make a failure clearer.
    sizes = {
        spec.entity: draw(st.sampled_from((most_units // 2, most_units, 3, 1, 0)))
        for spec in shape.entities
    }
    draws = random.Random(draw(st.integers(0, 1 << 32)))
    return SmallCensus(schema, random_units(schema, sizes, draws), waivers)


def _with_waivers(
    draw: st.DrawFn, amounts: Sequence[Variable], described: Sequence[Variable], skeleton: Schema
) -> tuple[list[Variable], dict[str, tuple[str, frozenset[int]]]]:
    """Amounts, some of whose contributors agreed to be shown, as codes of a variable say."""
    with_waivers: list[Variable] = []
    waivers: dict[str, tuple[str, frozenset[int]]] = {}
    for amount in amounts:
        known = [
            variable
            for variable in described
            if variable.entity in skeleton.lineage(amount.entity) and len(variable.codes) > 1
        ]
        if amount.role is Role.WEIGHT or not known or not draw(st.booleans()):
            with_waivers.append(amount)
            continue
        variable = draw(st.sampled_from(known))
        at = draw(st.integers(0, len(variable.codes) - 1))
        code = _quoted(variable.codes[at].code)
        text = f"{variable.name}@{variable.leaf_level} == {code}"
        with_waivers.append(replace(amount, waiver=text))
        waivers[amount.name] = variable.name, frozenset({at})
    return with_waivers, waivers


def _with_universes(draw: st.DrawFn, schema: Schema, described: Sequence[Variable]) -> Schema:
    """Up to two sets of leaves by a name of their own."""
    wide = [variable for variable in described if len(variable.codes) > 1]
    for at in range(draw(st.integers(0, 2)) if wide else 0):
        variable = draw(st.sampled_from(wide))
        size = len(variable.codes)
        places = draw(st.sets(st.integers(0, size - 1), min_size=1, max_size=size - 1))
        condition = set_condition(variable, np.isin(np.arange(size), sorted(places)))
        schema = with_universe(schema, DeclaredUniverse(name=f"u{at}", condition=condition))
    return schema


def _home(draw: st.DrawFn, shape: Shape) -> tuple[Entity, Entity]:
    """A kind of unit to describe, and the kind whose file says so."""
    spec = draw(st.sampled_from(shape.entities))
    return spec.entity, spec.derived_from or spec.entity


def _may_be_missing(schema: Schema, described: Entity) -> bool:
    """Whether some unit may have nobody to inherit from what describes that kind."""
    return any(
        schema.may_lack(child, parent)
        for spec in schema.entities
        for child, parent in _steps(schema, spec.entity, described)
    )


def _steps(schema: Schema, entity: Entity, ancestor: Entity) -> list[tuple[Entity, Entity]]:
    path = schema.path(entity, ancestor) or ()
    return list(zip((entity, *path), path, strict=False))


def _amounts(draw: st.DrawFn, shape: Shape, *, with_amount: bool) -> list[Variable]:
    amounts: list[Variable] = []
    if draw(st.booleans()):
        entity, file = _home(draw, shape)
        source = VariableSource(file=file.value, column="the weight")
        amounts.append(
            Variable(
                name="weight",
                entity=entity,
                role=Role.WEIGHT,
                continuous=True,
                decimals=draw(st.integers(0, 6)),
                source=source,
            )
        )
    if with_amount or draw(st.booleans()):
        entity, file = _home(draw, shape)
        owner = "owner" if with_amount and file is entity and draw(st.booleans()) else None
        source = VariableSource(
            file=file.value,
            column="amount",
            empty=EmptyField.NOT_STATED,
            owner=owner,
            owner_empty=EmptyOwner.ITSELF,
        )
        codes = (
            Code("under 100", lower=-(10**15), upper=99),
            Code("100+", lower=100),
            Code("refused", kind=CodeKind.NOT_STATED),
        )
        amounts.append(
            Variable(
                name="amount",
                entity=entity,
                codes=codes,
                continuous=True,
                decimals=draw(st.integers(0, 2)),
                owner=owner is not None,
                source=source,
            )
        )
    return amounts


@st.composite
def conditions(draw: st.DrawFn, usable: Sequence[Variable], depth: int = 2) -> Where:
    """A condition over variables at any level, with its meaning."""
    kind = draw(st.sampled_from(["compare", "not", "and", "or"] if depth else ["compare"]))
    if kind == "compare":
        return draw(_comparisons(usable))
    left = draw(conditions(usable, depth - 1))
    if kind == "not":
        return Where(f"not ({left.text})", lambda leaves: not left.holds(leaves))
    right = draw(conditions(usable, depth - 1))
    if kind == "and":
        return Where(
            f"({left.text}) and ({right.text})",
            lambda leaves: left.holds(leaves) and right.holds(leaves),
        )
    return Where(
        f"({left.text}) or ({right.text})",
        lambda leaves: left.holds(leaves) or right.holds(leaves),
    )


@st.composite
def _comparisons(draw: st.DrawFn, usable: Sequence[Variable]) -> Where:
    variable = draw(st.sampled_from(list(usable)))
    bounds = [code.lower for code in variable.codes if code.kind is CodeKind.VALID]
    if None not in bounds and not variable.continuous and draw(st.booleans()):
        return draw(_numeric_comparisons(variable))
    level = draw(st.sampled_from(list(variable.levels())))
    operator = draw(st.sampled_from(["==", "!=", "in", "not in"]))
    most = 3 if operator.endswith("in") else 1
    chosen = draw(
        st.lists(st.integers(0, len(level.codes) - 1), min_size=1, max_size=most, unique=True)
    )
    quoted = [_quoted(level.codes[at].code) for at in chosen]
    value = f"({', '.join(quoted)})" if operator.endswith("in") else quoted[0]
    name = f"{variable.name}@{level.name}"
    wanted = operator in ("==", "in")
    return Where(
        f"{name} {operator} {value}",
        lambda leaves: (level.group[leaves[variable.name]] in chosen) is wanted,
    )


@st.composite
def _numeric_comparisons(draw: st.DrawFn, variable: Variable) -> Where:
    """Missing codes lie on neither side of a number."""
    operator = draw(st.sampled_from(["<", "<=", ">", ">="]))
    limit = draw(st.integers(-4, 20))
    compare = {"<": gt, "<=": ge, ">": lt, ">=": le}[operator]
    chosen = {
        at
        for at, code in enumerate(variable.codes)
        if code.lower is not None and compare(limit, code.lower)
    }
    return Where(
        f"{variable.name} {operator} {limit}", lambda leaves: leaves[variable.name] in chosen
    )


def _quoted(code: str) -> str:
    return f'"{code}"' if "'" in code else f"'{code}'"


@st.composite
def axis_texts(draw: st.DrawFn, variable: Variable) -> str:
    """An axis at one or more levels, with or without its total, in any spelling."""
    named = draw(
        st.lists(
            st.sampled_from([level.name for level in variable.levels()]), min_size=1, unique=True
        )
    )
    leaves_only = named == [variable.leaf_level]
    text = variable.name
    if not (leaves_only and draw(st.booleans())):
        text += "@" + "+".join(named)
    return text + draw(st.sampled_from(["", "+total", "-total"]))


@st.composite
def table_requests(
    draw: st.DrawFn, census: SmallCensus, *, counts_only: bool = False, sums_only: bool = False
) -> TableRequest:
    """A table of any kind of unit on any axes, over any universe, of counts or of sums."""
    schema = census.schema
    kinds = [spec.entity for spec in schema.entities]
    if sums_only:
        kinds = [schema.variable("amount").entity]
    of = draw(st.sampled_from(kinds))
    usable = schema.usable(of)
    axes = draw(st.permutations(usable)) if usable else []
    axes = axes[: draw(st.sampled_from((2, 1, 3, 2, 4, 0)))]
    by = tuple(draw(axis_texts(axis)) for axis in axes)
    everything = draw(st.booleans())
    where = None if everything or not usable else draw(conditions(usable))
    lineage = schema.lineage(of)
    amounts = tuple(
        variable.name
        for variable in schema.variables
        if variable.continuous and variable.role is not Role.WEIGHT and variable.entity in lineage
    )
    has_weight = schema.weight(of) is not None
    own = [f"sum({name})" for name in amounts if schema.variable(name).entity is of]
    weighted = [f"weighted-{measure}" for measure in own if has_weight]
    counts = [] if sums_only else ["count"]
    measure = "count" if counts_only else draw(st.sampled_from([*counts, *own, *weighted]))
    return TableRequest(
        of=of,
        by=by,
        where=where,
        weights=measure.startswith("weighted") or (has_weight and draw(st.booleans())),
        sums=amounts if measure == "count" and draw(st.booleans()) else (),
        measure=measure,
        largest=draw(st.integers(0, 6)) if measure != "count" else 0,
        households=Entity.HOUSEHOLD in lineage and draw(st.booleans()),
    )


@st.composite
def censuses_with_tables(
    draw: st.DrawFn, *, most_units: int = 12, sums_only: bool = False, counts_only: bool = False
) -> tuple[SmallCensus, TableRequest]:
    """A census and a table of it: one of sums if ``sums_only``, of counts if ``counts_only``."""
    census = draw(small_censuses(most_units=most_units, with_amount=sums_only))
    table = draw(table_requests(census, sums_only=sums_only, counts_only=counts_only))
    return census, table
