"""A plan: what is published, from what, protected how, delivered as what."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path, PurePath

from sdcensus.errors import UnknownName
from sdcensus.model.method.parameter import Setting
from sdcensus.model.plan.vocabulary import ComparedFigure
from sdcensus.model.published.percentiles import MEDIAN
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.model.text import Text

#: The section ``[protect.NAME]`` by which sums are protected that name none themselves.
SUMS_PROTECTION = "sums"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Protection:
    """How tables of a plan are protected.

    Attributes:
        method: The name of a method.
        then: Names of the steps after it.
        settings: What is said about them, by name; the perturbation file among it.
        import_published: Whether numbers that were published before for the same records, by
            another method or from other data, are taken over instead of drawn anew.
        smallest_group: Groups that are published below this are not broken down further; not
            below that of the policy.
    """

    method: str
    then: tuple[str, ...] = ()
    settings: tuple[tuple[str, Setting], ...] = ()
    import_published: bool = False
    smallest_group: int | None = None

    def __repr__(self) -> str:
        # What is said about a method may be what nobody outside may know.
        return f"<Protection {' then '.join((self.method, *self.then))}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedTable:
    """A table of a plan, as it is written.

    Attributes:
        name: How the plan and its files call it.
        title: What stands above the table, in one or more languages.
        rows, columns: Its axes, in the grammar of plans.
        universe: What is counted: a universe of the schema, or a choice of declared codes; empty
            for everything.
        where: Any other condition: the table is made of sums of published values then.
        of, measure: What is counted, and how; without a measure by that of the plan, or else of the
            census.
        share: The condition of ``measure = "share(…)"``: of the records of each cell, the
            percentage that fulfils it is published. Empty for a table of counts.
        protect: How it is protected, where not as the plan says: the name of one of the plan's
            protections, or everything itself.
    """

    name: str
    title: Text = Text()
    rows: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    universe: str = ""
    where: str = ""
    of: Entity = Entity.PERSON
    measure: Measure | MeasureOf | None = None
    share: str = ""
    protect: Protection | str | None = None

    @property
    def by(self) -> tuple[str, ...]:
        """All axes, those of the rows first."""
        return (*self.rows, *self.columns)

    def spec(self, schema: Schema, measure: Measure | None = None) -> TableSpec:
        """The table without its numbers, checked against a schema.

        Args:
            schema: The schema.
            measure: That of the plan.
        """
        return TableSpec.build(
            schema,
            self.by,
            of=self.of,
            universe=self.universe or None,
            measure=self.measure or measure,
            name=self.name,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class PlannedIndicator:
    """Figures computed from published counts and sums, as a plan writes them.

    Attributes:
        name, title: As of a table.
        kind: What is computed, by name.
        by: For which groups, in the grammar of plans.
        of: What is counted.
        universe: What is counted, as of a table.
        numerator, denominator: Conditions, for kinds that divide two counts; or amounts, as
            ``sum(rent)``, for a ratio of these.
        variable: For kinds that need one: medians, means, distributions.
        per: What a ratio is given per; by default 100, and 1 for amounts.
        decimals: How many digits behind the point are published; by default 1, and those of the
            amount for its mean, at least 1.
        percent: Which percentile.
        first, second: Conditions, for the difference of two groups.
        figure: Of what figures the difference is.
        fewest: Of amounts, how many are published at least behind a figure; by default as many
            contributors as stand behind a sum.
    """

    name: str
    title: Text = Text()
    kind: str = "share"
    by: tuple[str, ...] = ()
    of: Entity = Entity.PERSON
    universe: str = ""
    numerator: str = ""
    denominator: str = ""
    variable: str = ""
    per: int | None = None
    decimals: int | None = None
    percent: int = MEDIAN
    first: str = ""
    second: str = ""
    figure: ComparedFigure = ComparedFigure.MEAN
    fewest: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOffice:
    """Who publishes, for notes and for the heads of files.

    Attributes:
        name: The office.
        legal_basis: The law by which it protects data and publishes.
        contact: Where readers can ask.
        symbols: The office's own signs, by the name of what they mean.
    """

    name: Text = Text()
    legal_basis: Text = Text()
    contact: str = ""
    symbols: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanPolicy:
    """The policy that a plan obeys: its file, and the role in which it asks."""

    file: str
    role: str = "production"


@dataclass(frozen=True, slots=True, kw_only=True)
class PlanOutput:
    """Where and how a plan delivers.

    Attributes:
        folder: For what is published.
        office_folder: For what only the office may see; never inside ``folder``. Empty for the
            one that ``for_office`` names.
        date: The date that is written into files, as ISO text; empty for none.
        formats, languages: Of the files, by name.
        notes: Whether notes for readers are written.
        evaluation: Whether an evaluation is written to the office folder.
        original_store: For the evaluation: the store before its records were swapped, if they
            were; from the folder of the plan.
        labels: Whether csv and parquet files have columns of labels; ``None`` for tables of the
            plan's own only, since those of a programme have codes that their readers know.
    """

    folder: str
    office_folder: str = ""
    date: str = ""
    formats: tuple[str, ...] = ("csv",)
    languages: tuple[str, ...] = ()
    notes: bool = True
    evaluation: bool = False
    original_store: str = ""
    labels: bool | None = None

    @property
    def for_office(self) -> str:
        """The folder for what only the office may see: the one that is named, or one beside."""
        return self.office_folder or f"{PurePath(self.folder).as_posix()}.office"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """What is published, from what, protected how, delivered as what.

    Attributes:
        store: The census store, as the plan writes it: from the folder of the plan.
        measure: That of tables and indicators that name none; without it, that of the census.
        tables: Tables of the plan's own.
        programme: The name of a ready-made programme of tables; empty for none.
        programme_tables: Which of its tables, as patterns such as ``1.*``; empty for all.
        mapping: The file that connects the store's variables to the programme's breakdowns.
        indicators: Figures that are computed from published counts.
        office: Who publishes.
        protect, policy, output: How, within what, and where to; ``None`` where the plan is silent.
        protections: Further ways to protect tables, by name, for tables that say so.
        folder: Where the plan lies.
        file: What the plan is called.
    """

    store: str
    measure: Measure | None = None
    tables: tuple[PlannedTable, ...] = ()
    programme: str = ""
    programme_tables: tuple[str, ...] = ()
    mapping: str = ""
    indicators: tuple[PlannedIndicator, ...] = ()
    office: PlanOffice = PlanOffice()
    protect: Protection | None = None
    protections: tuple[tuple[str, Protection], ...] = ()
    policy: PlanPolicy | None = None
    output: PlanOutput | None = None
    folder: Path = field(default=Path(), compare=False)
    file: str = field(default="plan.toml", compare=False)

    def table(self, name: str) -> PlannedTable:
        """The table of that name."""
        for table in self.tables:
            if table.name == name:
                return table
        raise UnknownName("table in the plan", name, known=[table.name for table in self.tables])

    def own_protection(self, table: PlannedTable) -> Protection | None:
        """How a table is protected by what it says itself; ``None`` if it says nothing.

        Raises:
            UnknownName: It refers to something that the plan does not have.
        """
        if not isinstance(table.protect, str):
            return table.protect
        for name, protection in self.protections:
            if name == table.protect:
                return protection
        known = [name for name, _ in self.protections]
        raise UnknownName("section [protect.NAME] of the plan", table.protect, known=known)

    def path(self, text: str) -> Path:
        """A file or folder that the plan names."""
        return self.folder / text

    def specs(self, schema: Schema) -> tuple[TableSpec, ...]:
        """All tables without their numbers."""
        return tuple(table.spec(schema, self.measure) for table in self.tables)
