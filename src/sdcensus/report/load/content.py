"""What a report on a load says: of a store that was made, and of files that were refused."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.ingest.id_parts import LinkMatches
from sdcensus.ingest.load import LoadReport
from sdcensus.ingest.load_facts import MOST_HELD, AlikeFacts, LinkFacts, LoadFacts, VariableFacts
from sdcensus.model.schema.file_problems import Problem
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Entity, Role, Variable
from sdcensus.report.load.blocks import (
    AreaPicture,
    Cell,
    Content,
    Listing,
    Part,
    Piece,
    SchemaLines,
    ShareCell,
    Words,
)
from sdcensus.report.load.link_rules import link_rules
from sdcensus.report.page import PageCell, Tone

#: A variable is named first if so large a share of it is "not stated".
MUCH_MISSING = 0.1
#: Units that say the same as others are a finding if they are so large a share.
MANY_ALIKE = 0.01
#: Codes that are listed for one variable, and areas of one level.
_MOST_CODES, _MOST_AREAS = 400, 60
#: Variables that a finding names.
_MOST_NAMED = 8


def loaded_content(
    report: LoadReport, language: str, *, rules: Sequence[str] = (), date: str = ""
) -> Content:
    """The report on a store that was made.

    Args:
        report: What the load did.
        language: Of the words; labels that are not in it stand in the first of the census.
        rules: Rules that hold for all records and are not declared, as lines for the schema.
        date: The date that stands on it; no clock is read.
    """
    words = Words(language)
    facts = report.facts
    parts = [
        _records(facts, words),
        _changed(report.problems, words),
        _links(facts, report.links, words),
        _variables(facts, words),
        _never(facts, words),
        _weights(facts, words),
        _areas(facts, words),
        _alike(report, words),
        _proposed(report, rules, words),
    ]
    return Content(
        title=words("title", census=report.schema.census.name),
        facts=" · ".join(filter(None, [report.store.name, date])),
        lead=words("lead" if not report.problems else "lead_changed"),
        findings=tuple(findings(report, words)),
        sizes=tuple(
            (words.number(rows), words.units(kind))
            for kind, rows in facts.rows.items()
            if kind is not Entity.FAMILY
        ),
        parts=tuple(part for part in parts if part.pieces),
        language=language,
    )


def refused_content(
    schema: Schema, store: str, problems: Sequence[Problem], language: str, *, date: str = ""
) -> Content:
    """The report on files that do not fit the schema."""
    words = Words(language)
    rows = [
        (
            f"{problem.file}: {problem.column}",
            words.text(problem.name),
            words.text(problem.remedy),
            words.number(problem.records),
            _rows(problem, words),
        )
        for problem in problems
    ]
    head = ("where", "problem", "remedy", "records", "rows")
    table = Listing(words("problems"), tuple(words(key) for key in head), tuple(rows), 3)
    return Content(
        title=words("refused_title", census=schema.census.name),
        facts=" · ".join(filter(None, [store, date])),
        lead=words("refused_lead"),
        findings=(),
        sizes=((words.number(len(problems)), words("kinds").lower()),),
        parts=(Part(words("to_do"), (words("rows_note"), table)),),
        language=language,
        refused=True,
    )


# ---------------------------------------------------------------- what to look at


def findings(report: LoadReport, words: Words) -> Iterator[str]:
    """What an office should look at before it goes on, the most serious first."""
    facts = report.facts
    if report.problems:
        changed = sum(problem.records for problem in report.problems)
        yield words("found_problems", number=words.number(changed))
    for link in facts.links:
        if not _of_families(link):
            yield from _link_findings(link, words)
    for weight in facts.weights:
        if weight.zeros:
            yield words("found_zero", variable=weight.variable.name)
    never = [variable for variable in facts.variables if _is_list(variable) and variable.never]
    if never:
        codes = words.number(sum(len(variable.never) for variable in never))
        names = [variable.variable.name for variable in never]
        yield words("found_never", codes=codes, variables=_some(names))
    much = [
        variable.variable.name
        for variable in facts.variables
        if variable.not_stated > MUCH_MISSING * variable.records
    ]
    if much:
        yield words("found_missing", variables=_some(much))
    negative = [
        variable.variable.name
        for variable in facts.variables
        if variable.variable.continuous and (variable.lowest or 0) < 0
    ]
    if negative:
        yield words("found_negative", variables=_some(negative))
    for geography in facts.geographies:
        empty = sum(not records for _, records in geography.levels[0].areas)
        if empty:
            gaps = {"number": words.number(empty), "units": words.units(geography.entity)}
            yield words("found_areas", variable=geography.variable.name, **gaps)
    for alike in facts.alike:
        # Records that are compared with all others are alike by chance.
        near = alike.holding is not None or alike.within is not None
        if near and alike.records > MANY_ALIKE * facts.rows[alike.entity]:
            yield _alike_sentence(alike, words)
    yield from map(words.text, report.notes)


def _some(names: Sequence[str]) -> str:
    """The first names, and how many more there are."""
    more = len(names) - _MOST_NAMED
    return ", ".join([*names[:_MOST_NAMED], *([f"… (+{more})"] if more > 0 else [])])


def _is_list(facts: VariableFacts) -> bool:
    """Whether its codes should occur; no census has persons of every age.

    Areas have a sentence of their own.
    """
    if facts.variable.role is Role.GEOGRAPHY:
        return False
    return any(code.lower is None and not code.is_missing for code in facts.variable.codes)


def _link_findings(link: LinkFacts, words: Words) -> Iterator[str]:
    gaps = _gaps(link, words)
    if link.childless:
        yield words("found_childless", number=words.number(link.childless), **gaps)
    if link.empty:
        yield words("found_empty", number=words.number(link.empty), **gaps)
    if link.lost:
        yield words("found_lost", number=words.number(link.lost), **gaps)


# ---------------------------------------------------------------- parts


def _records(facts: LoadFacts, words: Words) -> Part:
    rows = tuple((words.units(kind), words.number(rows)) for kind, rows in facts.rows.items())
    head = (words("kind_of_unit"), words("records"))
    return Part(words("records"), (Listing(words("records_caption"), head, rows),))


def _changed(problems: Sequence[Problem], words: Words) -> Part:
    rows = tuple(
        (
            f"{problem.file}: {problem.column}",
            words.text(problem.name),
            words.text(problem.effect),
            words.number(problem.records),
            _rows(problem, words),
        )
        for problem in problems
    )
    head = tuple(words(key) for key in ("where", "problem", "became", "records", "rows"))
    pieces: tuple[Piece, ...] = ()
    if rows:
        pieces = (words("changed_note"), Listing(words("changed_caption"), head, rows, 3))
    return Part(words("changed"), pieces)


def _rows(problem: Problem, words: Words) -> str:
    more = ", …" if problem.records > len(problem.rows) else ""
    return ", ".join(map(words.number, problem.rows)) + (more if problem.rows else "")


def _links(facts: LoadFacts, matches: Sequence[LinkMatches], words: Words) -> Part:
    """Both directions of every link, and how many units hold how many."""
    if not facts.links:
        return Part("", ())
    number = words.number
    below = tuple(
        (
            words("link", **_gaps(link, words)),
            number(link.linked),
            _flagged(link, link.empty, words),
            _flagged(link, link.lost, words),
        )
        for link in facts.links
    )
    above = tuple(
        (
            words("held", **_gaps(link, words)),
            number(link.parents - link.childless),
            _flagged(link, link.childless, words),
            number(link.largest),
        )
        for link in facts.links
    )
    below_head = tuple(map(words, ("units", "link_with", "link_empty", "link_lost")))
    above_head = tuple(map(words, ("units", "held_with", "held_without", "largest")))
    return Part(
        words("links"),
        (
            Listing(words("links_caption"), below_head, below),
            *link_rules(matches, words),
            Listing(words("held_caption"), above_head, above),
            *(_sizes(link, words) for link in facts.links if not _of_families(link)),
        ),
    )


def _flagged(link: LinkFacts, units: int, words: Words) -> PageCell:
    """A number that should be 0."""
    conspicuous = units and not _of_families(link)
    return PageCell(words.number(units), Tone.WARN if conspicuous else Tone.PLAIN)


def _of_families(link: LinkFacts) -> bool:
    """Whether it is about families: who lives in none is nobody's mistake."""
    return Entity.FAMILY in (link.parent, link.child)


def _gaps(link: LinkFacts, words: Words) -> dict[str, str]:
    return {"children": words.units(link.child), "parents": words.units(link.parent)}


def _sizes(link: LinkFacts, words: Words) -> Listing:
    """How many units hold how many."""
    rows = []
    for held, units in enumerate(link.sizes):
        name = words("and_more", number=words.number(held)) if held == MOST_HELD else str(held)
        if units or held < min(link.largest, MOST_HELD):
            tone = Tone.WARN if units and not held else Tone.PLAIN
            rows.append((name, words.number(units), ShareCell(units, link.parents, tone)))
    gaps = _gaps(link, words)
    head = (words("size", **gaps), words.units(link.parent), words("share"))
    return Listing(words("sizes_caption", **gaps), head, tuple(rows))


def _variables(facts: LoadFacts, words: Words) -> Part:
    rows: list[tuple[Cell, ...]] = []
    imputed = any(variable.imputed is not None for variable in facts.variables)
    for variable in facts.variables:
        tone = Tone.WARN if variable.not_stated > MUCH_MISSING * variable.records else Tone.PLAIN
        row: list[Cell] = [
            _named(variable.variable, words),
            words.units(variable.variable.entity),
            ShareCell(variable.not_stated, variable.records, tone),
            ShareCell(variable.not_applicable, variable.records),
            *_range(variable, words),
        ]
        if imputed:
            row.append(ShareCell(variable.imputed or 0, variable.records))
        rows.append(tuple(row))
    keys = ["variable", "of", "not_stated", "not_applicable", "lowest", "highest"]
    head = tuple(words(key) for key in [*keys, *(["imputed"] if imputed else [])])
    table = Listing(words("variables_caption"), head, tuple(rows), 2)
    return Part(words("variables"), (table,) if rows else ())


def _named(variable: Variable, words: Words) -> str:
    label = words.text(variable.label)
    return variable.name if label in ("", variable.name) else f"{variable.name}: {label}"


def _range(facts: VariableFacts, words: Words) -> tuple[str, str]:
    bounds = (facts.lowest, facts.highest)
    if facts.variable.continuous or facts.variable.role is Role.WEIGHT:
        lowest, highest = (words.amount(bound, facts.decimals) for bound in bounds)
    else:
        # A year has no mark between its thousands.
        lowest, highest = ("" if bound is None else str(bound) for bound in bounds)
    return lowest, highest


def _never(facts: LoadFacts, words: Words) -> Part:
    rows = tuple(
        (
            _named(variable.variable, words),
            _code_list(variable.never, words),
            words.number(len(variable.never)),
            words.number(sum(not code.is_missing for code in variable.variable.codes)),
        )
        for variable in facts.variables
        if variable.never
    )
    head = tuple(words(key) for key in ("variable", "never_codes", "never_number", "of_codes"))
    table = Listing(words("never_caption"), head, rows, 2)
    return Part(words("never"), (table,) if rows else (words("never_none"),))


def _code_list(codes: Sequence[Code], words: Words) -> str:
    """Codes with their labels; whole numbers in a row as one range."""
    shown: list[str] = []
    run: list[Code] = []
    for code in codes:
        follows = run and code.lower is not None and run[-1].upper == code.lower - 1
        if run and not follows:
            shown.append(_run_text(run, words))
            run = []
        run.append(code)
    if run:
        shown.append(_run_text(run, words))
    more = [f"… (+{words.number(len(shown) - _MOST_CODES)})"] if len(shown) > _MOST_CODES else []
    return "; ".join([*shown[:_MOST_CODES], *more])


def _run_text(run: Sequence[Code], words: Words) -> str:
    if len(run) > 1:
        return f"{run[0].code}–{run[-1].code}"
    label = words.text(run[0].label)
    return run[0].code if label in ("", run[0].code) else f"{run[0].code} {label}"


def _weights(facts: LoadFacts, words: Words) -> Part:
    rows = tuple(
        (
            words.units(weight.entity),
            weight.variable.name,
            words.number(weight.records),
            words.amount(weight.total, weight.variable.decimals),
            words.amount(weight.lowest, weight.variable.decimals),
            words.amount(weight.highest, weight.variable.decimals),
            words.amount(weight.total * 1000 // (weight.records * 10**weight.variable.decimals), 3),
            words.number(weight.zeros),
        )
        for weight in facts.weights
    )
    keys = ("units", "weight", "records", "stand_for", "lowest", "highest", "mean", "zeros")
    table = Listing(words("weights_caption"), tuple(map(words, keys)), rows, 2)
    return Part(words("weights"), (table,) if rows else ())


def _areas(facts: LoadFacts, words: Words) -> Part:
    pieces: list[Piece] = []
    for geography in facts.geographies:
        units = words.units(geography.entity)
        variable = geography.variable
        gaps = {"variable": _named(variable, words), "units": units}
        rows = []
        for level in reversed(geography.levels):
            numbers = [records for _, records in level.areas]
            name = words.text(variable.level_label(level.level.name)) or level.level.name
            filled = [number for number in numbers if number]
            rows.append(
                (
                    name,
                    words.number(len(numbers)),
                    words.number(len(numbers) - len(filled)),
                    words.number(min(filled, default=0)),
                    words.number(max(filled, default=0)),
                )
            )
        keys = ("level", "areas", "empty_areas", "fewest", "most")
        pieces.append(
            Listing(words("levels_caption", **gaps), tuple(map(words, keys)), tuple(rows))
        )
        pieces.append(AreaPicture(geography))
        if geography.nowhere:
            pieces.append(words("nowhere", number=words.number(geography.nowhere), units=units))
        several = [level for level in geography.levels if len(level.areas) > 1]
        coarsest = (several or geography.levels)[-1]
        total = sum(coarsest.records)
        listed = coarsest.areas[:_MOST_AREAS]
        areas = tuple(
            (code.code, words.text(code.label), words.number(records), ShareCell(records, total))
            for code, records in listed
        )
        head = (words("code"), words("area"), units, words("share"))
        caption = words("areas_caption", **gaps)
        if len(listed) < len(coarsest.areas):
            caption += f" ({words.number(len(listed))} / {words.number(len(coarsest.areas))})"
        pieces.append(Listing(caption, head, areas, 2))
    return Part(words("geography"), tuple(pieces))


def _alike(report: LoadReport, words: Words) -> Part:
    sentences = [_alike_sentence(alike, words) for alike in report.facts.alike]
    if any(not spec.from_content for spec in report.schema.entities):
        sentences.insert(0, words("ids_unique"))
    return Part(words("duplicates"), (*sentences, words("alike_note")))


def _alike_sentence(alike: AlikeFacts, words: Words) -> str:
    gaps = {"units": words.units(alike.entity), "number": words.number(alike.records)}
    if alike.holding is not None:
        return words("alike_holding", children=words.units(alike.holding), **gaps)
    if alike.within is not None:
        return words("alike_within", parent=words.unit(alike.within), **gaps)
    return words("alike", **gaps)


def _proposed(report: LoadReport, rules: Sequence[str], words: Words) -> Part:
    pieces: list[Piece] = []
    if report.identities:
        lines = "\n".join(str(identity) for identity in report.identities)
        pieces += [words("identities"), SchemaLines(lines)]
    elif report.identities is None and len(report.schema.entities) > 1:
        pieces.append(words("not_sought"))
    if rules:
        pieces += [words("rules"), SchemaLines("\n".join(rules))]
    return Part(words("proposed"), tuple(pieces))
