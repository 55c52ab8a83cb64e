"""What was measured on a derived store, beside the store that it comes from. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from sdcensus.microdata.method import FactTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.risk.combined.chances import CombinedRisk
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.distances import Utility
from sdcensus.utility.evaluation import EvaluationRow, Stage


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LevelChange(Confidential):
    """Whom a changed variable protects at one of its levels.

    Attributes:
        variable: Its name.
        label: What it is called.
        level: The level; empty for all codes together, such as the whole country.
        area: Whether it is the geography in which units are counted.
        entity: Whose variable it is.
        units, changed: How many units stay in the store, and how many have another code there.
        persons, persons_changed: The same for the persons that they hold; ``None`` for a variable
            of units that hold none.
    """

    variable: str
    label: Text
    level: str
    area: bool
    entity: Entity
    units: int
    changed: int
    persons: int | None = None
    persons_changed: int | None = None

    def __repr__(self) -> str:
        return f"<LevelChange {self.variable!r} {self.level!r}: confidential>"

    @property
    def share(self) -> float | None:
        """The share of units with another code; ``None`` without any unit."""
        return self.changed / self.units if self.units else None

    @property
    def persons_share(self) -> float | None:
        """The share of persons whose unit has another code; ``None`` without any."""
        if not self.persons or self.persons_changed is None:
            return None
        return self.persons_changed / self.persons


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmallCellChange(Confidential):
    """Small cells of a table of one level of the geography, and those whose records were changed.

    Attributes:
        level: Of the geography; empty for the whole country, or for a table without areas.
        cells, changed: How many cells hold one or two units, and in how many of these a unit was
            changed, so that it is counted elsewhere or was left out.
        records: How many units stand in the small cells.
        unprotected: How many of them are counted where they were, and were never imputed.
        unprotected_cells: In how many small cells all units are like that.
        imputed: Whether the schema says for an axis of the table which values were imputed.
    """

    level: str
    cells: int
    changed: int
    records: int
    unprotected: int
    unprotected_cells: int
    imputed: bool = False

    def __repr__(self) -> str:
        return f"<SmallCellChange {self.level!r}: confidential>"

    @property
    def share(self) -> float | None:
        """The share of small cells whose units were changed; ``None`` without small cells."""
        return self.changed / self.cells if self.cells else None

    @property
    def unprotected_share(self) -> float | None:
        """The measure DR of ONS 2011 by records: neither changed nor imputed, of all in them."""
        return self.unprotected / self.records if self.records else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class LevelRisk(Confidential):
    """What small published values of a table say about residents, at one level of the geography.

    Attributes:
        level: Of the geography; empty for the whole country, or for a table without areas.
        moves: Whether anybody is counted in another cell of this level.
        alone: By the noise alone.
        together: By the change of records and the noise, by the formula with measured moves.
        observed: The same as it is in the derived store, with the noise to be expected.
    """

    level: str
    moves: bool
    alone: CombinedRisk
    together: CombinedRisk
    observed: CombinedRisk

    def __repr__(self) -> str:
        return f"<LevelRisk {self.level!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class StageEffect(Confidential):
    """A table at one stage, against the original.

    Attributes:
        stage: After the step, or after the step and the perturbation of cells.
        utility: Distances to the original, over all cells.
        risk: The composite risk R(F) of what is shown at this stage; ``None`` where it has no
            meaning.
        rows: Measures of each area, with their dispersion; ``None`` for a table without areas.
        unprotected: The measure DR by records: in small cells, whose units were neither changed
            nor imputed and whose number is shown as it was.
        repeated: The dispersion over other keys of the method: for each measure its smallest, mean
            and largest value; empty where it was not repeated.
    """

    stage: Stage
    utility: Utility
    risk: float | None
    rows: RowMeasures | None
    unprotected: float | None
    repeated: Mapping[str, tuple[float, float, float]]

    def __repr__(self) -> str:
        return f"<StageEffect {self.stage}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class TableEffect(Confidential):
    """What became of one table.

    Attributes:
        spec: The table.
        evaluation: Its row on the evaluation sheet, at every stage.
        original_risk: The composite risk of the original; ``None`` where it has no meaning.
        small: Its small cells by level of the geography, finest first.
        stages: After the step, and perturbed besides.
        combined: What small published values say by the step and the noise together, by level.
    """

    spec: TableSpec
    evaluation: EvaluationRow
    original_risk: float | None
    small: tuple[SmallCellChange, ...]
    stages: tuple[StageEffect, ...]
    combined: tuple[LevelRisk, ...] = ()

    def __repr__(self) -> str:
        return f"<TableEffect {self.spec.title}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class AssociationEffect(Confidential):
    """Cramér's V of two variables: in the original, after the step, perturbed besides.

    Attributes:
        axes: The two axes, as they were named.
        labels: What they are called.
        original, derived, perturbed: Cramér's V; ``None`` where it has no meaning.
        reason: Why there is none.
    """

    axes: tuple[str, str]
    labels: tuple[Text, Text]
    original: float | None
    derived: float | None
    perturbed: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<AssociationEffect of {self.axes[0]} and {self.axes[1]}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class RuleCheck(Confidential):
    """An edit rule of the schema, and how many records break it that did not before."""

    rule: str
    entity: Entity
    new: int

    def __repr__(self) -> str:
        return f"<RuleCheck {self.rule!r}: confidential>"


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Effects(Confidential):
    """Everything that the report on a derived store tells.

    Attributes:
        census: The name of the census.
        method, summary: The pre-tabular method.
        settings: What was said about it, as plain texts.
        lineage: Every step since the store was loaded, the last one included.
        rows: How many records of each kind the derived store holds.
        dropped: How many of each kind were left out.
        levels: Whom each changed variable protects, level by level.
        weights: Weights that the method made or changed.
        tables: The tables that were named, or one that stands for all.
        named: Whether somebody named them.
        repetitions: How often the method was run with other keys to see how far measures vary.
        associations: Those that were named.
        rules: The edit rules of the schema.
        other_areas: Further geographies of the census, and whether the method changed each.
        facts: What the method tells about its own work.
        figures: The same as counts by name.
        notes: What else the office should know.
        perturbation: How tables were perturbed in the last column.
        language: Of the report.
    """

    census: str
    method: str
    summary: str
    settings: tuple[tuple[str, str], ...]
    lineage: tuple[Derivation, ...]
    rows: Mapping[Entity, int]
    dropped: Mapping[Entity, int]
    levels: tuple[LevelChange, ...]
    weights: tuple[str, ...]
    tables: tuple[TableEffect, ...]
    named: bool
    repetitions: int
    associations: tuple[AssociationEffect, ...]
    rules: tuple[RuleCheck, ...]
    other_areas: tuple[tuple[Text, bool], ...]
    facts: tuple[FactTable, ...]
    figures: Mapping[str, int]
    notes: tuple[str, ...]
    perturbation: str
    language: str | None = None

    def __repr__(self) -> str:
        return f"<Effects of {self.method}: confidential>"

    @property
    def area_levels(self) -> tuple[LevelChange, ...]:
        """The levels of the geography in which units are counted, the country last."""
        return tuple(level for level in self.levels if level.area)
