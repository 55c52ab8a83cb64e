"""Keys of empty cells: they have no records, so what they mean takes the place of record keys."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.siphash import siphash24
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.record_sets import is_product, leaves_in, leaves_of
from sdcensus.model.spec.table_spec import TableSpec

Mask = npt.NDArray[np.bool_]


def empty_cell_keys(spec: TableSpec, hash_key: bytes) -> npt.NDArray[np.uint32]:
    """A key for each cell of a table that depends on its meaning alone.

    Each set of leaves of a variable has a key; a cell adds those of the sets that define it, and
    the sum is hashed. A variable that defines nothing (a total) adds nothing. So "women of the
    north" has one key, whether the north is an axis, a subtotal with one child or a filter. A
    condition that is no product of sets ("women, or anyone of the north") has a key of its own,
    beside those of the axes.
    """
    product = is_product(spec.universe)
    sums = np.zeros(spec.shape, dtype=np.uint64)
    for at, axis in enumerate(spec.axes):
        inside = leaves_in(spec.universe, axis.variable)
        keys = []
        for position in range(len(axis.codes)):
            leaves = leaves_of(axis, position)
            keys.append(_key_of(axis.variable, leaves & inside if product else leaves, hash_key))
        shape = [1] * len(spec.axes)
        shape[at] = len(keys)
        sums += np.array(keys, dtype=np.uint64).reshape(shape)
    sums += np.uint64(_key_of_universe(spec, product, hash_key))
    hashed = siphash24(hash_key, sums.reshape(-1, 1)) >> np.uint64(32)
    return hashed.astype(np.uint32).reshape(spec.shape)


def _key_of_universe(spec: TableSpec, product: bool, hash_key: bytes) -> int:
    if not product:
        return _digest([spec.of.value, spec.universe.canonical()], hash_key)
    shown = {axis.variable.name for axis in spec.axes}
    total = _digest([spec.of.value], hash_key)
    for variable in spec.universe.variables:
        if variable.name not in shown:
            total += _key_of(variable, leaves_in(spec.universe, variable), hash_key)
    return total % 2**64


def _key_of(variable: Variable, leaves: Mask, hash_key: bytes) -> int:
    if leaves.all():
        return 0
    codes = sorted(code.code for code, inside in zip(variable.codes, leaves, strict=True) if inside)
    return _digest([variable.name, codes], hash_key)


def _digest(meaning: object, hash_key: bytes) -> int:
    text = json.dumps(meaning, ensure_ascii=False, separators=(",", ":"))
    digest = hashlib.blake2b(text.encode(), key=hash_key, person=b"empty-cell", digest_size=8)
    return int.from_bytes(digest.digest(), "big")
