"""What ``release.toml`` says: designs to compare, what is measured, and the file to make."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from fractions import Fraction
from pathlib import Path

from sdcensus.errors import SpecError, unknown
from sdcensus.model.release.licence import ACCEPTANCE, Acceptance, LicenceClass
from sdcensus.model.release.recode import Recode
from sdcensus.model.schema.variable import Role
from sdcensus.model.text import Text


class MissingValues(StrEnum):
    """How keys that are not stated are counted."""

    ADJUST = "adjust"
    CATEGORY = "category"


class LargeHouseholds(StrEnum):
    """What happens to households that are so large that they are known.

    ``draw-again``: they are drawn from a list without areas. ``perturb-ages``: ages of their
    members are moved. ``apart``: their members are drawn and told one by one, and not as a
    household. ``keep``: nothing.
    """

    DRAW_AGAIN = "draw-again"
    PERTURB_AGES = "perturb-ages"
    APART = "apart"
    KEEP = "keep"


class Layout(StrEnum):
    """How the units of a file stand in files on disk."""

    LINKED = "linked"
    FLAT = "flat"


class MicrodataFormat(StrEnum):
    """Formats of the records."""

    CSV = "csv"
    PARQUET = "parquet"
    SAV = "sav"
    DTA = "dta"


class Documentation(StrEnum):
    """Papers that go with the records."""

    DDI = "ddi"
    NADA = "nada"
    HTML = "html"


@dataclass(frozen=True, slots=True, kw_only=True)
class Design:
    """A file that could be made.

    Attributes:
        name: How commands and reports call it.
        fraction: The share of households (persons where there are none) that it holds.
        keep: Geographies (``ed@parish``) and variables that the file holds although their role
            would keep them out.
        drop: Variables, or variables at a level, that it does not hold.
        recodes: How it tells variables.
    """

    name: str
    fraction: Fraction
    keep: tuple[str, ...] = ()
    drop: tuple[str, ...] = ()
    recodes: tuple[Recode, ...] = ()

    def __post_init__(self) -> None:
        if not 0 < self.fraction <= 1:
            raise SpecError(
                f"Design {self.name!r} samples {self.fraction} of the households. Say a share above"
                " 0 and at most 1, such as 0.1 for one in ten."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class RiskRules:
    """What is measured.

    Attributes:
        ladder: Key variables, the best known first: ``age``, ``ed@parish``.
        k: How many should share their keys in the population.
        missing: How keys that are not stated are counted; the other way is shown beside it.
        known_keys: With how many keys of the ladder files are judged; all if ``None``.
        composition: What a neighbour knows about each member of a household; the variables with
            the roles of age and sex if empty.
        sensitive: Variables whose diversity is measured, besides those whose role says so.
        closeness: The largest distance that is accepted for them (t-closeness).
        diversity: The fewest values in a class that are accepted (l-diversity).
        sampled: The share of the population that the store holds, for offices that hold only a
            sample; what its weights say if ``None``.
    """

    ladder: tuple[str, ...] = ()
    k: int = 3
    missing: MissingValues = MissingValues.ADJUST
    known_keys: int | None = None
    composition: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    closeness: float = 0.5
    diversity: int = 2
    sampled: Fraction | None = None


class SmallOther(StrEnum):
    """What happens where the rest of a variable's small categories is itself too small."""

    MERGE_NEXT = "merge-next"
    NOT_STATED = "not-stated"
    DROP = "drop"


@dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """How many a category of the full census has to have.

    Attributes:
        persons, households: The fewest of each.
        exempt: Variables that are left as they are, with the reason.
        small_other: What becomes of a rest that is too small.
        groupings: The file of groups that the office has approved; ``None`` before that.
        approved_by: Who has approved it.
    """

    persons: int = 250
    households: int = 60
    exempt: tuple[tuple[str, str], ...] = ()
    small_other: SmallOther = SmallOther.MERGE_NEXT
    groupings: Path | None = None
    approved_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Treatment:
    """A method that changes records, for some designs.

    Attributes:
        method: A pre-tabular method as one line, ``targeted-swap rate=0.05 within=district``.
        designs: The designs whose file it changes; all if empty.
    """

    method: str
    designs: tuple[str, ...] = ()


class Blanks(StrEnum):
    """Whom a record with blanks is a companion of.

    ``own``: of those who have at least the same blanks; others have to state what a record states.
    ``any``: of everybody who states nothing else, as a missing key matches any value.
    """

    OWN = "own"
    ANY = "any"


@dataclass(frozen=True, slots=True, kw_only=True)
class Suppression:
    """Keys that are blanked so that no record has fewer than ``k`` like it.

    Attributes:
        k: How many records of the file (weighed by nothing) should be alike.
        keys: The keys; those of the ladder if empty.
        importance: How much the office would rather keep a key, by name; 1 if not named.
        strata: A variable within whose categories it is done.
        designs: The designs whose file it changes; all if empty.
        blanks: Whom a record with blanks is a companion of.
    """

    k: int = 3
    keys: tuple[str, ...] = ()
    importance: Mapping[str, float] = field(default_factory=dict)
    strata: str = ""
    designs: tuple[str, ...] = ()
    blanks: Blanks = Blanks.OWN


@dataclass(frozen=True, slots=True, kw_only=True)
class Survey:
    """A household survey of the country, to compare sizes and errors with.

    Attributes:
        name: What it is called.
        households, persons: Its sample; 0 where it is not known.
        design_effect: How much larger its variances are than those of as many persons drawn one by
            one; that of the file itself if ``None``.
    """

    name: str
    households: int = 0
    persons: int = 0
    design_effect: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelQuestion:
    """A model whose coefficients are compared before and after.

    Attributes:
        name: What it is called.
        formula: ``outcome ~ age + sex``; the outcome is an amount, or ``variable == code``.
        where: Which persons it is about; a condition in the grammar of plans.
    """

    name: str
    formula: str
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extract:
    """A researcher's part of a design: some variables, some records.

    Attributes:
        name: What it is called.
        variables: What it holds; all if empty.
        where: Which records it holds; all if empty.
    """

    name: str
    variables: tuple[str, ...] = ()
    where: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class IntruderRules:
    """An intruder who matches a file from elsewhere with the file of a design.

    Attributes:
        name: What the scenario is called.
        keys: What the external file holds, as the design tells it; those of the ladder if empty.
        coverage: The share of the population that the external file holds.
        file_errors: By key how often the census and the file made from it are wrong.
        external_errors: By key how often the external file is wrong.
        file_error, external_error: The same for keys that are not named.
        years: How much older than the census the external file is; below 0 for one that is newer.
        moves: Which share of persons moves to another area in a year.
        disagreeing: On how many keys a link may disagree; 0 for exact links only.
        designs: The designs whose file is matched; all if empty.
    """

    name: str = "intruder"
    keys: tuple[str, ...] = ()
    coverage: float = 1.0
    file_errors: Mapping[str, float] = field(default_factory=dict)
    external_errors: Mapping[str, float] = field(default_factory=dict)
    file_error: float = 0.0
    external_error: float = 0.0
    years: int = 0
    moves: float = 0.0
    disagreeing: int = 1
    designs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        shares = {
            "coverage": self.coverage,
            "file_error": self.file_error,
            "external_error": self.external_error,
            "moves": self.moves,
            **{f"file_errors.{key}": share for key, share in self.file_errors.items()},
            **{f"external_errors.{key}": share for key, share in self.external_errors.items()},
        }
        for name, share in shares.items():
            if not 0 <= share <= 1:
                raise SpecError(
                    f"The intruder {self.name!r} has {name} = {share}. Say a share from 0 to 1."
                )
        if self.coverage == 0:
            raise SpecError(
                f"The external file of the intruder {self.name!r} covers nobody. Say a coverage"
                " above 0, such as 0.3."
            )
        if self.disagreeing < 0:
            raise SpecError(
                f"The intruder {self.name!r} lets links disagree on {self.disagreeing} keys. Say 0"
                " for exact links, or 1."
            )


@dataclass(frozen=True, slots=True, kw_only=True)
class Making:
    """The file to make.

    Attributes:
        design: Which design; the only one if empty.
        formats: Formats of the records.
        documentation: Papers beside them.
        layout: Households and persons in files of their own, or one flat file of persons.
        imputation_flags: Variables whose imputation is told.
        members_by: The variable of the file, such as the relationship to the head, by whose codes
            members of a household stand; an order that is drawn if empty.
        nonresponse_weight: The census' own weight that is multiplied in; ``none`` for none, the
            weight that the schema names if empty.
        weight_classes: At most so many different weights; more are coarsened.
        delete: A file of records that are left out, by digest or id.
        harmonisation: A mapping to an international coding.
        languages: Languages of labels and papers; those of the census if empty.
    """

    design: str = ""
    formats: tuple[MicrodataFormat, ...] = (MicrodataFormat.CSV,)
    documentation: tuple[Documentation, ...] = (Documentation.DDI, Documentation.HTML)
    layout: Layout = Layout.LINKED
    imputation_flags: tuple[str, ...] = ()
    members_by: str = ""
    nonresponse_weight: str = ""
    weight_classes: int = 10
    delete: Path | None = None
    harmonisation: Path | None = None
    languages: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ReleasePlan:
    """Everything that an office decides about files for researchers.

    Attributes:
        name: The file's short name: it names files on disk, and its sample is drawn by it.
        title, abstract: What catalogues show.
        producer: The office.
        contact: Where to apply.
        store: The census.
        office: The office folder: register, assessments, and what was done.
        licence: Who gets it.
        acceptance: What that class accepts.
        roles: Roles that differ from the schema's, by variable.
        designs: Files that could be made, in the order of the document.
        institutions: A condition that says which households are institutions; they are sampled as
            a list of their own.
        large_above: Households with more persons are large.
        large: What happens to them.
        age_shift: By how many years at most the ages of their members are moved, where they are.
        treatments: Methods that change records, in their order, before the sample is drawn.
        suppression: Local suppression; ``None`` for none.
        surveys, models, extracts: What they say.
        intruder: Intruders who try to match a file from elsewhere.
        preset: The name of the preset that the document starts from.
        cautions: What the office should know about what it has said.
    """

    name: str
    store: Path
    office: Path
    designs: tuple[Design, ...]
    licence: LicenceClass = LicenceClass.PUBLIC_USE
    acceptance: Acceptance = ACCEPTANCE[LicenceClass.PUBLIC_USE]
    title: Text = Text()
    abstract: Text = Text()
    producer: Text = Text()
    contact: str = ""
    risk: RiskRules = RiskRules()
    thresholds: Thresholds = Thresholds()
    roles: Mapping[str, Role] = field(default_factory=dict)
    institutions: str = ""
    large_above: int | None = None
    large: LargeHouseholds = LargeHouseholds.DRAW_AGAIN
    age_shift: int = 2
    treatments: tuple[Treatment, ...] = ()
    suppression: Suppression | None = None
    surveys: tuple[Survey, ...] = ()
    models: tuple[ModelQuestion, ...] = ()
    extracts: tuple[Extract, ...] = ()
    intruder: tuple[IntruderRules, ...] = ()
    making: Making = Making()
    preset: str = ""
    cautions: tuple[str, ...] = ()

    def design(self, name: str = "") -> Design:
        """A design by its name; the one to make if none is named.

        Raises:
            SpecError: There is none of that name, or nothing says which to make.
        """
        wanted = name or self.making.design
        if not wanted and len(self.designs) == 1:
            return self.designs[0]
        names = [design.name for design in self.designs]
        if not wanted:
            listed = ", ".join(names)
            raise SpecError(
                f'Nothing says which design to make: [make] design = "..." of {listed}.'
            )
        for design in self.designs:
            if design.name == wanted:
                return design
        raise SpecError(unknown("design", wanted, names))
