"""A first plan for a census: tables that its cells bear, a method, outputs, with explanations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.documents.mapping.document import read_mapping
from sdcensus.documents.plan.help import plan_help
from sdcensus.documents.plan.text import plan_text
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.errors import OutputError, SdcensusError
from sdcensus.formats.write import check_new, new_file
from sdcensus.methods.perturbation.schemes import STRENGTHS, scheme
from sdcensus.model.plan.plan import Plan, PlanOutput, PlanPolicy, Protection
from sdcensus.model.progress import Progress, no_progress
from sdcensus.programmes import PROGRAMMES, load_programme
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import suggested_smallest_group
from sdcensus.session.recommend.files import path_from
from sdcensus.session.recommend.recommendation import (
    POLICY_FILE,
    RecommendedProduct,
    own_group,
    read_given_policy,
    recommend,
)

#: The strength of a draft whose tables ask for noise of their own, which another command makes.
_STRONGEST = "strong"
_ENDINGS = (".toml", ".xlsx")
_HEAD = (
    "What is published, from what, protected how, delivered as what.",
    "Written by sdcensus plan draft. Read it, change it, and then it is yours.",
)
_OWN_NOISE = (
    "So many tables ask for noise of their own. sdcensus recommend STORE --out FOLDER makes it:",
    'write perturbation = "FOLDER/perturbation.csv" instead of the strength, and smallest_group as',
    "it says.",
)


@dataclass(frozen=True, slots=True)
class PlanDraft:
    """A drafted plan.

    Attributes:
        path: The document.
        plan: What it says.
        policy: The policy that it names; ``None`` if none was found.
        mapping: A mapping that fits the store, named in a comment; ``None`` if none was found.
        own_noise: Whether its tables ask for noise of their own.
    """

    path: Path
    plan: Plan
    policy: Path | None
    mapping: Path | None
    own_noise: bool


def draft_plan(
    census: Census,
    store: str | Path,
    out: str | Path,
    *,
    policy: str | Path | None = None,
    progress: Progress = no_progress,
) -> PlanDraft:
    """Write a first plan for a census; as TOML with comments, or as a workbook to fill in.

    Args:
        census: The census.
        store: Its store, which the plan names.
        out: The new file, ``.toml`` or ``.xlsx``; nothing is written over.
        policy: A policy to keep to; else ``policy.toml`` beside the plan, if it is there.
        progress: Told how far it is.

    Raises:
        OutputError: The file exists, or cannot be written.
        SpecError: The census bears none of the usual tables.
    """
    target = Path(out)
    if target.suffix.lower() not in _ENDINGS:
        raise OutputError(f"{target}: a plan is written as .toml or .xlsx.")
    check_new(target)
    rules = Path(policy) if policy is not None else _found(target.parent / POLICY_FILE)
    given = None if rules is None else read_given_policy(rules, census)
    recommendation = recommend(
        census, RecommendedProduct.PROGRAMME, policy=given, policy_file=rules, progress=progress
    )
    mapping, programme = next(_mappings(census, target.parent, Path(store)), (None, ""))
    own_noise = not recommendation.noise.strength
    strength = recommendation.noise.strength or _STRONGEST
    smallest = suggested_smallest_group(census, scheme(STRENGTHS[strength].scheme).max_deviation)
    plan = replace(
        recommendation.plan,
        store=path_from(target.parent, Path(store)),
        protect=Protection(
            method="cell-key",
            settings=(("strength", strength),),
            smallest_group=smallest if given is None else own_group(given, smallest),
        ),
        policy=None if rules is None else PlanPolicy(file=path_from(target.parent, rules)),
        output=PlanOutput(
            folder="published",
            office_folder="published.office",
            formats=("csv", "xlsx"),
            languages=census.schema.census.languages,
            evaluation=True,
        ),
    )
    named = None if mapping is None else (path_from(target.parent, mapping), programme)
    if target.suffix.lower() == ".toml":
        content = _text(plan, named, own_noise=own_noise).encode()
    else:
        content = plan_workbook(plan, comments=tuple(_comments(named, own_noise=own_noise)))
    with new_file(target) as file:
        file.write(content)
    return PlanDraft(target, plan, rules, mapping, own_noise)


def _text(plan: Plan, mapping: tuple[str, str] | None, *, own_noise: bool) -> str:
    notes = {part: tuple(text.splitlines()) for part, text in plan_help("parts").items()}
    if mapping is not None:
        file, programme = mapping
        notes["programme"] = (
            f"{file} connects this census to the programme {programme}. To publish its tables:",
            f'programme = "{programme}"',
            'tables = ["1.*", "9.2", "grid"]       # which of them; leave out for all',
            f'mapping = "{file}"',
        )
    if own_noise:
        notes["protect"] = (*notes["protect"], *_OWN_NOISE)
    if plan.policy is not None:  # the lines to copy are for plans that have none
        notes["policy"] = notes["policy"][:1]
    return plan_text(plan, comments=_HEAD, notes=notes)


def _comments(mapping: tuple[str, str] | None, *, own_noise: bool) -> Iterator[str]:
    yield from _HEAD
    if own_noise:
        yield from _OWN_NOISE
    if mapping is not None:
        file, programme = mapping
        yield f"{file} connects this census to the programme {programme}: fill in both below."


def _found(path: Path) -> Path | None:
    return path if path.is_file() else None


def _mappings(census: Census, *folders: Path) -> Iterator[tuple[Path, str]]:
    """Mapping documents that fit the census, and the programme of each."""
    places = [folder if folder.suffix != ".store" else folder.parent for folder in folders]
    seen: set[Path] = set()
    for folder in dict.fromkeys([*places, folders[-1].parent]):
        if not folder.is_dir():
            continue
        for path in sorted(folder.glob("*mapping*.toml")):
            if path.resolve() in seen:
                continue
            seen.add(path.resolve())
            for name in PROGRAMMES:
                try:
                    read_mapping(path, load_programme(name), census.schema)
                except SdcensusError:
                    continue
                yield path, name
