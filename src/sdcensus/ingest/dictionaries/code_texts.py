"""Codes, names and ranges as people write them, and the form in which they are compared."""

from __future__ import annotations

import re
from functools import lru_cache

from sdcensus.model.letters import plain_letters

_WHOLE = re.compile(r"([+-]?)0*([0-9]{1,18})(?:[.,]0+)?")
#: What stands between the ends of a range, in the languages of offices.
_BETWEEN = r"-|–|—|−|:|\.{2,3}|…|a|à|al|to|through|thru|hasta|até|ate|et|y|e|and|tot|t/m|bis|,|;"
_RANGE = re.compile(
    r"[\[({]?\s*(?:(?:de|du|da|from|entre|between|van|von|desde)\s+)?"
    rf"([-+−]?[0-9]{{1,15}})\s*(?P<between>{_BETWEEN})\s*([-+−]?[0-9]{{1,15}})"
    r"\s*[\])}]?(?:\s+[^\W\d]+\.?)?",
    re.IGNORECASE,
)
#: Signs that separate the ends only where a column is known to hold ranges.
_WEAK = frozenset({",", ";", "y", "e", "et", "and"})
_PAIR = re.compile(
    r"[(\[]?([+-]?[0-9]{1,12}|[A-Za-z][0-9A-Za-z]?|\.[a-zA-Z])[)\]]?"
    r"\s*(=|:|\.-|\.(?![0-9])|\)|[-–](?!\s*[0-9]+\s*$)|,|\s)\s*(\S.*)",
    re.DOTALL,
)
#: Without any of these signs a text is no list, which is cheap to see.
_MAY_BE_LIST = re.compile(r"[=:;|)\n]|[0-9]\s*[.–-]")
_INLINE = re.compile(
    r"(?:^|(?<=[\s;,|/]))([+-]?[0-9]{1,6})\s*(?:=|\.-|\.(?![0-9])|:|\))\s*"
    r"(.+?)(?=[\s;,|/]+[+-]?[0-9]{1,6}\s*(?:=|\.-|\.(?![0-9])|:|\))|$)",
    re.DOTALL,
)


def common_code(text: str) -> str:
    """The form in which codes of dictionaries and files are compared.

    Examples:
        >>> [common_code(text) for text in ("01", " 1 ", "1.0", "-09", "00", "A1", "1a")]
        ['1', '1', '1', '-9', '0', 'a1', '1a']
    """
    plain = text.strip().removeprefix("'").strip()
    match = _WHOLE.fullmatch(plain)
    if match is None:
        return plain.casefold()
    return ("-" if match[1] == "-" and match[2] != "0" else "") + match[2]


@lru_cache(maxsize=1 << 16)
def common_name(text: str) -> str:
    """The form in which names are compared: no accents, blanks, signs or capital letters.

    Examples:
        >>> common_name("Año de Nacimiento"), common_name("ano_de_nacimiento"), common_name("№")
        ('anodenacimiento', 'anodenacimiento', 'no')
    """
    letters = "".join(sign for sign in plain_letters(text) if sign.isalnum())
    return letters or text.strip()


def as_range(text: str, *, only_ranges: bool = False) -> tuple[int, int] | None:
    """The two ends of a range of whole numbers; ``None`` if the text is none.

    Args:
        text: What is written.
        only_ranges: Whether the text stands where nothing else can stand.

    Examples:
        >>> as_range("0-120"), as_range("18 a 99 años"), as_range("-9:-1"), as_range("9-1")
        ((0, 120), (18, 99), (-9, -1), None)
        >>> as_range("0,120"), as_range("0,120", only_ranges=True)
        (None, (0, 120))
    """
    match = _RANGE.fullmatch(text.strip())
    if match is None or (not only_ranges and match["between"].casefold() in _WEAK):
        return None
    low, high = (int(match[group].replace("−", "-")) for group in (1, 3))
    return (low, high) if low < high else None


def listed_codes(text: str) -> list[tuple[str, str]]:
    """Codes with labels that stand together in one cell; empty if the text is no such list.

    Examples:
        >>> listed_codes("1=Hombre; 2=Mujer"), listed_codes("1. Sí | 2. No | 9. No sabe")
        ([('1', 'Hombre'), ('2', 'Mujer')], [('1', 'Sí'), ('2', 'No'), ('9', 'No sabe')])
        >>> listed_codes("1 Urbano" + chr(10) + "2 Rural"), listed_codes("Hombre")
        ([('1', 'Urbano'), ('2', 'Rural')], [])
        >>> listed_codes("1: Casa, 2: Apartamento, quinta o similar")
        [('1', 'Casa'), ('2', 'Apartamento, quinta o similar')]
    """
    if _MAY_BE_LIST.search(text) is None:
        return []
    if text.strip().startswith("{") and text.strip().endswith("}"):  # {1: 'Male', 2: 'Female'}
        text = re.sub(r"['\"]", "", text.strip()[1:-1])
    for separator in ("\n", "|", ";"):
        pieces = [piece for piece in text.split(separator) if piece.strip()]
        pairs = [_PAIR.fullmatch(piece.strip()) for piece in pieces]
        if len(pieces) > 1 and all(pairs):
            return [(pair[1], pair[3].strip(" ,;")) for pair in pairs if pair is not None]
    inline = [(code, label.strip(" ,;|/")) for code, label in _INLINE.findall(text.strip())]
    starts = re.match(r"[+-]?[0-9]{1,6}\s*(?:=|\.-|\.(?![0-9])|:|\))", text.strip())
    if len(inline) > 1 and starts:
        return inline
    single = code_with_label(text)
    return [single] if single is not None and "=" in text else []


def code_with_label(text: str) -> tuple[str, str] | None:
    """A code and its label that stand in one cell.

    Examples:
        >>> code_with_label("1. Hombre"), code_with_label("02 - Rural"), code_with_label("Hombre")
        (('1', 'Hombre'), ('02', 'Rural'), None)
        >>> code_with_label("2 veces"), code_with_label("10-19")
        (None, None)
    """
    match = _PAIR.fullmatch(text.strip())
    if match is None or match[2].isspace() or match[2] == ",":
        return None
    return match[1], match[3].strip(" ,;")
