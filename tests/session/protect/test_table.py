"""Methods by their names and options, and tables protected by them."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import DocumentError, SecretError, SpecError
from sdcensus.formats.perturbation import write_perturbation
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.notes import notes_for
from sdcensus.methods.perturbation.schemes import STRENGTHS, scheme, strength
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.method.registry import methods_for_counts
from sdcensus.model.published.table import Table
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import Census
from sdcensus.session.census.secret_file import SECRET_VARIABLE
from sdcensus.session.protect.table import build_method, protect_table
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island, island_store

AXES = ("area+district", "sex", "age@class")
#: What has to be said for a table with three axes.
NEEDED = {"controlled-random-rounding": MethodOptions(infeasible="widen")}


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the island's secret."""
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    path = tmp_path / "office.secret"
    write_secret(SECRET, path)
    return path


def published(census: Census, name: str, secret: Path | None = None, **options: object) -> Table:
    said = MethodOptions(**options)  # type: ignore[arg-type]
    method = build_method(name, census, options=said, secret=secret)
    table = protect_table(census, census.spec(*AXES), method).table
    assert isinstance(table, Table)
    return table


@pytest.mark.parametrize("name", methods_for_counts())
def test_every_method_protects_a_table_and_explains_it(secret: Path, name: str) -> None:
    census = island()
    method = build_method(name, census, options=NEEDED.get(name), secret=secret)
    assert method.name == name
    protected = protect_table(census, census.spec(*AXES), method)
    assert protected.provenance.method == name
    assert protected.table.notes == notes_for(protected.table, method.claims())
    counts = census.tabulate(*AXES).values.count
    table = protected.table.held_for("a test")
    # A method that puts codes together shows true counts of fewer cells.
    assert table.shape != counts.shape or (table.published != counts).any()


@pytest.mark.parametrize("name", methods_for_counts())
def test_engines_publish_the_same(secret: Path, tmp_path: Path, name: str) -> None:
    census = island_store(tmp_path / "island.store")
    method = build_method(name, census, options=NEEDED.get(name), secret=secret)
    spec = census.spec(*AXES)
    memory, duckdb = (
        protect_table(census, spec, method, engine=engine).table for engine in ("memory", "duckdb")
    )
    assert memory == duckdb


@pytest.mark.parametrize("name", STRENGTHS)
def test_strengths_and_their_schemes_publish_the_same(secret: Path, name: str) -> None:
    census = island()
    by_strength = published(census, "cell-key", secret, strength=name)
    assert by_strength == published(census, "cell-key", secret, scheme=STRENGTHS[name].scheme)
    direct = CellKey(strength(name), secret=SECRET).protect(census.tabulate(*AXES)).table
    assert by_strength == direct


def test_medium_is_the_strength_that_is_taken(secret: Path) -> None:
    census = island()
    assert published(census, "cell-key", secret) == published(
        census, "cell-key", secret, strength="medium"
    )


def test_a_perturbation_file_publishes_what_the_design_does(secret: Path, tmp_path: Path) -> None:
    census = island()
    file = write_perturbation(scheme("CP3").table(), tmp_path / "cp3.csv", "plain")
    by_file = published(census, "cell-key", secret, perturbation=file)
    assert by_file == published(census, "cell-key", secret, scheme="CP3")
    assert by_file == published(census, "cell-key", secret, scheme="CP3", lookup="definition")


def test_a_broken_perturbation_file_is_explained(secret: Path, tmp_path: Path) -> None:
    file = tmp_path / "broken.csv"
    file.write_text("count,deviation,probability\n0,0,1\n1,0,0.999\n", "utf-8", newline="\n")
    with pytest.raises(DocumentError, match="sum to"):
        published(island(), "cell-key", secret, perturbation=file)


def test_a_biased_file_must_be_meant(secret: Path, tmp_path: Path) -> None:
    file = tmp_path / "biased.csv"
    rows = "0,0,1\n1,0,0.5\n1,1,0.5\n2,0,1\n"
    file.write_text(f"count,deviation,probability\n{rows}", "utf-8", newline="\n")
    with pytest.raises(DocumentError, match="allow_bias"):
        published(island(), "cell-key", secret, perturbation=file)
    published(island(), "cell-key", secret, perturbation=file, allow_bias=True)


def test_a_table_of_another_key_space_is_explained(secret: Path, tmp_path: Path) -> None:
    file = write_perturbation(scheme("CP2").table(10**8), tmp_path / "cp2.csv", "argus")
    with pytest.raises(SpecError, match="keys of this census are below 4294967296"):
        published(island(), "cell-key", secret, perturbation=file)


def test_exempt_tables_are_published_exactly(secret: Path) -> None:
    census = island()
    table = published(census, "cell-key", secret, exempt=("area@district", "sex"))
    truth = census.tabulate("area@district")
    for cell in truth.cells():
        assert table.value(area=cell.codes[0]) == cell.count
    assert table.value(sex="0") == next(census.tabulate("sex").cells()).count


def test_empty_cells_grow_only_if_that_is_asked_for(secret: Path) -> None:
    census = island(60)
    empty = census.tabulate(*AXES).values.count == 0
    assert empty.any()
    assert not published(census, "cell-key", secret).published[empty].any()
    grown = published(census, "cell-key", secret, zeros="perturb", zero_share=0.5)
    assert grown.published[empty].any()


def test_options_reach_their_methods(secret: Path) -> None:
    census = island()
    assert not (published(census, "random-rounding", base=7).published % 7).any()
    assert not (published(census, "conventional-rounding", base=4).published % 4).any()
    small = published(census, "small-cell-adjustment", base=5, threshold=10).published
    inner = small[:7, :2, :3]
    assert not (inner[inner < 10] % 5).any()
    rounded = published(census, "threshold-and-rounding", threshold=30, base=10, zeros="show")
    shown = rounded.published[rounded.published > 0]
    assert shown.min() >= 30
    assert not (shown % 10).any()
    areas = published(census, "semi-controlled-rounding", secret, to="areas", base=5).published
    assert (areas[:7, :2, :3].sum(axis=(1, 2)) == areas[:7, 2, 3]).all()
    light = published(census, "light-touch", scheme="RR3").published[:7, :2, :3]
    assert not (light % 3).any()
    own = published(census, "per-unit-deviations", secret, units=1, totals="own")
    assert own != published(census, "per-unit-deviations", secret, units=1)


@pytest.mark.parametrize(
    ("name", "options", "hint"),
    [
        ("cell-key", {"base": 5}, "--base is no option of cell-key. It is for: random-rounding,"),
        ("random-rounding", {"strength": "light"}, "It is for: cell-key, light-touch."),
        ("random-rounding", {"mean_cell_size": 2}, "--mean-cell-size is no option"),
        ("cell-key", {"strength": "light", "scheme": "CP3"}, "--strength and --scheme"),
        ("cell-key", {"allow_bias": True}, "--perturbation FILE"),
        ("cell-key", {"strength": "mild"}, "no strength 'mild'"),
        ("cell-key", {"scheme": "CP9"}, "no scheme 'CP9'"),
        ("cell-key", {"lookup": "random"}, "no look-up 'random'"),
        ("cell-key", {"zeros": "drop"}, "no treatment of zeros 'drop'"),
        ("cell-key", {"zeros": "perturb"}, "--zeros perturb needs --zero-share"),
        ("cell-key", {"zero_share": 0.1}, "--zero-share needs --zeros perturb"),
        ("cell-key", {"zeros": "perturb", "zero_share": 1.5}, "between 0 and 1"),
        ("cell-key", {"exempt": ("area@town",)}, "no level 'town'"),
        ("random-rounding", {"base": 1}, "from 2 to 100"),
        ("random-round", {}, "Did you mean 'random-rounding'"),
    ],
)
def test_what_does_not_fit_is_explained(
    secret: Path, name: str, options: dict[str, object], hint: str
) -> None:
    with pytest.raises(SpecError) as caught:
        published(island(), name, secret, **options)
    assert hint in str(caught.value)


def test_steps_come_after_the_method(secret: Path) -> None:
    census = island(60)
    options = MethodOptions(mean_cell_size=5, below=4)
    method = build_method(
        "cell-key", census, then=["withhold-sparse-areas"], options=options, secret=secret
    )
    protected = protect_table(census, census.spec(*AXES), method)
    assert protected.provenance.method == "cell-key → withhold-sparse-areas"
    table = protected.table
    assert isinstance(table, Table)
    assert table.flags is not None
    before = published(census, "cell-key", secret)
    assert (before.published[table.flags != 0] < 4).all()
    assert (before.published == table.published)[table.flags == 0].all()
    assert any("withheld" in str(note) for note in table.notes)


def test_an_unknown_step_is_explained() -> None:
    with pytest.raises(SpecError, match="no step after a method 'swap'"):
        build_method("random-rounding", island(), then=["swap"])


# ---------------------------------------------------------------- the secret


def test_the_secret_may_be_named_by_the_environment(
    secret: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = island()
    with_file = published(census, "cell-key", secret)
    with pytest.raises(SecretError, match="--secret FILE"):
        published(census, "cell-key")
    monkeypatch.setenv(SECRET_VARIABLE, str(secret))
    assert published(census, "cell-key") == with_file


def test_without_a_secret_only_what_needs_none_works(secret: Path) -> None:
    census = island()
    assert published(census, "random-rounding") == published(census, "random-rounding", secret)
    assert published(census, "cell-key", lookup="ascending") == published(
        census, "cell-key", secret, lookup="ascending"
    )
    for name in ("semi-controlled-rounding", "per-unit-deviations"):
        with pytest.raises(SecretError, match="--secret"):
            published(census, name)


def test_a_secret_that_is_not_the_one_of_the_store_is_refused(secret: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.secret"
    write_secret(Secret(bytes(32)), other)
    with pytest.raises(SecretError, match=f"made with the secret {SECRET.id}"):
        published(island(), "cell-key", other)
