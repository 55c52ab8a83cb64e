"""Tables of sums on their whole way: from a store, by every method for sums."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.notes import notes_for
from sdcensus.model.method.registry import methods_for_counts, methods_for_sums
from sdcensus.model.published.table import Table
from sdcensus.session.census.census import Census
from sdcensus.session.protect.table import build_method, protect_table
from sdcensus.session.study.every_method import method_texts
from sdcensus.testing.island import SECRET
from tests.hamlet import write_hamlet

AXES = ("ed@parish+ed", "sex", "age@broad")


@pytest.fixture(scope="module")
def census(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return write_hamlet(tmp_path_factory.mktemp("hamlet")).load()


@pytest.mark.parametrize("name", methods_for_sums())
def test_every_method_for_sums_protects_a_table_and_explains_it(census: Census, name: str) -> None:
    method = build_method(name, census, secret=SECRET)
    spec = census.spec(*AXES, measure="sum(income)")
    protected = protect_table(census, spec, method)
    assert protected.provenance.method == name
    table = protected.table
    assert isinstance(table, Table)
    assert table.notes == notes_for(table, method.claims())
    true = census.tabulate(spec).values.sum_of("income")
    assert (table.published != true).any()
    assert not table.published[true == 0].any()


@pytest.mark.parametrize("measure", ["sum(income)", "weighted-sum(income)"])
@pytest.mark.parametrize("name", methods_for_sums())
def test_engines_publish_the_same(census: Census, name: str, measure: str) -> None:
    method = build_method(name, census, secret=SECRET)
    spec = census.spec(*AXES, measure=measure)
    memory, duckdb = (
        protect_table(census, spec, method, engine=engine).table for engine in ("memory", "duckdb")
    )
    assert memory == duckdb


def test_a_study_compares_methods_for_what_its_tables_show(census: Census) -> None:
    sums = method_texts([census.spec("sex", measure="sum(income)")])
    counts = method_texts([census.spec("sex")])
    assert {text.split()[0] for text in sums} >= set(methods_for_sums())
    # Suppression is for both; every other method is for one of the two.
    assert {text.split()[0] for text in sums} & set(methods_for_counts()) == {"suppression"}
    assert not {text.split()[0] for text in counts} & set(methods_for_sums())


@pytest.mark.parametrize("name", methods_for_sums())
def test_counts_are_refused_by_methods_for_sums(census: Census, name: str) -> None:
    method = build_method(name, census, secret=SECRET)
    with pytest.raises(SpecError, match="is for sums of amounts"):
        protect_table(census, census.spec("sex"), method)


def test_the_audit_holds_the_keys_that_were_looked_up(census: Census) -> None:
    method = build_method("cell-key-sums", census, secret=SECRET)
    spec = census.spec(*AXES, measure="sum(income)")
    audit = protect_table(census, spec, method).audit
    known = audit.cube.values.contributions
    assert known is not None
    assert audit.effective_keys is not None
    numbers = np.arange(spec.cells, dtype=np.uint64)
    looked_up = audit.effective_keys(known.contributor_key.ravel(), numbers)
    # Different questions have different keys, and one question the same key everywhere.
    assert len(set(looked_up.tolist())) > 0.8 * (known.contributors > 0).sum()
