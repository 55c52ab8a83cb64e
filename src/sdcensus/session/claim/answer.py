"""Answering a claim: the public answer first, and then, apart from it, what is true."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from sdcensus.documents.plan.document import read_plan
from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.formats.write import check_new, new_file
from sdcensus.methods.method import Method
from sdcensus.model.catalogue import LANGUAGES
from sdcensus.model.confidential import Confidential
from sdcensus.model.plan.plan import Plan
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.secret import Secret
from sdcensus.model.spec.headings import heading_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.claim.answer import (
    CellCase,
    PublicAnswer,
    answer_page,
    answer_text,
)
from sdcensus.report.claim.facts import ClaimFacts, facts_page, facts_text
from sdcensus.session.assess.knowledge import noise_of
from sdcensus.session.attack.residents import levels_of_cells
from sdcensus.session.attack.score import check_lists
from sdcensus.session.census.census import Census, open_store
from sdcensus.session.census.lines import original_beside
from sdcensus.session.claim.bracket import bracket_of, case_of, chance_of_claim, kinds_of
from sdcensus.session.claim.cell import PublishedClaimCell, find_cell, read_table
from sdcensus.session.claim.nominal import known_steps, nominal_moves
from sdcensus.session.claim.truth import CellTruth, truth_of_cell
from sdcensus.session.guard.run import folders_of_plan
from sdcensus.session.protect.plan_method import own_protections, planned_method
from sdcensus.session.publish.planned import planned_products
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only

#: Where the office keeps its answers, in its folder.
CLAIMS_FOLDER = "claims"
_DOCUMENTS = (".toml", ".xlsx")


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class ClaimFiles(Confidential):
    """Both answers, and where they were written.

    Attributes:
        answer: What the claimant is told. Public.
        facts: What is true. Confidential.
        public: The files for the claimant.
        office: The files for the office.
    """

    answer: PublicAnswer
    facts: ClaimFacts
    public: tuple[Path, ...]
    office: tuple[Path, ...]

    def __repr__(self) -> str:
        return "<ClaimFiles: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class _Asked(Confidential):
    """What a claim is answered with.

    Attributes:
        plan: The plan of the publication.
        folder: The published tables.
        store: The store that they were made of.
        office: The office's folder.
    """

    plan: Plan
    folder: Path
    store: Path
    office: Path


def answer_claim(
    source: str | Path,
    table: str,
    cell: str,
    out: str | Path,
    *,
    plan: str | Path | None = None,
    store: str | Path | None = None,
    original: str | Path | None = None,
    derivations: Sequence[str | Path] = (),
    office: str | Path | None = None,
    secret: Secret | str | Path | None = None,
    language: str | None = None,
    progress: Progress = no_progress,
) -> ClaimFiles:
    """Write what anybody may be told about a claim, and what is true of it for the office.

    Args:
        source: The published folder, or the plan that names it.
        table: The name of the published table.
        cell: The cell: ``ed=E1,age=47``, by codes or labels.
        out: The folder for the public answer; it is made if it does not exist.
        plan: The plan of the publication, if ``source`` is the folder.
        store: The store that the tables were made of, if it is not the plan's.
        original: The store from which it was derived; looked for beside it otherwise.
        derivations: Reports of derivations that are not kept beside the store.
        office: The office's folder; that of the plan otherwise.
        secret: The office secret or its file, where the method of the plan needs it.
        language: The language of both answers.
        progress: Told how far it is.

    Raises:
        SpecError: The cell cannot be found, or the tables were made of other records.
    """
    if language is not None and language not in LANGUAGES:
        raise UnknownName("language", language, known=LANGUAGES)
    asked = _asked(Path(source), plan, store, office)
    progress("reading the table", 0.0)
    claimed = find_cell(read_table(asked.folder, table), cell)
    census = open_store(asked.store)
    check_lists(claimed.table.name, claimed.spec, census)
    _check_data(claimed, census, asked.store)
    steps = known_steps(census.store.manifest, asked.store, [Path(path) for path in derivations])
    level = str(levels_of_cells(claimed.spec, np.array([claimed.number]), census.schema)[0])
    moves = nominal_moves(steps, claimed.spec, level, census.schema)
    noise = noise_of(_method_of(asked.plan, claimed.spec, census, secret))
    chance = chance_of_claim(noise, [moves])
    answer = public_answer(claimed, census, chance, language)
    public = _targets(Path(out), claimed, "")
    make_owner_only_folder(asked.office / CLAIMS_FOLDER)
    private = _targets(asked.office / CLAIMS_FOLDER, claimed, "-office", new=False)
    # The public answer is complete here: what follows cannot change it.
    progress("looking at the records", 0.5)
    first = _original(census, asked, original)
    truth = truth_of_cell(claimed.spec, claimed.positions, census, first)
    facts = facts_of(claimed, answer, truth, census, chance)
    for path in private:
        text = facts_page if path.suffix == ".html" else facts_text
        write_owner_only(path, text(facts, language).encode())
    for path in public:
        text_of = answer_page if path.suffix == ".html" else answer_text
        with new_file(path) as file:
            file.write(text_of(answer, language).encode())
    return ClaimFiles(answer=answer, facts=facts, public=public, office=private)


def _method_of(
    plan: Plan, spec: TableSpec, census: Census, secret: str | Path | Secret | None
) -> Method:
    """How the plan protects a published table."""
    protect = None
    if any(table.protect is not None for table in plan.tables):
        own = own_protections(plan, planned_products(plan, census.schema))
        protect = own.get(spec.hash())
    return planned_method(plan, census, spec.of, secret=secret, protect=protect)


def public_answer(
    claimed: PublishedClaimCell, census: Census, chance: float | None, language: str | None
) -> PublicAnswer:
    """The answer for the claimant, from published values and the bracket of the chance."""
    spec = claimed.spec
    case = case_of(claimed.value, claimed.mark, spec.measure)
    shown = claimed.mark.sign if claimed.value is None else claimed.value
    return PublicAnswer(
        census=census.schema.census.name_in(language),
        table=Path(claimed.table.name).stem,
        title=heading_in(replace(spec, name=""), LANGUAGES).show(language),
        cell=claimed.words(language),
        published=shown,
        case=case,
        kinds=kinds_of(claimed.table.provenance),
        bracket=bracket_of(case, chance),
    )


def facts_of(
    claimed: PublishedClaimCell,
    answer: PublicAnswer,
    truth: CellTruth,
    census: Census,
    chance: float | None,
) -> ClaimFacts:
    """What the office is told: the cell, and whether a single person is meant rightly."""
    to_publish = truth.counted if truth.weighted is None else truth.weighted
    single: bool | None = None
    if truth.original is not None:
        alone = claimed.value == truth.counted == truth.original == truth.stayed == 1
        single = alone and answer.case is not CellCase.WEIGHTED
    return ClaimFacts(
        answer=answer,
        lineage=census.origin.lineage,
        counted=truth.counted,
        deviation=None if claimed.value is None else claimed.value - to_publish,
        weighted=truth.weighted,
        original=truth.original,
        stayed=truth.stayed,
        arrived=None if truth.stayed is None else truth.counted - truth.stayed,
        left=None
        if truth.original is None or truth.stayed is None
        else truth.original - truth.stayed,
        imputed=truth.imputed,
        chance=chance if answer.case in (CellCase.FEW, CellCase.WEIGHTED) else None,
        single=single,
    )


def _asked(
    source: Path,
    plan_file: str | Path | None,
    store: str | Path | None,
    office: str | Path | None,
) -> _Asked:
    """The plan, and what it names unless it was said otherwise."""
    is_plan = source.suffix.lower() in _DOCUMENTS
    if is_plan and plan_file is not None:
        raise SpecError(f"{source} is a plan, and --plan names another. Name one of them.")
    if not is_plan and plan_file is None:
        raise SpecError(
            "The kinds of method are in the published files; how strong they are is in the plan."
            " Name it: --plan FILE."
        )
    file = source if is_plan else Path(plan_file or "")
    plan = read_plan(file)
    published, kept = folders_of_plan(plan)
    folder = published if is_plan else source
    own = kept if office is None else Path(office)
    place = Path(store) if store is not None else plan.path(plan.store)
    return _Asked(plan, folder, place, own)


def _check_data(claimed: PublishedClaimCell, census: Census, store: Path) -> None:
    provenance = claimed.table.provenance
    if provenance is None:
        raise SpecError(
            f"{claimed.table.name} does not say what it was made of. A claim can be answered about"
            " tables that sdcensus has published."
        )
    if provenance.data_version != census.origin.data_version:
        line = f" ({provenance.lineage})" if provenance.lineage else ""
        raise SpecError(
            f"{claimed.table.name} was made of other records{line} than {store} holds. Name the"
            " store that it was published from: --store STORE."
        )


def _original(census: Census, asked: _Asked, original: str | Path | None) -> Census | None:
    """The census with which the line of a store begins; the store itself if nothing was derived."""
    lineage = census.store.manifest.lineage
    if not lineage:
        return census
    output = asked.plan.output
    named = original
    if named is None and output is not None and output.original_store:
        named = asked.plan.path(output.original_store)
    if named is not None:
        first = open_store(named)
        if first.store.manifest.data_version != lineage[0].parent:
            raise SpecError(
                f"{named} is not the store with which the line of {asked.store} begins. Name that"
                " one: --original STORE."
            )
        return first
    beside = original_beside(asked.store, lineage)
    return None if beside is None else open_store(beside)


def _targets(
    folder: Path, claimed: PublishedClaimCell, ending: str, *, new: bool = True
) -> tuple[Path, ...]:
    """Where an answer goes: names follow from the table and the cell, and from nothing else."""
    stem = re.sub(r"[^\w.-]+", "-", Path(claimed.table.name).stem)
    mark = hashlib.blake2b(repr((stem, claimed.positions)).encode(), digest_size=4).hexdigest()
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"{folder} cannot be made: {error.strerror}.") from error
    paths = tuple(folder / f"claim-{stem}-{mark}{ending}{form}" for form in (".html", ".txt"))
    if new:
        for path in paths:
            check_new(path)
    return paths
