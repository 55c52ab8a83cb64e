"""Small writers of SPSS, Stata and SAS files: the libraries that we have only read them.

The formats are publicly described: the SPSS system file in the manual of PSPP (here without
compression), the Stata file in ``help dta`` (here release 114), the SAS data set and its catalog
by those who analysed them (here 32 bit, little endian). Only what the tests need is written.
"""

from __future__ import annotations

import struct
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

SYSTEM_MISSING = -1.7976931348623157e308
_STATA_TYPES = {"byte": 251, "int": 252, "long": 253, "float": 254, "double": 255}
_STATA_PACK = {"byte": "b", "int": "h", "long": "i", "float": "f", "double": "d"}
_STATA_MISSING = {"byte": 101, "int": 32741, "long": 2147483621}
# The doubles of ".", ".a", ... share one exponent and count up in the next byte.
_STATA_DOUBLE_MISSING = 0x7FE0000000000000


def _spss_format(kind: int, width: int, decimals: int) -> int:
    return kind << 16 | width << 8 | decimals


def write_sav(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    *,
    labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Mapping[Any, str]] | None = None,
    missing: Mapping[str, Sequence[Any]] | None = None,
    missing_range: Mapping[str, tuple[float, float]] | None = None,
    dates: Sequence[str] = (),
    datetimes: Sequence[str] = (),
) -> Path:
    """Write numbers (None: system missing) and texts; dates are given as seconds since 1582."""
    labels, value_labels = labels or {}, value_labels or {}
    missing, missing_range = missing or {}, missing_range or {}
    rows = len(next(iter(columns.values())))
    widths = {
        name: max((len(str(value or "").encode()) for value in values), default=1) or 1
        if any(isinstance(value, str) for value in values)
        else 0
        for name, values in columns.items()
    }
    segments = {name: max(1, -(-width // 8)) for name, width in widths.items()}
    out = bytearray()
    out += b"$FL2" + b"@(#) SPSS DATA FILE - hand made".ljust(60)
    out += struct.pack("<iiiii", 2, sum(segments.values()), 0, 0, rows)
    out += struct.pack("<d", 100.0) + b"01 Jan 21" + b"00:00:00" + b"".ljust(64) + b"\0\0\0"
    position, index = 1, {}
    for name, width in widths.items():
        index[name] = position
        position += segments[name]
        label = labels.get(name, "").encode()
        declared = list(missing.get(name, ()))
        count = len(declared)
        if name in missing_range:
            declared, count = [*missing_range[name], *declared], -2 - len(declared)
        kind = 20 if name in dates else 22 if name in datetimes else 5
        shape = _spss_format(1, width, 0) if width else _spss_format(kind, 11, 2 * (kind == 5))
        out += struct.pack("<iiiiii", 2, width, bool(label), count, shape, shape)
        out += name.upper().encode().ljust(8)[:8]
        if label:
            out += struct.pack("<i", len(label)) + label.ljust(-(-len(label) // 4) * 4)
        for one in declared:
            out += one.encode().ljust(8) if isinstance(one, str) else struct.pack("<d", one)
        for _ in range(segments[name] - 1):
            out += struct.pack("<iiiiii", 2, -1, 0, 0, shape, shape) + b" " * 8
    for name, known in value_labels.items():
        out += struct.pack("<ii", 3, len(known))
        for value, label_text in known.items():
            text = label_text.encode()
            out += value.encode().ljust(8) if isinstance(value, str) else struct.pack("<d", value)
            out += (bytes([len(text)]) + text).ljust(-(-(len(text) + 1) // 8) * 8)
        out += struct.pack("<iii", 4, 1, index[name])
    names = "\t".join(f"{name.upper()[:8]}={name}" for name in columns).encode()
    out += struct.pack("<iiii", 7, 3, 4, 8) + struct.pack("<8i", 24, 0, 0, -1, 1, 1, 2, 65001)
    out += struct.pack("<iiii", 7, 4, 8, 3)
    out += struct.pack("<ddd", SYSTEM_MISSING, 1.7976931348623157e308, -1.7976931348623155e308)
    out += struct.pack("<iiii", 7, 13, 1, len(names)) + names
    out += struct.pack("<iiii", 7, 20, 1, 5) + b"UTF-8"
    out += struct.pack("<ii", 999, 0)
    for row in range(rows):
        for name, values in columns.items():
            one = values[row]
            if widths[name]:
                out += (one or "").encode().ljust(segments[name] * 8)
            else:
                out += struct.pack("<d", SYSTEM_MISSING if one is None else one)
    path.write_bytes(bytes(out))
    return path


def _stata_value(kind: str, value: Any) -> bytes:
    """One number; None is ``.`` and a letter is one of ``.a`` to ``.z``."""
    if value is None or isinstance(value, str):
        step = 0 if value is None else ord(value) - ord("a") + 1
        if kind == "double":
            return struct.pack("<Q", _STATA_DOUBLE_MISSING + (step << 40))
        if kind == "float":
            return struct.pack("<I", 0x7F000000 + (step << 11))
        value = _STATA_MISSING[kind] + step
    return struct.pack("<" + _STATA_PACK[kind], value)


def write_dta(
    path: Path,
    columns: Mapping[str, tuple[str, Sequence[Any]]],
    *,
    labels: Mapping[str, str] | None = None,
    value_labels: Mapping[str, Mapping[Any, str]] | None = None,
    formats: Mapping[str, str] | None = None,
) -> Path:
    """Write columns given as ``name: (type, values)``; the type ``strN`` holds text."""
    labels, value_labels, formats = labels or {}, value_labels or {}, formats or {}
    rows = len(next(iter(columns.values()))[1])
    out = bytearray(struct.pack("<bbbbhi", 114, 2, 1, 0, len(columns), rows))
    out += b"\0" * 81 + b"\0" * 18
    for kind, _ in columns.values():
        out.append(int(kind[3:]) if kind.startswith("str") else _STATA_TYPES[kind])
    out += b"".join(name.encode().ljust(33, b"\0") for name in columns)
    out += b"\0\0" * (len(columns) + 1)
    for name, (kind, _) in columns.items():
        default = f"%{kind[3:]}s" if kind.startswith("str") else "%9.0g"
        out += formats.get(name, default).encode().ljust(49, b"\0")
    for name in columns:
        out += (name if name in value_labels else "").encode().ljust(33, b"\0")
    out += b"".join(labels.get(name, "").encode().ljust(81, b"\0") for name in columns)
    out += b"\0" * 5
    for row in range(rows):
        for kind, values in columns.values():
            if kind.startswith("str"):
                out += (values[row] or "").encode("cp1252").ljust(int(kind[3:]), b"\0")
            else:
                out += _stata_value(kind, values[row])
    for name, known in value_labels.items():
        texts = [text.encode("cp1252") + b"\0" for text in known.values()]
        offsets, total = [], 0
        for text in texts:
            offsets.append(total)
            total += len(text)
        body = struct.pack("<ii", len(texts), total) + struct.pack(f"<{len(texts)}i", *offsets)
        body += b"".join(_stata_value("long", value) for value in known) + b"".join(texts)
        out += struct.pack("<i", len(body)) + name.encode().ljust(33, b"\0") + b"\0\0\0" + body
    path.write_bytes(bytes(out))
    return path


_SAS_PAGE = 4096
_SAS_PAGE_HEAD = 24


def _sas_header(magic: int, kind: bytes, pages: int) -> bytes:
    """The first 1024 bytes of a data set or a catalog."""
    out = bytearray(1024)
    out[0:32] = bytes.fromhex(
        f"000000000000000000000000c2ea81{magic:02x}b31411cfbd92080009c7318c181f1011"
    )
    out[32], out[35], out[37], out[39], out[70] = 0x22, 0x22, 1, ord("1"), 20  # 20: UTF-8
    out[84:92], out[92:156], out[156:164] = b"SAS FILE", b"PERSONS".ljust(64), kind
    out[196:208] = struct.pack("<III", 1024, _SAS_PAGE, pages)
    out[216:224] = b"9.0401M6"
    return bytes(out)


def write_sas7bdat(
    path: Path,
    columns: Mapping[str, Sequence[Any]],
    *,
    labels: Mapping[str, str] | None = None,
    formats: Mapping[str, str] | None = None,
) -> Path:
    """Write numbers (None: missing) and texts; dates are numbers with a date format."""
    labels, formats = labels or {}, formats or {}
    rows = len(next(iter(columns.values())))
    widths = {
        name: max(len((value or "").encode()) for value in values)
        if any(isinstance(value, str) for value in values)
        else 8
        for name, values in columns.items()
    }
    is_text = {name: any(isinstance(one, str) for one in columns[name]) for name in columns}
    texts = bytearray()

    def text_at(text: str) -> bytes:
        place = len(texts) + 28
        texts.extend(text.encode().ljust(-(-len(text) // 4) * 4, b"\0"))
        return struct.pack("<HHH", 0, place, len(text))

    row_size = bytearray(480)
    row_length = sum(widths.values())
    row_size[0:4] = bytes.fromhex("f7f7f7f7")
    row_size[20:28] = struct.pack("<II", row_length, rows)
    row_size[36:44] = struct.pack("<II", len(columns), 0)
    row_size[52:56] = struct.pack("<I", _SAS_PAGE)
    per_page = (_SAS_PAGE - _SAS_PAGE_HEAD) // row_length
    row_size[60:64] = struct.pack("<I", per_page)
    column_size = bytes.fromhex("f6f6f6f6") + struct.pack("<II", len(columns), 0)
    names = bytearray(bytes.fromhex("ffffffff") + struct.pack("<HHI", 8 * len(columns) + 8, 0, 0))
    attributes = bytearray(
        bytes.fromhex("fcffffff") + struct.pack("<HHI", 12 * len(columns) + 8, 0, 0)
    )
    shapes, offset = [], 0
    for name, width in widths.items():
        names += text_at(name) + b"\0\0"
        attributes += struct.pack("<IIHBB", offset, width, 4, 2 if is_text[name] else 1, 0)
        offset += width
    for name in columns:
        shape = bytearray(52)
        shape[0:4] = bytes.fromhex("fefbffff")
        if name in formats:
            shape[34:40] = text_at(formats[name])
        if name in labels:
            shape[40:46] = text_at(labels[name])
        shapes.append(bytes(shape))
    names += b"\0" * 8
    attributes += b"\0" * 8
    text = bytes.fromhex("fdffffff") + struct.pack("<H", len(texts) + 20) + b"\0" * 10
    text += b" " * 8 + b"\0" * 8 + bytes(texts)
    page, pointer, end = bytearray(_SAS_PAGE), _SAS_PAGE_HEAD, _SAS_PAGE
    parts = [bytes(row_size), column_size, text, bytes(names), bytes(attributes), *shapes]
    for part in parts:
        end -= len(part)
        page[end : end + len(part)] = part
        # The fourth byte of these signatures is ff, that of the sizes is not.
        flag = part[3] == 0xFF and part[0] in (0xFF, 0xFC, 0xFD)
        page[pointer : pointer + 12] = struct.pack("<IIBBH", end, len(part), 0, flag, 0)
        pointer += 12
    page[16:24] = struct.pack("<HHHH", 0, len(parts), len(parts), 0)
    body = bytearray(page)
    for start in range(0, rows, per_page):
        held = min(per_page, rows - start)
        data = bytearray(struct.pack("<16xHHHH", 0x0100, held, 0, 0))
        for row in range(start, start + held):
            for name, values in columns.items():
                one = values[row]
                if is_text[name]:
                    data += (one or "").encode().ljust(widths[name])
                else:
                    data += (
                        bytes.fromhex("0000000000feffff") if one is None else struct.pack("<d", one)
                    )
        body += data.ljust(_SAS_PAGE, b"\0")
    path.write_bytes(_sas_header(0x60, b"DATA    ", len(body) // _SAS_PAGE) + bytes(body))
    return path


def write_sas7bcat(path: Path, formats: Mapping[str, Mapping[float, str]]) -> Path:
    """Write a catalog of value labels for numbers."""
    index, blocks, place = bytearray(_SAS_PAGE), bytearray(16), 16
    for number, (name, known) in enumerate(formats.items()):
        block = bytearray(106)
        block[8:16] = name.encode().ljust(8)
        block[38:46] = struct.pack("<ii", len(known), len(known))
        for order, value in enumerate(known):
            # Doubles in an order in which bytes compare like numbers.
            bits = struct.unpack(">Q", struct.pack(">d", -value if value >= 0 else value))[0]
            bits = bits if value >= 0 else ~bits & (2**64 - 1)
            block += struct.pack("<2xh6xi8x", 24, order) + struct.pack(">Q", bits)
        for label in known.values():
            block += struct.pack("<8xh", len(label.encode())) + label.encode() + b"\0"
        entry = 856 + 212 * number
        index[entry : entry + 10] = struct.pack("<4sih", b"XLSR", 4, place)
        index[entry + 50] = ord("O")
        blocks += struct.pack("<ihh8x", 0, 0, len(block)) + block
        place += 16 + len(block)
    empty = bytes(_SAS_PAGE)
    body = empty + bytes(index) + empty + bytes(blocks.ljust(_SAS_PAGE, b"\0"))
    path.write_bytes(_sas_header(0x63, b"CATALOG ", 4) + body)
    return path
