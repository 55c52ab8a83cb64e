"""A design against the schema of a census: what its file holds, and what it leaves out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdcensus.errors import SpecError, UnknownName, unknown
from sdcensus.model.policy.rules import AtLevel
from sdcensus.model.release.file_variable import (
    FileDesign,
    FileVariable,
    RemovalReason,
    RemovedVariable,
)
from sdcensus.model.release.grouping import Grouping
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Design, ReleasePlan
from sdcensus.model.release.recode import Recode
from sdcensus.model.release.recoding import coarser_of, joined_recode, recoded
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import NEVER_STORED, Entity, Level, Role, Variable


def file_design(
    plan: ReleasePlan, design: Design, schema: Schema, groupings: Sequence[Grouping] = ()
) -> FileDesign:
    """What the file of a design holds.

    Roles decide, those of the plan before those of the schema. Direct identifiers, ids and links of
    records are in no file. Areas are in a file only if ``keep`` names them, whoever gets it, at the
    level that it names: ``keep = ["ed@parish"]`` tells the parish, in a column ``parish``.
    Administrative variables are in no file unless ``keep`` names them. Variables of poor quality
    leave public use files in the same way; licensed and full-count files hold them, as researchers
    under a licence can judge them and ask the office. Weights are no variables of a file: it has a
    weight of its own.

    Args:
        plan: Says roles, the class of users and the ladder.
        design: The design.
        schema: The census.
        groupings: Groups of small categories that the office has approved.

    Raises:
        SpecError: The design, the roles or the ladder name what the census does not have, or what
            cannot be done.
    """
    return _Resolution(plan, design, schema, groupings).resolved()


@dataclass(slots=True)
class _Resolution:
    plan: ReleasePlan
    design: Design
    schema: Schema
    groupings: Sequence[Grouping]
    recodes: Mapping[str, Recode] = field(init=False)
    kept: Mapping[str, tuple[AtLevel, ...]] = field(init=False)
    dropped: Mapping[str, AtLevel] = field(init=False)
    not_applied: list[str] = field(init=False, default_factory=list)

    def resolved(self) -> FileDesign:
        for name in self.plan.roles:
            self._variable(name, "[roles]")
        self.recodes = self._recodes()
        self.kept = self._kept()
        self.dropped = self._dropped()
        variables: list[FileVariable] = []
        removed: list[RemovedVariable] = []
        for variable in self.schema.variables:
            if self._role(variable) is Role.WEIGHT:
                self._refuse_weight(variable)
                continue
            reason = self._removal(variable)
            if reason is None:
                variables += self._told(variable)
            else:
                self._refuse_recode(variable, reason)
                removed.append(RemovedVariable(variable, reason))
        if not variables:
            raise SpecError(f"{self._here}: the file would hold no variable at all.")
        variables = list(self._grouped(variables, removed))
        _check_names(variables, self._here)
        ladder, absent = self._ladder(variables)
        return FileDesign(
            design=self.design,
            unit=self._unit,
            variables=tuple(variables),
            removed=tuple(removed),
            ladder=ladder,
            not_in_file=absent,
            not_applied=tuple(self.not_applied),
        )

    @property
    def _here(self) -> str:
        return f"Design {self.design.name!r}"

    @property
    def _unit(self) -> Entity:
        kinds = {spec.entity for spec in self.schema.entities}
        linked = Entity.PERSON not in kinds or self._leads(Entity.PERSON, Entity.HOUSEHOLD)
        return Entity.HOUSEHOLD if Entity.HOUSEHOLD in kinds and linked else Entity.PERSON

    def _leads(self, entity: Entity, above: Entity) -> bool:
        kinds = {spec.entity for spec in self.schema.entities}
        return {entity, above} <= kinds and self.schema.path(entity, above) is not None

    def _variable(self, name: str, where: str) -> Variable:
        try:
            return self.schema.variable(name)
        except UnknownName as error:
            raise UnknownName("variable", name, known=error.known, where=f"{where}: ") from None

    def _role(self, variable: Variable) -> Role | None:
        return self.plan.roles.get(variable.name, variable.role)

    def _is_area(self, variable: Variable) -> bool:
        """A plan may give areas another role; they stay areas, and so do the cells of a grid."""
        if variable.name in {grid.variable for grid in self.schema.grids}:
            return True
        return Role.GEOGRAPHY in (variable.role, self._role(variable))

    # ---------------------------------------------------------------- what the design says

    def _recodes(self) -> dict[str, Recode]:
        recodes: dict[str, Recode] = {}
        # What is said by name goes before what a preset says of the same variable.
        for recode in sorted(self.design.recodes, key=lambda recode: recode.optional):
            name = self._recoded_name(recode)
            if name is None or (recode.optional and name in recodes):
                continue
            if name in recodes:
                raise SpecError(f"{self._here} recodes {name!r} twice. Say it once.")
            recodes[name] = replace(recode, variable=name)
        return recodes

    def _recoded_name(self, recode: Recode) -> str | None:
        """The variable of a recode; that of a preset may have another name, or not exist."""
        names = {variable.name for variable in self.schema.variables}
        if recode.variable in names or not recode.optional:
            return self._variable(recode.variable, f"{self._here}, recodes").name
        if recode.variable in list(IndicatorRole):
            try:
                return variable_for(IndicatorRole(recode.variable), self.schema).name
            except SpecError as error:
                self.not_applied.append(f"{recode.variable}: {error}")
                return None
        self.not_applied.append(f"{recode.variable}: the census has no variable of that name.")
        return None

    def _applied(self, variable: Variable, recode: Recode | None) -> Recode | None:
        """A recode; ``None`` for one of a preset that this variable cannot have."""
        if recode is None or not recode.optional:
            return recode
        try:
            recoded(variable, recode)
        except SpecError as error:
            self.not_applied.append(f"{variable.name}: {error}")
            return None
        return recode

    def _kept(self) -> dict[str, tuple[AtLevel, ...]]:
        kept: dict[str, tuple[AtLevel, ...]] = {}
        for text in self.design.keep:
            at = AtLevel.parse(text)
            variable = self._variable(at.variable, f"{self._here}, keep")
            if at.level:
                variable.level(at.level)
            if not variable.stored or self._role(variable) in NEVER_STORED:
                raise SpecError(
                    f"{self._here} keeps {at.variable!r}, which identifies records and is never in"
                    " a file. Take it out of 'keep'."
                )
            if at in kept.get(variable.name, ()):
                raise SpecError(f"{self._here} keeps {text!r} twice. Say it once.")
            kept[variable.name] = (*kept.get(variable.name, ()), at)
        for name, levels in kept.items():
            if len(levels) > 1 and not self._is_area(self.schema.variable(name)):
                raise SpecError(
                    f"{self._here} keeps {name!r} at several levels. Only areas can be told at"
                    " several; name one."
                )
        return kept

    def _dropped(self) -> dict[str, AtLevel]:
        dropped: dict[str, AtLevel] = {}
        for text in self.design.drop:
            at = AtLevel.parse(text)
            variable = self._variable(at.variable, f"{self._here}, drop")
            if at.level:
                level = variable.level(at.level)
                if not self._is_area(variable) and level.name != variable.leaf_level:
                    raise SpecError(
                        f"{self._here} drops {text!r}. Leave out the whole variable, drop ="
                        f' ["{variable.name}"], or tell it coarser: recode = {{ {variable.name} ='
                        ' "..." }.'
                    )
            self._refuse_both(variable, at)
            dropped[variable.name] = at
        return dropped

    def _refuse_both(self, variable: Variable, dropped: AtLevel) -> None:
        """A kept level has to be coarser than the one that is dropped."""
        for kept in self.kept.get(variable.name, ()):
            coarse = variable.level(kept.level or None)
            fine = variable.level(dropped.level or None)
            if not dropped.level or coarse.name == fine.name or not fine.refines(coarse):
                raise SpecError(
                    f"{self._here} keeps {str(kept)!r} and drops {str(dropped)!r}. Decide for one."
                )

    def _refuse_weight(self, variable: Variable) -> None:
        name = variable.name
        if name in self.kept or name in self.recodes:
            raise SpecError(
                f"{self._here} names {name!r}, which is a weight. A file has a weight of its own;"
                " [make] nonresponse_weight says what is multiplied into it."
            )

    def _refuse_recode(self, variable: Variable, reason: RemovalReason) -> None:
        if variable.name not in self.recodes:
            return
        if self.recodes[variable.name].optional:
            self.not_applied.append(f"{variable.name}: the file does not hold it ({reason}).")
            return
        remedy = f'Add it to keep = ["{variable.name}"]'
        if reason is RemovalReason.GEOGRAPHY:
            remedy = f'Areas are kept by name, at a level: keep = ["{variable.name}@..."]'
        if reason is RemovalReason.DIRECT_IDENTIFIER:
            remedy = "It is in no file"
        raise SpecError(
            f"{self._here} recodes {variable.name!r}, which the file does not hold ({reason})."
            f" {remedy}, or take the recode out."
        )

    # ---------------------------------------------------------------- what the file holds

    def _removal(self, variable: Variable) -> RemovalReason | None:
        """Why a variable is not in the file; ``None`` if it is."""
        role, named = self._role(variable), variable.name in self.kept
        if not variable.stored or role in NEVER_STORED:
            return RemovalReason.DIRECT_IDENTIFIER
        if not named:
            if self._is_area(variable):
                return RemovalReason.GEOGRAPHY
            if variable.name in self.dropped:
                return RemovalReason.DESIGN
            if role is Role.ADMINISTRATIVE:
                return RemovalReason.ADMINISTRATIVE
            if role is Role.POOR_QUALITY and self.plan.licence is LicenceClass.PUBLIC_USE:
                return RemovalReason.POOR_QUALITY
        # What stands in no file: records of a kind that leads to no household and no person.
        told_of = self._entity(variable) is not None
        return None if told_of and (variable.codes or variable.continuous) else RemovalReason.DESIGN

    def _entity(self, variable: Variable) -> Entity | None:
        """The table of the file where a variable stands."""
        kind = variable.entity
        if self._unit is Entity.HOUSEHOLD and self._leads(Entity.HOUSEHOLD, kind):
            return Entity.HOUSEHOLD
        if kind is Entity.PERSON or self._leads(Entity.PERSON, kind):
            return Entity.PERSON
        return None

    def _told(self, variable: Variable) -> Iterator[FileVariable]:
        entity = self._entity(variable)
        assert entity is not None  # what has no place is removed
        levels = self.kept.get(variable.name, (AtLevel(variable.name),))
        for at in levels:
            recode = self._recode_at(variable, at)
            try:
                level = recoded(variable, recode)
            except SpecError as error:
                raise SpecError(f"{self._here}: {error}") from None
            yield FileVariable(
                name=self._name(variable, at),
                source=variable,
                entity=entity,
                level=level,
                amounts=variable.continuous and recode is None,
                role=self._role(variable),
                recode=recode,
            )

    def _recode_at(self, variable: Variable, at: AtLevel) -> Recode | None:
        recode = self._applied(variable, self.recodes.get(variable.name))
        if not at.level or variable.level(at.level).name == variable.leaf_level:
            return recode
        if recode is None:
            return Recode(variable=variable.name, level=at.level)
        if recode.level not in ("", at.level):
            raise SpecError(
                f"{self._here} keeps {str(at)!r} and recodes it to {recode.level!r}. Decide for"
                " one."
            )
        return replace(recode, level=at.level)

    def _name(self, variable: Variable, at: AtLevel) -> str:
        """Areas are called by their level, further ones by their own name as well."""
        if not self._is_area(variable):
            return variable.name
        level = variable.level(at.level or None).name
        own = f"{variable.name}_{level}" if level != variable.name else level
        if not variable.called_by_level:
            return own
        others = {other.name for other in self.schema.variables if other is not variable}
        return own if level in others else level

    def _grouped(
        self, variables: Sequence[FileVariable], removed: list[RemovedVariable]
    ) -> Iterator[FileVariable]:
        """The variables after small categories were merged."""
        mine = [
            each for each in self.groupings if not each.designs or self.design.name in each.designs
        ]
        by_name: dict[str, Grouping] = {}
        names = [variable.name for variable in variables]
        for grouping in mine:
            if grouping.variable in by_name:
                raise SpecError(
                    f"{self._here}: two groupings are about {grouping.variable!r}. Leave one."
                )
            # A file of groupings serves several designs: what this one does not hold is not asked.
            by_name[grouping.variable] = grouping
            if grouping.designs and grouping.variable not in names:
                raise SpecError(
                    f"{self._here}: {unknown('variable of the file', grouping.variable, names)}"
                )
        for variable in variables:
            own = by_name.get(variable.name)
            if own is None:
                yield variable
            elif own.drop:
                removed.append(RemovedVariable(variable.source, RemovalReason.THRESHOLD))
            else:
                recode = joined_recode(variable.recode, variable.source.name, own.groups)
                yield replace(
                    variable,
                    level=recoded(variable.source, recode),
                    recode=recode,
                    amounts=False,
                )

    # ---------------------------------------------------------------- the ladder

    def _ladder(
        self, variables: Sequence[FileVariable]
    ) -> tuple[tuple[FileVariable, ...], tuple[str, ...]]:
        """The keys as the file tells them, and those that it does not hold."""
        usable = self.schema.usable(Entity.PERSON)
        keys = self.plan.risk.ladder or tuple(
            variable.name for variable in usable if self._role(variable) is Role.KEY
        )
        ladder: list[FileVariable] = []
        absent: list[str] = []
        seen: dict[str, str] = {}
        for text in keys:
            at = AtLevel.parse(text)
            variable = self._variable(at.variable, "The ladder")
            level = variable.level(at.level or None) if variable.codes else None
            if variable.name in seen:
                raise SpecError(
                    f"The ladder has {seen[variable.name]!r} and {text!r}, which is the same"
                    " variable. Leave one of them."
                )
            seen[variable.name] = text
            if variable not in usable or level is None:
                raise SpecError(
                    f"The ladder has {text!r}, by which persons cannot be told apart: it has no"
                    " codes, is never stored, or is about units that hold no persons. Take it out."
                )
            self.schema.inherited_missing(Entity.PERSON, variable)
            key = _key(variables, variable, level)
            if key is None:
                absent.append(text)
            else:
                ladder.append(key)
        return tuple(ladder), tuple(absent)


def _key(
    variables: Sequence[FileVariable], variable: Variable, level: Level
) -> FileVariable | None:
    """A key as the file tells it: at the level of the ladder, or coarser."""
    in_file = [each for each in variables if each.source is variable]
    if not in_file:
        return None
    finest = max(in_file, key=lambda each: len(each.level.codes))
    chosen = coarser_of(level, finest.level)
    if chosen == finest.level:
        return finest
    return replace(finest, level=chosen, amounts=False)


def _check_names(variables: Sequence[FileVariable], where: str) -> None:
    names = [variable.name for variable in variables]
    for name in dict.fromkeys(names):
        if names.count(name) > 1:
            raise SpecError(f"{where}: two variables of the file would be called {name!r}.")
