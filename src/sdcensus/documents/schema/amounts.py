"""What a schema says of amounts: to whom they belong, who agreed to be shown, units of files."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fractions import Fraction

from sdcensus.documents.schema.keys import resolved_condition
from sdcensus.documents.schema.sections import FileUnitSection, VariableSection
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable

#: Settings that only amounts have.
OF_AMOUNTS = ("owner", "owner_empty", "waiver", "file_units")
#: An exact factor: a whole number, a decimal number or a fraction.
_FACTOR = re.compile(r"[0-9]{1,18}(\.[0-9]{1,12}|/[0-9]{1,18})?")
_REMEDY = (
    'Say by which number the amounts of this file are multiplied: scale = 1000, scale = "0.01" or'
    ' scale = "1/12".'
)


def check_amount_settings(name: str, section: VariableSection, mistakes: Mistakes) -> None:
    """Settings of an amount that say nothing without another one."""
    given = section.model_fields_set
    if "owner_empty" in given and section.owner is None and "owner" not in section.faulty:
        mistakes.add(
            ("variable", name, "owner_empty"),
            "'owner_empty' belongs to 'owner': name the column that says to whom amounts belong.",
        )


def read_scales(
    name: str, section: VariableSection, mistakes: Mistakes
) -> tuple[tuple[str, Fraction], ...]:
    """The factor of each file whose amounts are in another unit, by the name of the file."""
    if not section.file_units:
        return ()
    where: KeyPath = ("variable", name, "file_units")
    if not section.unit and "unit" not in section.faulty:
        mistakes.add(
            where,
            "the setting 'unit' is missing: say in which unit the variable is kept, such as"
            ' unit = "euro".',
        )
        return ()
    scales = []
    for file, entry in section.file_units.items():
        units = [section.unit] if isinstance(section.unit, str) else list(section.unit.values())
        scale = _scale(units, entry, (*where, file), mistakes)
        if scale is not None:
            scales.append((file, scale))
    return tuple(scales)


def _scale(
    units: Sequence[str], entry: FileUnitSection, where: KeyPath, mistakes: Mistakes
) -> Fraction | None:
    if entry.scale is None:
        if entry.unit not in units:
            mistakes.add(
                where,
                f"the amounts of this file are in {entry.unit!r}, those of the variable in"
                f" {units[0]!r}. {_REMEDY}",
            )
        return Fraction(1)
    scale = _factor(entry.scale)
    if scale is None:
        mistakes.add((*where, "scale"), f"'scale' is no exact number above 0. {_REMEDY}")
    elif scale != 1 and entry.unit in units:
        mistakes.add(
            (*where, "scale"),
            f"the amounts of this file are in {entry.unit!r} like those of the variable, so they"
            " are not multiplied: leave 'scale' out, or give this file the unit that it has.",
        )
    return scale


def _factor(raw: object) -> Fraction | None:
    """An exact factor; a number with a decimal point outside of quotes is none."""
    if isinstance(raw, bool) or not isinstance(raw, int | str):
        return None
    text = str(raw).strip()
    if not _FACTOR.fullmatch(text):
        return None
    try:
        factor = Fraction(text)
    except ZeroDivisionError:
        return None
    return factor if factor > 0 else None


def check_amounts(schema: Schema, broken: Collection[str], mistakes: Mistakes) -> None:
    """What amounts say about files and other variables of the schema."""
    for variable in schema.variables:
        _check_files(variable, schema, mistakes)
        kinds = [spec for spec in schema.entities if spec.entity is variable.entity]
        if variable.owner and kinds and kinds[0].derived_from is not None:
            mistakes.add(
                ("variable", variable.name, "owner"),
                f"only amounts of units with a file of their own belong to owners;"
                f" {variable.entity.plural} have none.",
            )
        if variable.waiver:
            _check_waiver(variable, schema, broken, mistakes)


def _check_files(variable: Variable, schema: Schema, mistakes: Mistakes) -> None:
    source = variable.source
    files = [file for file in schema.files if source is not None and file.name == source.file]
    if source is None or not files:
        return
    for name, _ in source.scales:
        where: KeyPath = ("variable", variable.name, "file_units", name)
        paths = files[0].source.paths
        named = files[0].source.named(name)
        if not named:
            mistakes.add(where, unknown("file", name, [path.name for path in paths]))
        elif len(named) > 1:
            mistakes.add(
                where,
                f"several files of [files.{files[0].name}] are called {name!r}. Write their folder"
                " in front.",
            )


def _check_waiver(
    variable: Variable, schema: Schema, broken: Collection[str], mistakes: Mistakes
) -> None:
    """Who agreed is said by codes of one variable that the contributors have."""
    where: KeyPath = ("variable", variable.name, "waiver")
    resolved = resolved_condition(variable.waiver, where, schema, broken, mistakes)
    if resolved is None:
        return
    universe, variables = resolved
    if len(variables) != 1 or universe.everything or not universe.truth.any():
        mistakes.add(
            where,
            "the condition must be codes of one variable, some but not all of them, such as"
            ' waiver = "consent == 1".',
        )
        return
    if variables[0].entity not in schema.lineage(variable.entity):
        mistakes.add(where, f"{variable.entity.plural} do not have {variables[0].name}.")
