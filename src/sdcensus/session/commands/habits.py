"""Words of REDATAM programs that this language does not have, and what to write instead."""

from __future__ import annotations

from sdcensus.errors import Sentence, told

_RECODE_ONLY = ("SWITCH", "INCASE", "ASSIGN", "SUM", "MAXIMUM", "MINIMUM", "COUNT", "QUANTITY")
_LABELS = ("TYPE", "RANGE", "VARLABEL", "VALUELABELS", "ALIAS", "LIKE", "DEFAULT")
_FILES = ("OUTPUTFILE", "OUTPUT", "SAVE", "FILE", "OVERWRITE")
_LOOKS = ("OPTIONS", "OMIT", "FONT", "WIDTH")


def areas_by_condition() -> Sentence:
    """How areas are chosen, where REDATAM reads a file or a list of them."""
    return told(
        "habits.selection",
        "Areas are chosen by a condition, such as SELECTION ed@parish IN ('P001', 'P002').",
    )


def instead(word: str) -> Sentence | None:
    """What somebody can write who knows this word from REDATAM; ``None`` for all others."""
    word = word.upper()
    if word in _RECODE_ONLY:
        return told(
            "habits.recode",
            "Categories are computed by RECODE of one variable. What is counted or added up over"
            " other records is derived when the census is loaded.",
        )
    if word in _LABELS:
        return told(
            "habits.labels",
            "Leave {word} out: categories are named where they are made, as in"
            ' (0-14 = 1 "Children").',
            word=word,
        )
    if word in _FILES:
        return told("habits.files", "Leave {word} out: tables are saved from the page.", word=word)
    if word in _LOOKS:
        return told(
            "habits.looks", "Leave {word} out: the page decides how tables look.", word=word
        )
    if word in ("INLINE", "GEOLIST"):
        return areas_by_condition()
    if word in ("FILTER", "UNIVERSE"):
        return told("habits.filter", "Write FOR and a condition.")
    if word in ("TALLY", "WEIGHT"):
        return told(
            "habits.weight",
            "Leave {word} out: the office decides whether tables are weighted, and each table says"
            " it.",
            word=word,
        )
    return None
