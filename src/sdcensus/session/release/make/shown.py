"""What a file shows of whom, as the office keeps it: for the risk of several files together.

The persons of a file are kept by the digests of their identity, with every code that the file tells
of them and the code lists of that time, so that a later file can be held against what was really
handed out, whatever plan or schema say by then.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import StoreError
from sdcensus.microdata.release.records import FileRecords
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Level
from sdcensus.risk.records.union import ShownFile
from sdcensus.session.release.columns import amounts_of, codes_of
from sdcensus.store.census_store import CensusStore
from sdcensus.store.owner_only import open_owner_only

Integers = npt.NDArray[Any]

_DIGEST, _LISTS = "digest", b"sdcensus-code-lists"


def shown_file(
    records: FileRecords, name: str, accepted: float, ladder: Sequence[str]
) -> ShownFile:
    """What a file shows that is about to be made.

    Args:
        records: What it tells.
        name: What it is called.
        accepted: The share of correct matches that its class accepts.
        ladder: The variables of the census that an intruder knows.
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
    keys = tuple(dict.fromkeys(key for key in ladder if key in levels))
    return ShownFile(
        name=name,
        accepted=accepted,
        rows=records.sample.rows[Entity.PERSON],
        levels=levels,
        values=values,
        keys=keys,
        amounts=amounts,
    )


def write_shown(shown: ShownFile, store: CensusStore, folder: Path) -> str:
    """Keep what a file shows, for its owner alone, in a file that is called by its digest."""
    lists = {
        name: {
            "codes": [code.code for code in level.codes],
            "kinds": [code.kind.value for code in level.codes],
            "group": list(level.group),
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
    name = f"records-{hashlib.blake2b(content, digest_size=8).hexdigest()}.parquet"
    with open_owner_only(folder / name) as file:
        file.write(content)
    return name


def read_shown(path: Path, store: CensusStore, ladder: Sequence[str]) -> tuple[ShownFile, int]:
    """What an earlier file shows, held against a census.

    Args:
        path: The file that the office has kept.
        store: The census; its persons are found by their digests.
        ladder: The variables that an intruder knows.

    Returns:
        What it shows, and how many of its persons the census does not have any more.
    """
    try:
        table = pq.read_table(path, page_checksum_verification=True)
        about = json.loads((table.schema.metadata or {})[_LISTS])
        levels = {name: _level(name, parts) for name, parts in about["lists"].items()}
        digests = table.column(_DIGEST).to_numpy()
        columns = {name: table.column(f"v_{name}").to_numpy() for name in levels}
        amounts = {
            name.removeprefix("a_"): table.column(name).to_numpy()
            for name in table.column_names
            if name.startswith("a_")
        }
    except (OSError, KeyError, ValueError, TypeError, pa.ArrowException):
        raise StoreError(f"{path} is damaged. Restore it from a backup.") from None
    known = store.digests(Entity.PERSON)
    order = np.argsort(known, kind="stable")
    at = np.searchsorted(known, digests, sorter=order)
    at[at == known.size] = 0
    rows = order[at] if known.size else at
    there = known[rows] == digests if known.size else np.zeros(digests.size, dtype=bool)
    place = np.argsort(rows[there], kind="stable")
    usable = {name: level for name, level in levels.items() if _fits(store, name, level)}
    shown = ShownFile(
        name=str(about["name"]),
        accepted=float(about["accepted"]),
        rows=rows[there][place].astype(np.int64),
        levels=usable,
        values={name: columns[name][there][place] for name in usable},
        keys=tuple(dict.fromkeys(key for key in ladder if key in usable)),
        amounts={name: numbers[there][place] for name, numbers in amounts.items()},
    )
    return shown, int((~there).sum())


def _level(name: str, parts: Mapping[str, Any]) -> Level:
    codes = tuple(
        Code(str(code), kind=CodeKind(kind))
        for code, kind in zip(parts["codes"], parts["kinds"], strict=True)
    )
    return Level(name, codes, tuple(int(group) for group in parts["group"]))


def _fits(store: CensusStore, name: str, level: Level) -> bool:
    """Whether the census has the variable still, with as many leaves as the file was made from."""
    for variable in store.schema.variables:
        if variable.name == name:
            return len(variable.codes) == len(level.group)
    return False
