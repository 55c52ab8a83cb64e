"""What the parts and settings of a plan mean, in plain words: for those who start one."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from sdcensus.model.plan.vocabulary import INDICATOR_KINDS, PROGRAMME_NAMES
from sdcensus.model.published.table_format import FORMAT_NAMES


def _listed(words: object) -> str:
    return ", ".join(map(str, words))  # type: ignore[call-overload]


#: What stands above the parts of a plan that the program drafts.
PART_NOTES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "store": (
            "The census store, made by sdcensus load. Paths begin at the folder of this file.",
        ),
        "programme": (
            "A programme of tables that others define, beside or instead of your own.",
            'programme = "eu-2021"',
            'tables = ["1.*", "9.2", "grid"]       # which of them; leave out for all',
            'mapping = "eu-mapping.toml"           # your variables -> its breakdowns',
        ),
        "table": (
            "One [[table]] for each table. An axis is variable, variable@level, or several levels:",
            "ed@parish+district. Totals are shown unless the axis ends in -total.",
            "universe: count only these: a universe of the schema, such as adults, or declared"
            " codes.",
            "where: any other condition, such as age >= 18; a sum of published values then.",
            "of: persons, families, households, dwellings or buildings.",
            "measure: count, weighted, or share(condition) for a percentage of each cell.",
        ),
        "indicator": (
            "Figures that are computed from published counts. Kinds:",
            f"{_listed(list(INDICATOR_KINDS)[:5])},",
            f"{_listed(list(INDICATOR_KINDS)[5:])}.",
            "[[indicator]]",
            'name = "median-age-by-parish"',
            'kind = "median-age"',
            'by = ["ed@parish"]',
        ),
        "office": (
            "Who publishes: stands in notes and in the heads of files.",
            "[office]",
            'name = "Statistical Office"',
            'legal_basis = "Statistics Act, section 7"',
            'contact = "census@example.org"',
            'symbols = { withheld = "x" }          # your own signs, where you have them',
        ),
        "protect": (
            "How numbers are protected. The secret never stands here: name its file by --secret.",
            "smallest_group: groups that are published below it are not broken down further.",
        ),
        "policy": (
            "The rules that every table must obey.",
            "[policy]",
            'file = "policy.toml"                  # sdcensus recommend proposes one',
        ),
        "output": (
            "Where files go. The office folder is for your eyes only: evaluation, audit, registry.",
            f"formats: {_listed(FORMAT_NAMES)}.",
        ),
    }
)

#: What each setting of the sheet ``plan`` of a workbook means; methods declare the others.
SETTING_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "store": "The census store, made by sdcensus load; from the folder of this file.",
        "programme": f"A programme of tables that others define: {_listed(PROGRAMME_NAMES)}.",
        "tables": "Which tables of the programme, such as 1.*, 9.2, grid; empty for all.",
        "mapping": "The file that connects your variables to the programme.",
        "method": "How numbers are protected.",
        "then": "Steps after it, comma-separated.",
        "import_published": "Whether numbers of the same records that are out are taken over.",
        "smallest_group": "Groups that are published below this are not broken down further.",
        "policy": "The file of the rules that every table must obey.",
        "role": "In whose name the policy is asked: usually production.",
        "folder": "The folder for everybody.",
        "office_folder": "The folder for the office only; empty for one beside the other.",
        "date": "The date that is written into files; no clock is read.",
        "formats": f"Comma-separated: {_listed(FORMAT_NAMES)}.",
        "languages": "Comma-separated codes such as en, es; empty for all of the census.",
        "notes": "Whether notes for readers are written: yes or no.",
        "evaluation": "Whether an evaluation is written for the office: yes or no.",
        "original_store": "For the evaluation: the store before its records were swapped.",
        "labels": "Whether csv and parquet files have columns of labels: yes or no.",
    }
)

#: What each column of the sheets ``tables`` and ``indicators`` means.
COLUMN_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "name": "How the table and its files are called: letters, digits, - _ and .",
        "title": "What stands above it, in one column for each language.",
        "of": "What is counted.",
        "universe": "Count only these: a universe of the schema, such as adults, or codes.",
        "where": "Any other condition, such as age >= 18: sums of published values.",
        "rows": "Axes down the page, comma-separated: ed@parish, sex, age@five_year-total.",
        "columns": "Axes across the page, comma-separated.",
        "measure": "count, weighted, or share(condition).",
        "kind": f"What is computed: {_listed(INDICATOR_KINDS)}.",
        "by": "For which groups, as comma-separated axes.",
        "numerator": "A condition: for share and ratio.",
        "denominator": "A condition: for share and ratio.",
        "variable": "For median, mean and distribution, such as age or age@five_year.",
        "per": "What a ratio is given per, such as 100.",
        "decimals": "How many digits behind the point.",
    }
)

#: What each row of the sheet ``office`` means.
OFFICE_NOTES: Mapping[str, str] = MappingProxyType(
    {
        "name": "Who publishes.",
        "legal_basis": "The law by which data are protected and published.",
        "contact": "Where readers can ask.",
        "withheld": "Your sign for a number that is withheld as confidential.",
        "below_threshold": "Your sign for a number that is too small to be published.",
        "refused": "Your sign for what is not published for an area.",
        "not_available": "Your sign for what is not available.",
        "low_reliability": "Your sign for low reliability.",
        "not_broken_down": "Your sign for parts of groups that are too small to break down.",
    }
)
