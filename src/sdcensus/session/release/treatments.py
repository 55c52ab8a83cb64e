"""What is changed for a file: records and methods before its sample is drawn, groups after it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, Sentence, SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.continuous.microaggregation import Microaggregation
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.edit_rules import (
    REFUSED_FILE,
    NewViolations,
    new_violations,
    violations_file,
)
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import FactTable, OfficeFile
from sdcensus.microdata.one_kind import derived_records
from sdcensus.microdata.release.records import Sample
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation, fingerprint
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import ReleasePlan, Treatment
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.session.derive.office_files import write_office_file
from sdcensus.session.derive.step import Step, step_from_text
from sdcensus.session.release.deletion import deleted
from sdcensus.session.release.swaps import MOVES_AREAS, between_told_areas
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import file_digest
from sdcensus.store.owner_only import make_owner_only_folder

#: Methods whose records count by new weights only: a file has a weight of its own.
WEIGHS = ("perturbation-weights", "systematic-sample")


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Treated(Confidential):
    """A census after the treatments of a plan.

    Attributes:
        store: Its records; the store itself where nothing was to do.
        facts, notes, files: What the treatments tell the office.
    """

    store: CensusStore
    facts: tuple[FactTable, ...] = ()
    notes: tuple[Sentence, ...] = ()
    files: tuple[OfficeFile, ...] = ()

    def __repr__(self) -> str:
        return "<Treated: confidential>"


def treated(
    store: CensusStore,
    plan: ReleasePlan,
    design: FileDesign,
    secret: Secret,
    progress: Progress = no_progress,
) -> Treated:
    """Apply the treatments of a plan that are for a design, in their order.

    Microaggregation waits until the sample is drawn (``grouped``).

    Records that the plan names are left out first, so that they take part in nothing. Nothing is
    written: the treated census is a view.

    Raises:
        SpecError: A method cannot do what it is asked for, or moves areas that the file leaves out.
        Refused: Records break edit rules that they kept before; who they are is in the office
            folder.
    """
    result = Treated(store=store)
    if plan.making.delete is not None:
        result = _without_named(result, plan, secret)
    for number, treatment in treatments_of(plan, design):
        _check(treatment, design)
        if method_name(treatment) == Microaggregation.name:
            continue
        method = between_told_areas(treatment.method, design, store.schema)
        treatment = replace(treatment, method=method)
        result = _after(result, plan, treatment, number, secret, progress)
    return result


def grouped(
    before: Treated,
    plan: ReleasePlan,
    design: FileDesign,
    sample: Sample,
    secret: Secret,
    progress: Progress = no_progress,
) -> Treated:
    """Form the groups of microaggregation among the records of a file, after everything else.

    Groups of a whole census promise nothing in a sample of it: most members of a group are not in
    the file, and amounts that many share are left as they are.

    Raises:
        SpecError: The method cannot do what it is asked for.
        Refused: Records break edit rules that they kept before.
    """
    result = before
    for number, treatment in treatments_of(plan, design):
        if method_name(treatment) == Microaggregation.name:
            result = _after(result, plan, treatment, number, secret, progress, sample)
    return result


def treatments_of(plan: ReleasePlan, design: FileDesign) -> tuple[tuple[int, Treatment], ...]:
    """The treatments of a plan that are for a design, with their numbers."""
    own = (
        treatment
        for treatment in plan.treatments
        if not treatment.designs or design.design.name in treatment.designs
    )
    return tuple(enumerate(own, start=1))


def grouped_records(step: Step, sample: Sample, progress: Progress = no_progress) -> DerivedRecords:
    """The records of a census after the amounts of a sample are grouped."""
    method, store = step.method, step.store
    assert isinstance(method, Microaggregation)
    entity = store.schema.variable(method.variables[0]).entity
    rows = sampled_rows(store, sample, entity)
    return derived_records(store, method.among(store, rows, progress))


def sampled_rows(store: CensusStore, sample: Sample, entity: Entity) -> npt.NDArray[np.int64]:
    """The rows of the units of a kind of which a sample tells something: dwellings of households.

    Units of a kind that holds nobody of the sample are none.
    """
    if entity in sample.rows:
        return sample.rows[entity]
    held = [kind for kind in sample.rows if entity in store.schema.lineage(kind)]
    rows = [holder_rows(store, kind, entity)[sample.rows[kind]] for kind in held]
    every = np.unique(np.concatenate(rows)) if rows else np.zeros(0, dtype=np.int64)
    known: npt.NDArray[np.int64] = every[every != NO_ROW].astype(np.int64)
    return known


def _without_named(before: Treated, plan: ReleasePlan, secret: Secret) -> Treated:
    assert plan.making.delete is not None
    deletion = deleted(before.store, plan.making.delete, secret)
    version = before.store.manifest.key_version
    derivation = Derivation(
        parent=before.store.manifest.data_version,
        method="drop-records",
        method_version="1",
        fingerprint=fingerprint({"listed": file_digest(plan.making.delete)}, secret, version),
        secret_id=secret.id,
    )
    return Treated(
        store=DerivedView(deletion.derived, derivation),
        notes=deletion.notes,
    )


def _check(treatment: Treatment, design: FileDesign) -> None:
    """Refuse methods that make no sense for a file."""
    name = method_name(treatment)
    if name in MOVES_AREAS and not design.geographies:
        raise SpecError(
            f"[[treatment]] {name} exchanges areas, and design {design.design.name!r} keeps none:"
            " swapping is only for files that tell where people live. Name the designs that it is"
            ' for, designs = ["..."], or keep an area, keep = ["VARIABLE@LEVEL"].'
        )
    if name in WEIGHS:
        raise SpecError(
            f"[[treatment]] {name} gives weights, and a file is weighed by its sample. Take the"
            " treatment out."
        )


def method_name(treatment: Treatment) -> str:
    """The name of the method of a treatment."""
    try:
        return (shlex.split(treatment.method) or [""])[0]
    except ValueError:
        raise SpecError(
            f"[[treatment]] method = {treatment.method!r}: a quotation mark is missing."
        ) from None


def _after(
    before: Treated,
    plan: ReleasePlan,
    treatment: Treatment,
    number: int,
    secret: Secret,
    progress: Progress,
    sample: Sample | None = None,
) -> Treated:
    step = step_from_text(before.store, treatment.method, secret=secret)
    derived = step.run(progress) if sample is None else grouped_records(step, sample, progress)
    violations = new_violations(derived, progress)
    if violations:
        raise Refused(_refusal(plan, treatment, derived, violations))
    changes = derived.changes
    return Treated(
        store=DerivedView(derived, step.derivation),
        facts=(*before.facts, *changes.facts),
        notes=(*before.notes, *changes.notes),
        # Several treatments may keep a file of one name.
        files=(
            *before.files,
            *(
                OfficeFile(name=f"{number}-{step.method.name}-{file.name}", columns=file.columns)
                for file in changes.files
            ),
        ),
    )


def _refusal(
    plan: ReleasePlan,
    treatment: Treatment,
    derived: DerivedRecords,
    violations: tuple[NewViolations, ...],
) -> str:
    """Why a treatment is refused; who breaks the rules goes to the office folder."""
    make_owner_only_folder(plan.office)
    write_office_file(violations_file(derived, violations, REFUSED_FILE), plan.office)
    rules = "\n".join(f"  {new.rule.text}: {new.rows.size:,} new" for new in violations)
    return (
        f"[[treatment]] {method_name(treatment)} would make records that the schema declares"
        f" impossible:\n{rules}\nNo file was made. Which records they are is in"
        f" {plan.office / REFUSED_FILE}, for the office only. Change the treatment or the rules of"
        " the schema."
    )
