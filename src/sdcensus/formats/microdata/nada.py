"""A file for researchers as the JSON that a National Data Archive catalogue imports.

The catalogue shows one language: there is one document for each language of the file.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sdcensus.formats.microdata.ddi import (
    NumberedColumn,
    access_text,
    condition_texts,
    contents_text,
    numbered_columns,
    removed_texts,
    sampling_text,
)
from sdcensus.formats.microdata.layout import parts_of, weight_of
from sdcensus.formats.microdata.shortening import plain_text
from sdcensus.formats.microdata.statistics import column_statistics, may_tell_records
from sdcensus.formats.write import check_new, new_file
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.plan import Layout
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile
from sdcensus.model.text import Text

#: What catalogues call the classes.
_POLICY = {
    LicenceClass.PUBLIC_USE: "public",
    LicenceClass.LICENSED_USE: "licensed",
    LicenceClass.FULL_COUNT: "remote",
}


def nada_document(
    file: ReleaseFile, language: str = "", layout: Layout = Layout.LINKED
) -> dict[str, Any]:
    """What a catalogue imports, in one language."""
    spoken = language or (file.languages[0] if file.languages else "en")
    parts = parts_of(file, layout)
    producers = _listed(name=file.producer.show(spoken))
    title = plain_text(file.title.show(spoken) or file.name)
    return {
        "access_policy": _POLICY[file.licence],
        "published": 0,
        "overwrite": "no",
        "doc_desc": _kept(
            title=title,
            idno=f"{file.name}-ddi",
            producers=producers,
            version_statement={"version": file.version},
        ),
        "study_desc": _study(file, spoken, title, producers),
        "data_files": [
            _kept(
                file_id=f"F{place}",
                file_name=part.stem,
                description=contents_text(part, file, layout).show(spoken),
                case_count=part.table.rows if may_tell_records(file) else None,
                var_count=len(part.table.columns),
                producer=file.producer.show(spoken),
                missing_data=_word("missing_data", spoken),
                version=file.version,
            )
            for place, part in enumerate(parts, start=1)
        ],
        "variables": [_variable(file, numbered, spoken) for numbered in numbered_columns(parts)],
    }


def write_nada(
    file: ReleaseFile,
    folder: Path,
    layout: Layout = Layout.LINKED,
    *,
    languages: Sequence[str] | None = None,
) -> tuple[Path, ...]:
    """Write ``NAME.nada.json`` in the first language and ``NAME.es.nada.json`` in others."""
    spoken = tuple(dict.fromkeys(languages or file.languages)) or ("en",)
    targets = {
        language: folder / f"{file.name}{'' if place == 0 else f'.{language}'}.nada.json"
        for place, language in enumerate(spoken)
    }
    for target in targets.values():
        check_new(target)
    for language, target in targets.items():
        document = nada_document(file, language, layout)
        content = json.dumps(document, ensure_ascii=False, indent=1) + "\n"
        with new_file(target) as opened:
            opened.write(content.encode())
    return tuple(targets.values())


def _word(key: str, language: str) -> str:
    return Text.named(f"release_formats.{key}").show(language)


def _kept(**values: Any) -> dict[str, Any]:
    """What there is: catalogues refuse texts that are empty where they need one."""
    return {name: value for name, value in values.items() if value not in ("", [], {}, None)}


def _listed(**values: Any) -> list[dict[str, Any]]:
    kept = _kept(**values)
    return [kept] if kept else []


def _study(
    file: ReleaseFile, language: str, title: str, producers: list[dict[str, Any]]
) -> dict[str, Any]:
    other = [text for spoken, text in file.title.by_language if spoken != language]
    contact = _listed(**{"email" if "@" in file.contact else "name": file.contact})
    weights = _word("weights", language) if any(map(weight_of, file.tables)) else ""
    remarks = " ".join(text.show(language) for text in (*file.notes, *removed_texts(file)))
    units = [_word(f"contents.{table.entity.value}", language) for table in file.tables]
    return _kept(
        title_statement=_kept(
            idno=file.name, title=title, translated_title=other[0] if other else ""
        ),
        authoring_entity=producers,
        production_statement=_kept(producers=producers),
        distribution_statement=_kept(distributors=producers, contact=contact),
        version_statement={"version": file.version},
        bib_citation=file.citation.show(language),
        study_info=_kept(
            abstract=file.abstract.show(language),
            time_periods=_listed(start=file.reference_date, end=file.reference_date),
            nation=[{"name": file.country.show(language) or file.name}],
            analysis_unit=" ".join(units),
            universe=file.census.show(language),
            data_kind=_word("data_kind", language),
            notes=remarks,
        ),
        method={
            "data_collection": _kept(
                sampling_procedure=sampling_text(file).show(language), weight=weights
            )
        },
        data_access={
            "dataset_use": _kept(
                restrictions=access_text(file).show(language),
                contact=contact,
                cit_req=_word("cite", language),
                conditions=" ".join(text.show(language) for text in condition_texts(file)),
            )
        },
    )


def _variable(file: ReleaseFile, numbered: NumberedColumn, language: str) -> dict[str, Any]:
    column = numbered.column
    statistics = column_statistics(file, numbered.part.table, column)
    categories = []
    for place, code in enumerate(column.codes):
        stats: list[dict[str, Any]] = []
        if statistics.frequencies:
            stats.append({"type": "freq", "value": statistics.frequencies[place]})
        if statistics.weighted:
            value = statistics.weighted[place]
            stats.append({"type": "freq", "value": value, "wgtd": "weighted"})
        categories.append(
            {
                "value": code.code,
                "label": plain_text(code.label.show(language) or code.code),
                **({"stats": stats} if stats else {}),
            }
        )
    continuous = column.kind in (ColumnKind.AMOUNT, ColumnKind.WEIGHT)
    return _kept(
        file_id=numbered.file,
        vid=numbered.variable,
        name=column.name,
        labl=plain_text(column.label.show(language) or column.name),
        var_intrvl="contin" if continuous else "discrete",
        var_dcml=str(column.decimals) if continuous else "",
        var_wgt=int(column.kind is ColumnKind.WEIGHT),
        var_universe=column.universe.show(language),
        var_sumstat=[
            {
                "type": summary.kind,
                "value": summary.value,
                **({"wgtd": "weighted"} if summary.weighted else {}),
            }
            for summary in statistics.summaries
        ],
        var_txt=column.description.show(language),
        var_catgry=categories,
        var_codinstr=column.recoded.show(language),
        var_notes=column.unit_by_language.show(language) or column.unit,
    )
