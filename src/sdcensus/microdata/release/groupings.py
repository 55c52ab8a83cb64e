"""Categories of a file that have too few units in the full census, and how to merge them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.grouping import Grouping, GroupingRow
from sdcensus.model.release.plan import SmallOther, Thresholds
from sdcensus.model.release.recode import CodeGroup, GroupKind
from sdcensus.model.schema.variable import CodeKind, Entity, Level
from sdcensus.model.text import Text
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]

OTHER = "other"
NOT_STATED = "not_stated"
_OTHER_OF = Text.named("release_plan.other_of")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class CategorySizes(Confidential):
    """How many units of the full census each category of a variable has.

    Attributes:
        variable: The variable of the file.
        counts: Units by the position of the code; persons, or households for what stands there.
        least: How many a category has to have.
        exempt: Why the variable is left as it is; ``None`` if it is not exempt.
        grouping: What is proposed; ``None`` where nothing is too small.
    """

    variable: FileVariable
    counts: Int64
    least: int
    exempt: str | None = None
    grouping: Grouping | None = None

    def __repr__(self) -> str:
        return "<CategorySizes: confidential>"

    @property
    def small(self) -> tuple[str, ...]:
        """The codes that have too few; none of an exempt variable."""
        if self.exempt is not None:
            return ()
        codes = self.variable.level.codes
        return tuple(codes[at].code for at in _valid(self.variable.level) if self._few(at))

    def _few(self, position: int) -> bool:
        return int(self.counts[position]) < self.least


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class GroupingProposal(Confidential):
    """What to do about the small categories of a design's file.

    Attributes:
        design: The file.
        variables: All its variables with codes, with sizes.
    """

    design: FileDesign
    variables: tuple[CategorySizes, ...]

    def __repr__(self) -> str:
        return "<GroupingProposal: confidential>"

    @property
    def groupings(self) -> tuple[Grouping, ...]:
        """What is proposed, as a design takes it."""
        return tuple(each.grouping for each in self.variables if each.grouping is not None)

    def rows(self) -> Iterator[GroupingRow]:
        """The categories of variables with small ones, for the office to edit. Tells no size."""
        for sizes in self.variables:
            if sizes.grouping is None:
                continue
            group_of = {code: group for group in sizes.grouping.groups for code in group.members}
            for at in _valid(sizes.variable.level):
                code = sizes.variable.level.codes[at]
                yield GroupingRow(
                    design=self.design.design.name,
                    variable=sizes.variable.name,
                    code=code.code,
                    label=code.label,
                    group=group_of.get(code.code),
                    drop=sizes.grouping.drop,
                )

    def sizes(self) -> Mapping[tuple[str, str], int]:
        """Units by variable and code, for the office's own copy of the file."""
        return {
            (sizes.variable.name, code.code): int(count)
            for sizes in self.variables
            for code, count in zip(sizes.variable.level.codes, sizes.counts, strict=True)
        }


def small_categories(
    store: CensusStore,
    design: FileDesign,
    thresholds: Thresholds,
    progress: Progress = no_progress,
) -> GroupingProposal:
    """Count each category in the full census, and propose what becomes of small ones.

    Numbers go together with their neighbours. Other categories go together with small siblings
    under the same code of the variable's hierarchy; what is still too small becomes "other"; and if
    that is too small as well, the thresholds say what happens. "Not stated" and "not applicable"
    may be small. A variable of which less than two categories would be left is left out.

    Raises:
        Refused: No variable would be left.
    """
    exempt = dict(thresholds.exempt)
    categorical = [each for each in design.variables if each.level.codes and not each.amounts]
    every = []
    for done, variable in enumerate(categorical):
        progress("counting categories", done / len(categorical))
        least = thresholds.persons
        if variable.entity is Entity.HOUSEHOLD:
            least = thresholds.households
        reason = exempt.get(variable.name, exempt.get(variable.source.name))
        counts = category_counts(store, variable)
        grouping = None
        if reason is None:
            grouping = _proposal(variable, counts, least, thresholds.small_other, design)
        every.append(
            CategorySizes(
                variable=variable, counts=counts, least=least, exempt=reason, grouping=grouping
            )
        )
    dropped = [each for each in every if each.grouping is not None and each.grouping.drop]
    if dropped and len(dropped) == len(design.variables):
        raise Refused(
            f"Design {design.design.name!r}: no category of any variable is as large as"
            " [thresholds] asks for, so nothing would be left. Say lower numbers of persons and"
            " households, or name variables that are exempt with a reason."
        )
    return GroupingProposal(design=design, variables=tuple(every))


def category_counts(store: CensusStore, variable: FileVariable) -> Int64:
    """How many units of the full census each code of a variable of a file tells."""
    entity = variable.entity
    leaves = store.column(entity, variable.source)[slice(0, store.rows(entity))]
    by_leaf = np.bincount(leaves, minlength=len(variable.source.codes))
    counts = np.zeros(len(variable.level.codes), dtype=np.int64)
    np.add.at(counts, variable.level.group_array, by_leaf[: len(variable.source.codes)])
    return counts


def check_thresholds(
    store: CensusStore,
    design: FileDesign,
    thresholds: Thresholds,
    progress: Progress = no_progress,
) -> None:
    """Refuse a file with categories that are too small, whoever has approved them.

    Raises:
        Refused: Some are; each variable is named with its codes, and no size.
    """
    proposal = small_categories(store, design, thresholds, progress)
    small = {each.variable.name: each.small for each in proposal.variables if each.small}
    if not small:
        return
    lines = [
        f"  {name}: {', '.join(map(repr, codes[:8]))}"
        f"{f' and {len(codes) - 8} more' if len(codes) > 8 else ''}"
        for name, codes in small.items()
    ]
    raise Refused(
        "\n".join(
            [
                f"Design {design.design.name!r}: these categories have fewer persons or households"
                " in the census than [thresholds] asks for:",
                *lines,
                "Merge them in the file of groupings, leave the variable out, or name it with a"
                ' reason: [thresholds] exempt = { VARIABLE = "reason" }.',
            ]
        )
    )


def _valid(level: Level) -> list[int]:
    return [at for at, code in enumerate(level.codes) if not code.is_missing]


@dataclass(slots=True, repr=False)
class _Bundle(Confidential):
    """Codes that go together so far, with how many units they have."""

    members: list[int]
    size: int
    name: str = ""
    label: Text = Text()
    kind: GroupKind = GroupKind.CODE

    def __repr__(self) -> str:
        return "<codes that go together: confidential>"


def _proposal(
    variable: FileVariable, counts: Int64, least: int, rule: SmallOther, design: FileDesign
) -> Grouping | None:
    """What becomes of the small categories of one variable; ``None`` if it has none."""
    level = variable.level
    bundles = [_Bundle([at], int(counts[at])) for at in _valid(level)]
    if all(bundle.size >= least for bundle in bundles):
        return None
    whole = Grouping(variable=variable.name, designs=(design.design.name,))
    number = all(level.codes[at].lower is not None for at in _valid(level))
    if number:
        bundles = _with_neighbours(bundles, least)
    else:
        bundles = _with_siblings(variable, bundles, least)
        rest = _with_rest(level, bundles, least, rule)
        if rest is None:
            return replace(whole, drop=True)
        bundles = rest
    left = [bundle for bundle in bundles if bundle.kind is not GroupKind.NOT_STATED]
    if any(bundle.size < least for bundle in left) or len(left) < min(2, len(_valid(level))):
        return replace(whole, drop=True)
    groups: list[CodeGroup] = []
    # In the order of the code list: the order of sizes would tell which category is the smallest.
    for bundle in sorted(bundles, key=lambda bundle: min(bundle.members)):
        if len(bundle.members) > 1 or bundle.kind is not GroupKind.CODE:
            groups.append(_code_group(level, bundle, {group.code for group in groups}))
    return replace(whole, groups=tuple(groups))


def _code_group(level: Level, bundle: _Bundle, used: Set[str]) -> CodeGroup:
    codes = tuple(level.codes[at].code for at in sorted(bundle.members))
    taken = {code.code for code in level.codes} - set(codes) | used
    name = bundle.name or codes[0]
    while name in taken and bundle.kind is not GroupKind.NOT_STATED:
        name += "_"
    return CodeGroup(code=name, members=codes, label=bundle.label, kind=bundle.kind)


def _joined(bundles: Sequence[_Bundle], *, name: str = "", label: Text = Text()) -> _Bundle:
    members = [at for bundle in bundles for at in bundle.members]
    return _Bundle(members, sum(bundle.size for bundle in bundles), name, label)


def _with_neighbours(bundles: Sequence[_Bundle], least: int) -> list[_Bundle]:
    """Numbers in their order: the smallest goes to its smaller neighbour until none is small."""
    order = list(bundles)
    while len(order) > 1:
        at = min(range(len(order)), key=lambda at: (order[at].size, -at))
        if order[at].size >= least:
            break
        beside = [other for other in (at - 1, at + 1) if 0 <= other < len(order)]
        other = min(beside, key=lambda other: order[other].size)
        first = min(at, other)
        order[first : first + 2] = [_joined(order[first : first + 2])]
    return order


def _parents(variable: FileVariable) -> Iterator[Level]:
    """The levels above that of the file, the finest first."""
    for hierarchy in variable.source.hierarchies[:1]:
        for level in hierarchy.levels:
            coarser = len(level.codes) < len(variable.level.codes)
            if not level.universe and coarser and variable.level.refines(level):
                yield level


def _with_siblings(variable: FileVariable, bundles: Sequence[_Bundle], least: int) -> list[_Bundle]:
    """Small categories go together with siblings, as far as that makes them large enough."""
    current = list(bundles)
    for level in _parents(variable):
        above = dict(zip(variable.level.group, level.group, strict=True))
        families: dict[int, list[_Bundle]] = {}
        for bundle in current:
            families.setdefault(above[bundle.members[0]], []).append(bundle)
        current = []
        for parent, children in families.items():
            code = level.codes[parent]
            if code.is_missing or sum(child.size for child in children) < least:
                current += children
                continue
            small, rest = _small_ones(children, least)
            if len(small) > 1 and not rest:
                current.append(_joined(small, name=code.code, label=code.label))
            elif len(small) > 1:
                label = _OTHER_OF.filled(parent=code.label)
                current += [*rest, _joined(small, name=f"{code.code}-{OTHER}", label=label)]
            else:
                current += children
    return current


def _small_ones(bundles: Sequence[_Bundle], least: int) -> tuple[list[_Bundle], list[_Bundle]]:
    """Those that are too small, with the next smallest until they are enough; and the others."""
    order = sorted(bundles, key=lambda bundle: (bundle.size, bundle.members))
    small = [bundle for bundle in order if bundle.size < least]
    rest = order[len(small) :]
    while small and rest and sum(bundle.size for bundle in small) < least:
        small.append(rest.pop(0))
    return small, rest


def _with_rest(
    level: Level, bundles: Sequence[_Bundle], least: int, rule: SmallOther
) -> list[_Bundle] | None:
    """What is still too small becomes "other", or what the rule says; ``None`` to leave it out."""
    small = [bundle for bundle in bundles if bundle.size < least]
    if not small:
        return list(bundles)
    large = [bundle for bundle in bundles if bundle.size >= least]
    if sum(bundle.size for bundle in small) < least:
        match rule:
            case SmallOther.DROP:
                return None
            case SmallOther.NOT_STATED:
                own = [code.code for code in level.codes if code.kind is CodeKind.NOT_STATED]
                blank = _joined(small, name=own[0] if own else NOT_STATED)
                blank.kind = GroupKind.NOT_STATED
                return [*large, blank]
            case SmallOther.MERGE_NEXT:
                small, large = _small_ones(bundles, least)
    other = _joined(small, name=OTHER)
    other.kind = GroupKind.OTHER
    return [*large, other]
