"""What the parts of a release document mean together, and against the census that it is about."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from sdcensus.documents.release.sections import MATCHED, SwapSection, TreatmentSection
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SdcensusError, SpecError, unknown
from sdcensus.model.method.registry import Part, declared, parsed_settings
from sdcensus.model.policy.rules import AtLevel
from sdcensus.model.release.plan import Design, ReleasePlan, RiskRules, Treatment
from sdcensus.model.release.recoding import recoded
from sdcensus.model.release.resolution import file_design
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Role
from sdcensus.model.spec.universe import universe_of

#: Methods that exchange places: they are for files that keep a place.
_EXCHANGES_PLACES = ("targeted-swap", "random-swap", "proportional-swap")


@dataclass(frozen=True, slots=True)
class AgainstCensus:
    """A plan, and what is wrong with it.

    Attributes:
        plan: The plan.
        schema: The census, if it is known.
        mistakes: Is told what is wrong.
    """

    plan: ReleasePlan
    schema: Schema | None
    mistakes: Mistakes

    def keeps_areas(self, design: Design) -> bool:
        """Whether a design keeps a geography; without a census, whether it keeps anything."""
        if self.schema is None:
            return bool(design.keep)
        geographies = {variable.name for variable in self.schema.geographies}
        geographies |= {name for name, role in self.plan.roles.items() if role is Role.GEOGRAPHY}
        return any(AtLevel.parse(text).variable in geographies for text in design.keep)

    def check_designs(self, names: Sequence[str], path: KeyPath) -> bool:
        """Whether all designs of a list exist."""
        known = [design.name for design in self.plan.designs]
        wrong = [at for at, name in enumerate(names) if name not in known]
        for at in wrong:
            self.mistakes.add((*path, at), unknown("design", names[at], known))
        return not wrong

    def check_ladder(self) -> None:
        """Each variable stands once in the ladder, at whatever level."""
        seen: dict[str, str] = {}
        for at, text in enumerate(self.plan.risk.ladder):
            name = AtLevel.parse(text).variable
            if name in seen:
                self.mistakes.add(
                    ("risk", "ladder", at),
                    f"the ladder has {seen[name]!r} and {text!r}, which is the same variable."
                    " Leave one of them.",
                )
            seen[name] = text
        known_keys = self.plan.risk.known_keys
        if known_keys is not None and seen and known_keys > len(seen):
            self.mistakes.add(
                ("risk", "known_keys"),
                f"an intruder knows {known_keys} keys, and the ladder has {len(seen)}. Say at most"
                f" {len(seen)}.",
            )

    def _twice(self) -> bool:
        """Whether a variable stands twice in the ladder, which has been told."""
        names = [AtLevel.parse(text).variable for text in self.plan.risk.ladder]
        return len(set(names)) < len(names)

    # ---------------------------------------------------------------- the census

    def check_against_schema(self) -> None:
        """Variables, levels, codes and conditions are those of the census."""
        if self.schema is None:
            return
        before = len(self.mistakes.found)
        for path, name in self._names():
            self._variable(name, path)
        for path, text in self._conditions():
            try:
                universe_of(text, self.schema)
            except SpecError as error:
                self.mistakes.add(path, str(error))
        named = len(self.mistakes.found) > before
        for design in self.plan.designs:
            if self._check_parts(design, self.schema) or named:
                continue
            # The ladder is the same for all designs: what is wrong with it is told once.
            plan = replace(self.plan, risk=RiskRules())
            try:
                file_design(plan, design, self.schema)
            except SpecError as error:
                self.mistakes.add((*self._place(design), "name"), str(error))
                continue
            if self._twice():
                continue
            try:
                file_design(self.plan, design, self.schema)
            except SpecError as error:
                self.mistakes.add(("risk", "ladder"), str(error))

    def _check_parts(self, design: Design, schema: Schema) -> bool:
        """Tell every part of a design that the census cannot have; whether there are some."""
        names = {variable.name for variable in schema.variables}
        roles = {name: role for name, role in self.plan.roles.items() if name in names}
        plan = replace(self.plan, risk=RiskRules(), roles=roles)
        bare = replace(design, keep=(), drop=(), recodes=())
        before = len(self.mistakes.found)
        parts = [
            *(("keep", at, replace(bare, keep=(text,))) for at, text in enumerate(design.keep)),
            *(("drop", at, replace(bare, drop=(text,))) for at, text in enumerate(design.drop)),
        ]
        for setting, at, part in parts:
            try:
                file_design(plan, part, schema)
            except SpecError as error:
                self.mistakes.add((*self._place(design), setting, at), str(error))
        for recode in design.recodes:
            try:
                if not recode.optional:
                    recoded(schema.variable(recode.variable), recode)
            except SpecError as error:
                self.mistakes.add(self._recode_place(design, recode.variable), str(error))
        return len(self.mistakes.found) > before

    def _recode_place(self, design: Design, variable: str) -> KeyPath:
        """Where a design first says how a variable is told."""
        place = self._place(design)
        tables = self.mistakes.document.data.get("design", [])
        table = tables[place[1]] if len(place) > 1 else {}
        for setting in ("recode", "bottom_code", "top_code", "merge"):
            if variable in table.get(setting, {}):
                return (*place, setting, variable)
        return (*place, "name")

    def intruder_place(self, at: int) -> KeyPath:
        """Where an intruder stands: in a list, or alone in a table."""
        alone = isinstance(self.mistakes.document.data.get("intruder"), dict)
        return ("intruder",) if alone else ("intruder", at)

    def _place(self, design: Design) -> KeyPath:
        tables = self.mistakes.document.data.get("design", [])
        for at, table in enumerate(tables if isinstance(tables, list) else ()):
            if isinstance(table, dict) and str(table.get("name", "")).strip() == design.name:
                return ("design", at)
        return ("preset",)

    def _names(self) -> Iterator[tuple[KeyPath, str]]:
        """Variables that are named outside designs, with their places."""
        plan = self.plan
        lists: list[tuple[KeyPath, Sequence[str]]] = [
            (("risk", "ladder"), plan.risk.ladder),
            (("risk", "composition"), plan.risk.composition),
            (("risk", "sensitive"), plan.risk.sensitive),
            (("make", "imputation_flags"), plan.making.imputation_flags),
        ]
        if plan.suppression is not None:
            lists.append((("suppress", "keys"), plan.suppression.keys))
        lists += [
            (("extract", at, "variables"), extract.variables)
            for at, extract in enumerate(plan.extracts)
        ]
        for at, intruder in enumerate(plan.intruder):
            place = self.intruder_place(at)
            lists.append(((*place, "keys"), intruder.keys))
            for errors in ("file_errors", "external_errors"):
                for name in getattr(intruder, errors):
                    yield (*place, errors, name), name
        for path, names in lists:
            for at, name in enumerate(names):
                yield (*path, at), name
        for name in plan.roles:
            yield ("roles", name), name
        for name, _ in plan.thresholds.exempt:
            yield ("thresholds", "exempt", name), name
        if plan.making.nonresponse_weight not in ("", "none"):
            yield ("make", "nonresponse_weight"), plan.making.nonresponse_weight
        if plan.suppression is not None:
            for name in plan.suppression.importance:
                yield ("suppress", "importance", name), name
            if plan.suppression.strata:
                yield ("suppress", "strata"), plan.suppression.strata

    def _conditions(self) -> Iterator[tuple[KeyPath, str]]:
        if self.plan.institutions:
            yield ("institutions", "where"), self.plan.institutions
        for at, model in enumerate(self.plan.models):
            if model.where:
                yield ("model", at, "where"), model.where
        for at, extract in enumerate(self.plan.extracts):
            if extract.where:
                yield ("extract", at, "where"), extract.where

    def _variable(self, text: str, path: KeyPath) -> None:
        assert self.schema is not None
        at = AtLevel.parse(text)
        try:
            variable = self.schema.variable(at.variable)
            if at.level:
                variable.level(at.level)
        except SpecError as error:
            self.mistakes.add(path, str(error))

    def indicator(self, role: IndicatorRole, name: str, path: KeyPath) -> str:
        """The variable that is the age or the sex, by its name."""
        if name or self.schema is None:
            return name or role.value
        try:
            return variable_for(role, self.schema).name
        except SdcensusError as error:
            self.mistakes.add(path, f'{error} Or here: {role} = "...".')
            return role.value


def swap_treatment(section: SwapSection, against: AgainstCensus) -> Treatment | None:
    """``[swap]``, which is short for a swap of households in proportion to their risk."""
    mistakes, plan = against.mistakes, against.plan
    before = len(mistakes.found)
    if section.rate_by != "household-risk":
        mistakes.add(
            ("swap", "rate_by"), unknown("rule of rates", section.rate_by, ["household-risk"])
        )
    for at, word in enumerate(section.match):
        if word not in MATCHED:
            mistakes.add(("swap", "match", at), unknown("thing to match", word, list(MATCHED)))
    if not set(section.match) & (set(MATCHED) - {"size"}):
        mistakes.add(
            ("swap", "match"),
            "households match by their members: name at least one of children_by_sex,"
            " adults_by_sex and older_by_sex. Equal members are an equal size.",
        )
    designs = tuple(design.name for design in plan.designs if against.keeps_areas(design))
    if plan.designs and not designs:
        mistakes.add(
            ("swap",),
            "a swap exchanges places, and no design keeps a geography. Add keep ="
            ' ["VARIABLE@LEVEL"] to the design that it is for, or take [swap] out.',
        )
    if not plan.risk.ladder:
        mistakes.add(
            ("swap",),
            "the risk of households is counted by the keys of the ladder, and there are none: say"
            ' [risk] ladder = ["age", "sex", ...].',
        )
    age = against.indicator(IndicatorRole.AGE, section.age, ("swap", "match"))
    sex = against.indicator(IndicatorRole.SEX, section.sex, ("swap", "match"))
    if len(mistakes.found) > before:
        return None
    cuts = sorted({cut for word in section.match if (cut := MATCHED[word]) is not None})
    members = ",".join([sex, *([":".join([age, *map(str, cuts)])] if cuts else [])])
    within = f" within={section.within}" if section.within else ""
    return Treatment(
        method=f"proportional-swap risk_variables={','.join(plan.risk.ladder)}"
        f" rate={section.share} members={members}{within}",
        designs=designs,
    )


def check_treatment(
    section: TreatmentSection, path: KeyPath, against: AgainstCensus
) -> Treatment | None:
    """A method that changes records, with the designs that it is for."""
    mistakes, plan = against.mistakes, against.plan
    before = len(mistakes.found)
    name = ""
    try:
        name, *settings = shlex.split(section.method) or [""]
        parsed_settings(settings, [declared(Part.PRE_TABULAR, name)])
    except (SpecError, ValueError) as error:
        mistakes.add((*path, "method"), str(error))
    against.check_designs(section.designs, (*path, "designs"))
    designs = tuple(section.designs)
    if name in _EXCHANGES_PLACES and plan.designs:
        keeping = [design.name for design in plan.designs if against.keeps_areas(design)]
        for at, design in enumerate(designs):
            if design not in keeping:
                mistakes.add(
                    (*path, "designs", at),
                    f"{name} exchanges places, and design {design!r} keeps no geography. Leave it"
                    " out of the list, or keep one.",
                )
        if not designs and not keeping:
            mistakes.add(
                (*path, "method"),
                f"{name} exchanges places, and no design keeps a geography. Add keep ="
                ' ["VARIABLE@LEVEL"] to the design that it is for, or take it out.',
            )
        designs = designs or tuple(keeping)
    if len(mistakes.found) > before:
        return None
    return Treatment(method=section.method, designs=designs)
