"""The CSPro dictionary up to CSPro 7: sections with ``Key=Value`` lines."""

from __future__ import annotations

import re
from typing import Any

from sdcensus.errors import InputError

_NUMBER_KEYS = {
    "start": "start",
    "len": "length",
    "decimal": "decimals",
    "occurrences": "occurrences",
}
_TOKEN = re.compile(r"""\s*(?:'([^']*)'|"([^"]*)"|([^\s;'"]+))""")


def read_sections(text: str, file: str) -> dict[str, Any]:
    """The words of the older dictionary as a tree in the words of the newer one."""
    root: dict[str, Any] = {"levels": []}
    node: dict[str, Any] = {}
    items: list[dict[str, Any]] | None = None
    seen, section = False, ""
    for line, raw in enumerate(text.splitlines(), start=1):
        entry = raw.strip()
        if not entry:
            continue
        if entry.startswith("[") and entry.endswith("]"):
            section = entry[1:-1].strip().casefold()
            try:
                node, items = _open_section(section, root, items, line)
            except LookupError as error:
                raise InputError(
                    f"{file}: line {line}: a section {entry} cannot stand here."
                ) from error
            seen = True
            continue
        key, equals, value = entry.partition("=")
        if not equals or not seen:
            raise InputError(
                f"{file}: line {line} is neither a [section] nor a Key=Value line. "
                "Is this a CSPro dictionary?"
            )
        if section == "languages":
            root.setdefault("languages", []).append({"name": key.strip()})
        else:
            _set(node, key.strip().casefold(), value, file, line)
    if not root["levels"]:
        raise InputError(f"{file}: the dictionary has no [Level]. Is this a CSPro dictionary?")
    return root


def _open_section(
    section: str, root: dict[str, Any], items: list[dict[str, Any]] | None, line: int
) -> tuple[dict[str, Any], list[dict[str, Any]] | None]:
    """Add a section to the tree: the node that its lines fill, and where items go from now on."""
    node: dict[str, Any] = {"line": line}
    if section == "dictionary":
        return root, items
    if section == "languages":
        return root, items
    if section == "level":
        root["levels"].append(node | {"ids": {"items": []}, "records": []})
        return root["levels"][-1], None
    if section == "iditems":
        return {}, root["levels"][-1]["ids"]["items"]
    if section == "record":
        root["levels"][-1]["records"].append(node | {"items": []})
        record = root["levels"][-1]["records"][-1]
        return record, record["items"]
    if section == "item":
        if items is None:
            raise LookupError(section)
        items.append(node | {"contentType": "numeric", "valueSets": []})
        return items[-1], items
    if section == "valueset":
        if not items:
            raise LookupError(section)
        items[-1]["valueSets"].append(node | {"values": []})
        return items[-1]["valueSets"][-1], items
    return {}, items


def _set(node: dict[str, Any], key: str, value: str, file: str, line: int) -> None:
    """Put one Key=Value line into the tree."""
    plain = value.strip()
    if key == "value" and "values" in node:
        node["values"].append(_value(plain))
    elif key == "name" and node.get("values"):
        # After a value, Name gives it a special meaning: Name=MISSING,Special.
        node["values"][-1]["special"] = plain.split(",")[0].strip()
    elif key == "name":
        node["name"] = plain
    elif key == "label":
        node.setdefault("labels", _labels(plain))
    elif key == "link":
        node["link"] = plain
    elif key in ("recordtypestart", "recordtypelen"):
        part = "start" if key.endswith("start") else "length"
        node.setdefault("recordType", {})[part] = _integer(plain, file, line)
    elif key == "recordtypevalue":
        node["recordType"] = plain[1:-1] if plain[:1] in "'\"" and len(plain) > 1 else plain
    elif key == "positions":
        node["relativePositions"] = plain.casefold() == "relative"
    elif key in _NUMBER_KEYS:
        number = _integer(plain, file, line)
        node[_NUMBER_KEYS[key]] = {"maximum": number} if key == "occurrences" else number
    elif key == "datatype":
        node["contentType"] = plain.casefold()
    elif key == "itemtype":
        node["subitem"] = plain.casefold() == "subitem"
    elif key in ("decimalchar", "zerofill"):
        node["decimalMark" if key == "decimalchar" else "zeroFill"] = plain.casefold() == "yes"


def _integer(text: str, file: str, line: int) -> int:
    digits = text.strip("'\"")
    if not (digits.isascii() and digits.isdigit() and len(digits) < 10):
        raise InputError(f"{file}: line {line}: {text!r} is not a whole number.")
    return int(digits)


def _value(text: str) -> dict[str, Any]:
    """``1:5 9;Label``: values, ranges, or texts in quotation marks, then the label."""
    pairs: list[dict[str, Any]] = []
    at = 0
    while match := _TOKEN.match(text, at):
        at = match.end()
        quoted = match[1] if match[1] is not None else match[2]
        if quoted is not None:
            pairs.append({"value": quoted})
        elif ":" in match[3].strip(":"):
            low, _, high = match[3].partition(":")
            pairs.append({"range": [low, high]})
        else:
            pairs.append({"value": match[3]})
    return {"pairs": pairs, "labels": _labels(text[at:].lstrip().removeprefix(";"))}


def _labels(text: str) -> list[dict[str, str]]:
    """A label for each language, in the order of the languages."""
    return [{"text": part.strip()} for part in text.split("|")]
