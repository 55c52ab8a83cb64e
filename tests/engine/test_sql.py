"""One SQL text for several engines; a name is a name, whatever is in it."""

from __future__ import annotations

from hypothesis import given, strategies as st

from sdcensus.engine.duckdb import connected
from sdcensus.engine.sql import DUCKDB, SPARK, Dialect, Finest, Mapped, finest_query
from sdcensus.model.schema.schema import Combine, KeySpace

PLAN = Finest(
    source="records",
    axes=(Mapped("leaf_0", "axis_0"), Mapped("leaf_1", "axis_1")),
    universe=(Mapped("leaf_1", "universe_0"),),
    truth="universe",
    key="key",
    key_space=KeySpace(256),
    sums=("value_0",),
    household="household",
)


def test_the_finest_aggregation_is_written_down() -> None:
    """Golden text: whoever changes it changes what runs on every SQL engine."""
    assert finest_query(PLAN, DUCKDB).splitlines() == [
        'SELECT "cell", count(*) AS "records", CAST(sum("key") % 256 AS BIGINT) AS "keys",'
        ' CAST(sum("value_0") AS BIGINT) AS "sum_0", CAST(min("household") AS BIGINT) AS "first",'
        ' CAST(max("household") AS BIGINT) AS "last"',
        'FROM (SELECT "a0"."part" + "a1"."part" AS "cell", "r"."key", "r"."value_0",'
        ' "r"."household"',
        'FROM records AS "r"',
        'JOIN "axis_0" AS "a0" ON "a0"."leaf" = "r"."leaf_0"',
        'JOIN "axis_1" AS "a1" ON "a1"."leaf" = "r"."leaf_1"',
        'JOIN "universe_0" AS "u0" ON "u0"."leaf" = "r"."leaf_1"',
        'JOIN "universe" AS "t" ON "t"."combination" = "u0"."part") AS "cells"',
        'GROUP BY "cell"',
    ]


def test_dialects_differ_in_small_answers_only() -> None:
    duckdb, spark = finest_query(PLAN, DUCKDB), finest_query(PLAN, SPARK)
    assert duckdb.replace('"', "`") == spark
    xor = Finest(
        source="records",
        axes=(),
        universe=None,
        truth="",
        key="key",
        key_space=KeySpace(combine=Combine.XOR),
    )
    text = finest_query(xor, Dialect(quote='"', exclusive_or="xor_all"))
    assert 'xor_all("key")' in text
    assert "JOIN" not in text


@given(st.text(st.characters(exclude_characters="\0", codec="utf-8"), min_size=1, max_size=20))
def test_any_text_is_a_name_and_nothing_more(text: str) -> None:
    with connected(threads=1, memory_limit=None) as connection:
        query = f"SELECT 7 AS {DUCKDB.name(text)}, 8 AS other"
        assert connection.sql(query).fetchall() == [(7, 8)]
