"""What a file shows of whom, as the office keeps it: for the risk of several files together.

The persons of a file are kept by the digests of their identity, with every code that the file tells
of them and the code lists of that time, so that a later file can be held against what was really
handed out, whatever plan or schema say by then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import StoreError
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Level, Variable
from sdcensus.risk.records.union import ShownFile
from sdcensus.session.release.columns import amounts_of, codes_of
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import open_owner_only

Integers = npt.NDArray[Any]

_DIGEST, _LISTS, _LATER = "digest", b"sdcensus-code-lists", "(later)"


def shown_file(records: FileRecords, store: CensusStore, name: str, accepted: float) -> ShownFile:
    """What a file shows that is about to be made.

    Args:
        records: What it tells.
        store: The census as it was counted; its persons are found by their digests, as records
            may come from a census in which some were left out.
        name: What it is called.
        accepted: The share of correct matches that its class accepts.
    """
    levels: dict[str, Level] = {}
    values: dict[str, Integers] = {}
    amounts: dict[str, Integers] = {}
    for variable in records.design.variables:
        if variable.amounts:
            amounts[variable.source.name] = amounts_of(records, variable, Entity.PERSON)
            continue
        # An area of two levels is two columns; the finer one tells both.
        known = levels.get(variable.source.name)
        if known is None or len(known.codes) < len(variable.level.codes):
            levels[variable.source.name] = variable.level
            values[variable.source.name] = codes_of(records, variable, Entity.PERSON)
    digests = records.store.digests(Entity.PERSON)[records.sample.rows[Entity.PERSON]]
    rows, there = rows_of(store, digests)
    return _sorted_file(name, accepted, (rows, there), levels, values, amounts)


def _sorted_file(
    name: str,
    accepted: float,
    place: tuple[Integers, Integers],
    levels: Mapping[str, Level],
    values: Mapping[str, Integers],
    amounts: Mapping[str, Integers],
) -> ShownFile:
    """What a file shows of the persons that the census has, in the order of the census."""
    rows, there = place
    order = np.flatnonzero(there)[np.argsort(rows[there], kind="stable")]
    return ShownFile(
        name=name,
        accepted=accepted,
        rows=rows[order].astype(np.int64),
        levels=levels,
        values={variable: values[variable][order] for variable in levels},
        amounts={variable: numbers[order] for variable, numbers in amounts.items()},
    )


def rows_of(
    store: CensusStore, digests: Integers, entity: Entity = Entity.PERSON
) -> tuple[Integers, Integers]:
    """The rows of units in a census by their digests, and whether it has them."""
    known = store.digests(entity)[slice(None)]
    if not known.size:
        return np.zeros(digests.size, dtype=np.int64), np.zeros(digests.size, dtype=bool)
    order = np.argsort(known, kind="stable")
    at = np.minimum(np.searchsorted(known, digests, sorter=order), known.size - 1)
    rows = order[at]
    return rows, known[rows] == digests


def write_shown(shown: ShownFile, store: CensusStore, folder: Path) -> str:
    """Keep what a file shows, for its owner alone, in a file that is called by its digest."""
    lists = {
        name: {
            "codes": [code.code for code in level.codes],
            "kinds": [code.kind.value for code in level.codes],
            "group": list(level.group),
            "leaves": [code.code for code in store.schema.variable(name).codes],
        }
        for name, level in shown.levels.items()
    }
    digests = store.digests(Entity.PERSON)[shown.rows]
    columns = {_DIGEST: pa.array(digests)}
    columns |= {f"v_{name}": pa.array(codes) for name, codes in shown.values.items()}
    columns |= {f"a_{name}": pa.array(numbers) for name, numbers in shown.amounts.items()}
    table = pa.table(columns).replace_schema_metadata(
        {_LISTS: json.dumps({"name": shown.name, "accepted": shown.accepted, "lists": lists})}
    )
    buffer = pa.BufferOutputStream()
    pq.write_table(table, buffer, compression="zstd")
    content = buffer.getvalue()
    name = _name_of(content)
    with open_owner_only(folder / name) as file:
        file.write(content)
    return name


def read_shown(path: Path, store: CensusStore) -> tuple[ShownFile, int]:
    """What an earlier file shows, held against a census.

    Args:
        path: The file that the office has kept.
        store: The census; its persons are found by their digests.

    Returns:
        What it shows, and how many of its persons the census does not have any more.

    Raises:
        StoreError: The file is not as it was written.
    """
    try:
        content = path.read_bytes()
        if path.name != _name_of(content):
            raise ValueError
        table = pq.read_table(pa.BufferReader(content))
        about = json.loads((table.schema.metadata or {})[_LISTS])
        lists = {
            name: parts
            for name, parts in about["lists"].items()
            if any(variable.name == name for variable in store.schema.variables)
        }
        levels = {
            name: _level(name, parts, store.schema.variable(name)) for name, parts in lists.items()
        }
        digests = table.column(_DIGEST).to_numpy()
        values = {name: table.column(f"v_{name}").to_numpy() for name in levels}
        amounts = {
            name.removeprefix("a_"): table.column(name).to_numpy()
            for name in table.column_names
            if name.startswith("a_")
        }
        name, accepted = str(about["name"]), float(about["accepted"])
    except (OSError, LookupError, ValueError, TypeError, pa.ArrowException):
        raise StoreError(
            f"{path} is missing or damaged, so nobody knows what this file and a further one give"
            " away together. Restore it from a backup."
        ) from None
    rows, there = rows_of(store, digests)
    shown = _sorted_file(name, accepted, (rows, there), levels, values, amounts)
    return shown, int((~there).sum())


def _name_of(content: bytes | pa.Buffer) -> str:
    return f"records-{hashlib.blake2b(content, digest_size=8).hexdigest()}.parquet"


def _level(name: str, parts: Mapping[str, Any], variable: Variable) -> Level:
    """The codes in which a file tells a variable, over the leaves that the census has now."""
    codes = [
        Code(str(code), kind=CodeKind(kind))
        for code, kind in zip(parts["codes"], parts["kinds"], strict=True)
    ]
    known = dict(zip(parts["leaves"], parts["group"], strict=True))
    if any(leaf.code not in known for leaf in variable.codes):
        # Leaves that came later are a group of their own.
        codes.append(Code(_LATER))
    group = tuple(int(known.get(leaf.code, len(codes) - 1)) for leaf in variable.codes)
    return Level(name, tuple(codes), group)
