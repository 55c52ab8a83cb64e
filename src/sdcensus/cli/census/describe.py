"""``sdcensus describe``: what a store holds."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.cli.shared.console import Output, Stages, plain_table
from sdcensus.cli.shared.options import (
    Language,
    Quiet,
    Store,
    check_language,
    complete_variable,
    examples,
)
from sdcensus.model.method.registry import Part, Registered
from sdcensus.model.published.provenance import Derivation, lineage_text
from sdcensus.model.quantities import bytes_text, share_text
from sdcensus.model.text import Text

if TYPE_CHECKING:
    from sdcensus.model.schema.schema import DeclaredUniverse
    from sdcensus.model.schema.variable import Level
    from sdcensus.session.census.census import Census
    from sdcensus.session.census.description import Description, VariableSummary

EXAMPLES = examples(
    "sdcensus describe census.store",
    "sdcensus describe census.store --variable ed --language es",
    "sdcensus describe census.store --verify",
)


def describe(
    store: Store,
    variable: Annotated[
        str | None,
        typer.Option(
            "--variable",
            metavar="NAME",
            help="Show one variable with its codes and levels.",
            autocompletion=complete_variable,
        ),
    ] = None,
    language: Language = None,
    verify: Annotated[
        bool,
        typer.Option("--verify", help="Also compare every byte of the store with its manifest."),
    ] = False,
    quiet: Quiet = False,
) -> None:
    """Show what a store holds: sizes, variables, codes, levels, shares of missing values.

    The answer holds sizes of the census. It is for the office, not for the public.
    """
    from sdcensus.session.census.census import open_store
    from sdcensus.session.census.description import describe as summarise

    output = Output(quiet=quiet)
    census = open_store(store)
    check_language(census, language)
    if verify:
        columns = _verify(output, census)
    if variable is not None:
        show_variable(output, census, variable, language)
    else:
        with Stages(output, "reading the store"):
            description = summarise(census)
        show_description(output, store, description, language)
    if verify:
        output.say(f"\nAll {columns} columns are as they were when the census was loaded.")


def _verify(output: Output, census: Census) -> int:
    """Compare all columns with the manifest; how many there are."""
    total = sum(len(columns) for columns in census.store.manifest.columns.values())
    with Stages(output, "comparing columns") as stages:
        for at, _ in enumerate(census.store.verify(), start=1):
            stages("comparing columns", at / total)
    return total


def show_description(
    output: Output, store: Path, description: Description, language: str | None
) -> None:
    """Write the summary of a store: its records, then its variables by kind of unit."""
    where = f", {description.country}" if description.country else ""
    output.say(f"{description.census}{where}", style="bold")
    facts = plain_table(header=False)
    facts.add_column()
    facts.add_column(overflow="fold")
    facts.add_row("store", f"{store} ({bytes_text(description.bytes_on_disk)})")
    facts.add_row("made by", description.made_by)
    if description.reference_date:
        facts.add_row("reference date", description.reference_date)
    if description.measure is not None:
        facts.add_row("measure", description.measure.value)
    facts.add_row("data version", description.data_version)
    facts.add_row("secret", description.secret_id)
    if description.lineage:
        facts.add_row("derived by", lineage_text(description.lineage))
    facts.add_row("record keys", f"{description.combine}, modulus {description.modulus:,}")
    for kind, rows in description.rows:
        facts.add_row(kind.plural, f"{rows:,}")
    output.show(facts)
    if description.lineage:
        _show_line(output, description.lineage)
    for summary in description.variables:
        if summary.variable.codes_from_records:
            named = Text.named("notes.inhabited").filled(variable=summary.variable.name)
            output.say(f"\n{named.show(language)}")
    for kind, _ in description.rows:
        own = [variable for variable in description.variables if variable.variable.entity is kind]
        if own:
            output.say(f"\nVariables of {kind.plural}", style="bold")
            _show_variables(output, own, language)
    if description.universes:
        output.say("\nUniverses", style="bold")
        _show_universes(output, description.universes, language)


def _show_line(output: Output, lineage: Sequence[Derivation]) -> None:
    """Every step from the census as it was loaded to this store, in words."""
    output.say("\nHow it was made", style="bold")
    steps = [f"A census was loaded: data version {lineage[0].parent}."]
    for step in lineage:
        method = Registered(Part.PRE_TABULAR).get(step.method)
        summary = "a method that is not installed here." if method is None else method.summary
        named = f"{step.method}, version {step.method_version}"
        steps.append(f"{named}: {summary[:1].lower()}{summary[1:]}")
        steps.append(f"   with parameters {step.fingerprint} under the secret {step.secret_id}")
    numbered = 0
    for text in steps:
        numbered += not text.startswith(" ")
        output.say(text if text.startswith(" ") else f"{numbered}. {text}")


def _show_universes(
    output: Output, universes: Sequence[DeclaredUniverse], language: str | None
) -> None:
    table = plain_table()
    table.add_column("universe", no_wrap=True)
    table.add_column("label, description")
    table.add_column("condition")
    for universe in universes:
        said = (universe.label.show(language), universe.description.show(language))
        table.add_row(universe.name, "\n".join(text for text in said if text), universe.condition)
    output.show(table)


def _show_variables(output: Output, own: list[VariableSummary], language: str | None) -> None:
    table = plain_table()
    table.add_column("variable", no_wrap=True)
    table.add_column("label, levels (codes)")
    table.add_column("codes", justify="right", no_wrap=True)
    table.add_column("not\nstated", justify="right", no_wrap=True)
    table.add_column("not\napplicable", justify="right", no_wrap=True)
    for variable_summary in own:
        levels = ", ".join(f"@{name} ({size:,})" for name, size in variable_summary.levels[1:])
        label = variable_summary.variable.label.show(language)
        table.add_row(
            variable_summary.variable.name,
            "\n".join(text for text in (label, levels) if text),
            "number"
            if variable_summary.variable.continuous
            else f"{len(variable_summary.variable.codes):,}",
            share_text(variable_summary.not_stated) if variable_summary.not_stated else "-",
            share_text(variable_summary.not_applicable) if variable_summary.not_applicable else "-",
        )
    output.show(table)


def show_variable(output: Output, census: Census, name: str, language: str | None) -> None:
    """Write one variable: what it is, its codes, and where each stands at every level."""
    variable = census.schema.variable(name)
    label = variable.label.show(language)
    output.say(f"{variable.name}: {label}" if label else variable.name, style="bold")
    if variable.description:
        output.say(variable.description.show(language))
    facts = plain_table(header=False)
    facts.add_column()
    facts.add_column(overflow="fold")
    facts.add_row("describes", variable.entity.plural)
    for title, text in (
        ("role", str(variable.role or "")),
        ("main", "yes: units are counted in these areas" if variable.main else ""),
        ("topic", variable.topic.show(language)),
        ("unit", variable.unit_text.show(language)),
        ("decimals", str(variable.decimals) if variable.continuous or not variable.codes else ""),
        ("map", variable.map),
        ("imputed", "where it was imputed is kept" if variable.imputed else ""),
        ("stored", "" if variable.stored else "no: it identifies records and stays outside"),
    ):
        if text:
            facts.add_row(title, text)
    output.show(facts)
    if not variable.codes:
        return
    leaves, *coarser = variable.levels()
    _show_codes(output, leaves, language, coarser)
    for level in coarser:
        _show_codes(output, level, language)


def _show_codes(
    output: Output, level: Level, language: str | None, above: Sequence[Level] = ()
) -> None:
    """The codes of a level; of the leaves also where each stands at the levels above."""
    output.say(f"\nLevel {level.name}: {len(level.codes):,} codes", style="bold")
    table = plain_table()
    table.add_column("code", overflow="fold")
    table.add_column("label", overflow="fold")
    missing = any(code.is_missing for code in level.codes)
    if missing:
        table.add_column("means")
    for coarser in above:
        table.add_column(coarser.name, overflow="fold")
    for at, code in enumerate(level.codes):
        means = [str(code.kind).replace("_", " ") if code.is_missing else ""] if missing else []
        groups = [level.codes[level.group[at]].code for level in above]
        table.add_row(code.code, code.label.show(language), *means, *groups)
    output.show(table)
