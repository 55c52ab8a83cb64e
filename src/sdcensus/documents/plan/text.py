"""Plans as documents that read back equal."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from sdcensus.documents.toml.text import toml, toml_key
from sdcensus.model.method.parameter import Setting
from sdcensus.model.plan.plan import (
    Plan,
    PlannedIndicator,
    PlannedTable,
    PlanOffice,
    PlanOutput,
    Protection,
)
from sdcensus.model.plan.vocabulary import (
    INDICATOR_KINDS,
    INDICATOR_SETTINGS,
    ComparedFigure,
)
from sdcensus.model.text import Text

#: The parts of a plan, in the order in which they are written.
PARTS = (
    "store",
    "programme",
    "table",
    "indicator",
    "office",
    "protect",
    "policy",
    "output",
)


def plan_text(
    plan: Plan,
    *,
    comments: Sequence[str] = (),
    notes: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """A plan as a document that reads back equal.

    Args:
        plan: The plan.
        comments: What stands above it.
        notes: What stands above each part, by the names in ``PARTS``; also above those that the
            plan does not have, for a reader who would like to add them.
    """
    said = notes or {}
    # Settings without a table around them come first: behind a table they would belong to it.
    blocks: list[list[str]] = (
        [[f"# {comment}".rstrip() for comment in comments]] if comments else []
    )
    for part in PARTS:
        above = [f"# {one}".rstrip() for one in said.get(part, ())]
        made = [list(lines) for lines in _part(plan, part)]
        if made:
            made[0] = [*above, *made[0]]
        elif above:
            made = [above]
        blocks += made
    return "\n\n".join("\n".join(block) for block in blocks) + "\n"


def _part(plan: Plan, part: str) -> Iterator[Iterator[str]]:
    match part:
        case "store":
            said = plan.measure
            measure = [] if said is None else [f"measure = {toml(said.value)}"]
            yield iter([f"store = {toml(plan.store)}", *measure])
        case "programme" if plan.programme or plan.programme_tables or plan.mapping:
            yield _programme(plan)
        case "table":
            yield from map(_table, plan.tables)
        case "indicator":
            yield from map(_indicator, plan.indicators)
        case "office" if plan.office != PlanOffice():
            yield _office(plan.office)
        case "protect":
            if plan.protect is not None:
                yield _protect(plan.protect)
            for name, protection in plan.protections:
                yield _protect(protection, name)
        case "policy" if plan.policy is not None:
            lines = [f"file = {toml(plan.policy.file)}", f"role = {toml(plan.policy.role)}"]
            yield iter(["[policy]", *lines])
        case "output" if plan.output is not None:
            yield _output(plan.output)


def _programme(plan: Plan) -> Iterator[str]:
    if plan.programme:
        yield f"programme = {toml(plan.programme)}"
    if plan.programme_tables:
        yield f"tables = {toml(plan.programme_tables)}"
    if plan.mapping:
        yield f"mapping = {toml(plan.mapping)}"


def _texts(name: str, text: Text) -> Iterator[str]:
    if text:
        yield f"{name} = {toml(dict(text.by_language))}"


def _table(table: PlannedTable) -> Iterator[str]:
    yield "[[table]]"
    yield f"name = {toml(table.name)}"
    yield from _texts("title", table.title)
    if table.universe:
        yield f"universe = {toml(table.universe)}"
    if table.where:
        yield f"where = {toml(table.where)}"
    if table.rows:
        yield f"rows = {toml(table.rows)}"
    if table.columns:
        yield f"columns = {toml(table.columns)}"
    yield f"of = {toml(table.of.plural)}"
    measure = measure_text(table)
    if measure:
        yield f"measure = {toml(measure)}"
    protect = own_protection_text(table)
    if protect:
        yield f"protect = {protect}"


def own_protection_text(table: PlannedTable) -> str:
    """What a table says about its protection, as a value of a document; empty for nothing."""
    if table.protect is None:
        return ""
    if isinstance(table.protect, str):
        return toml(table.protect)
    return toml(dict(settings_of(table.protect)))


def measure_text(table: PlannedTable) -> str:
    """The measure of a table as plans write it; empty where it is that of the plan."""
    if table.share:
        return f"share({table.share})"
    return "" if table.measure is None else str(table.measure)


def _indicator(indicator: PlannedIndicator) -> Iterator[str]:
    fresh = PlannedIndicator(name="")
    yield "[[indicator]]"
    yield f"name = {toml(indicator.name)}"
    yield from _texts("title", indicator.title)
    yield f"kind = {toml(indicator.kind)}"
    if indicator.by:
        yield f"by = {toml(indicator.by)}"
    if indicator.of is not fresh.of:
        yield f"of = {toml(indicator.of.plural)}"
    if indicator.universe:
        yield f"universe = {toml(indicator.universe)}"
    for name, value in indicator_settings(indicator).items():
        yield f"{name} = {toml(value)}"


def indicator_settings(indicator: PlannedIndicator) -> dict[str, str | int]:
    """What an indicator says that those of other kinds may not, and its decimals."""
    fresh = PlannedIndicator(name="")
    needs = INDICATOR_KINDS[indicator.kind].needs
    values = {name: getattr(indicator, name) for name in (*INDICATOR_SETTINGS, "decimals")}
    return {
        name: value.value if isinstance(value, ComparedFigure) else value
        for name, value in values.items()
        if value != getattr(fresh, name) or (name in needs and value)
    }


def _office(office: PlanOffice) -> Iterator[str]:
    yield "[office]"
    yield from _texts("name", office.name)
    yield from _texts("legal_basis", office.legal_basis)
    if office.contact:
        yield f"contact = {toml(office.contact)}"
    if office.symbols:
        yield f"symbols = {toml(dict(office.symbols))}"


def _protect(protect: Protection, name: str = "") -> Iterator[str]:
    yield f"[protect.{toml_key(name)}]" if name else "[protect]"
    for setting, value in settings_of(protect):
        yield f"{setting} = {toml(value)}"


def settings_of(protect: Protection) -> Iterator[tuple[str, Setting]]:
    """What is said about a method, in the order in which it is written."""
    yield "method", protect.method
    if protect.then:
        yield "then", protect.then
    yield from protect.settings
    if protect.import_published:
        yield "import_published", protect.import_published
    if protect.smallest_group is not None:
        yield "smallest_group", protect.smallest_group


def _output(output: PlanOutput) -> Iterator[str]:
    yield "[output]"
    yield f"folder = {toml(output.folder)}"
    if output.office_folder:
        yield f"office_folder = {toml(output.office_folder)}"
    if output.date:
        yield f"date = {output.date}"
    yield f"formats = {toml(output.formats)}"
    if output.languages:
        yield f"languages = {toml(output.languages)}"
    yield f"notes = {toml(output.notes)}"
    yield f"evaluation = {toml(output.evaluation)}"
    if output.original_store:
        yield f"original_store = {toml(output.original_store)}"
    if output.labels is not None:
        yield f"labels = {toml(output.labels)}"
