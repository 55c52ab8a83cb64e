"""Published tables made by hand, for tests of what writes and explains them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import SparseTable, Table
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Variable,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text


def text(en: str, es: str = "") -> Text:
    return Text.of({"en": en, "es": es or en})


SEX = Variable(
    name="sex",
    entity=Entity.PERSON,
    label=text("Sex", "Sexo"),
    codes=(
        Code("1", text("Male", "Hombre")),
        Code("2", text("Female", "Mujer")),
    ),
)
AREA = Variable(
    name="area",
    entity=Entity.PERSON,
    label=text("Area", "Zona"),
    codes=(
        Code("E1", text("Hill", "Colina")),
        Code("E2", text("Shore, “west”", "Orilla")),
        Code("E3", text('=HYPERLINK("x")')),
        Code("E4", text("-1")),
    ),
    hierarchies=(
        Hierarchy(
            "tree",
            (
                Level(
                    "parish",
                    (Code("P1", text("North", "Norte")), Code("P2", text("South", "Sur"))),
                    (0, 0, 1, 1),
                ),
            ),
        ),
    ),
)
AGE = Variable(
    name="age",
    entity=Entity.PERSON,
    label=text("Age", "Edad"),
    codes=(
        *(Code(str(one), Text.of(str(one)), lower=one, upper=one) for one in range(100)),
        Code("999", text("Not stated", "No declarado"), kind=CodeKind.NOT_STATED),
    ),
)
SCHEMA = Schema(
    census=CensusInfo(name="Made by hand", languages=("en", "es")),
    entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
    variables=(SEX, AREA, AGE),
)
PROVENANCE = Provenance(
    method="cell-key",
    method_version="1",
    fingerprint="00112233445566778899aabbccddeeff",
    data_version="d41d8cd98f00b204",
    key_version=1,
    secret_id="b7a551f2cc2b4dff",
    package_version="0.0",
    spec_hash="feedface",
)


def spec(*by: str, universe: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=universe)


def table(
    *by: str, values: Sequence[int] | None = None, withheld: Sequence[int] = (), below: int = -1
) -> Table:
    """A table whose values are 0, 1, 2 ... or those given; some withheld, one below a threshold."""
    one = spec(*by)
    numbers = np.array(range(one.cells) if values is None else values, dtype=np.int64)
    flags = np.zeros(one.cells, dtype=np.uint8)
    flags[list(withheld)] = 1
    if below >= 0:
        flags[below] = 2
    numbers[flags != 0] = 0
    return Table(one, numbers.reshape(one.shape), flags.reshape(one.shape))


def sparse(dense: Table) -> SparseTable:
    """The same values without zeros."""
    flat = dense.published.reshape(-1)
    held = np.flatnonzero(flat)
    return SparseTable(dense.spec, held.astype(np.uint64), flat[held], dense.notes)
