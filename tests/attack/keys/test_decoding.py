"""Decoding totals where keys add up: what additive keys give away that hashed ones do not."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from sdcensus.attack import Assumptions, run_attacks
from sdcensus.attack.claims import AttackResult
from sdcensus.attack.keys.noise import BUCKETS, NoiseModel, _spread, chances
from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import PublishedTable
from sdcensus.session.attack.attack import known_noise
from sdcensus.session.census.census import Census
from sdcensus.testing.island import SECRET
from tests.attack.made import publish, questionnaire, truth

DESIGN = design_perturbation(max_deviation=8, variance=7.0)
LINES = 12


def deviation(noise: Perturbation, key: float) -> int:
    low = 0.0
    for value, chance in noise.distribution(noise.tail.start):
        low += float(chance)
        if key < low:
            return value
    return value


def simulated(
    *, additive: bool, decoded_as: int, trials: int = 250, seed: int = 4
) -> tuple[float, float, float]:
    """Two-part splits of a large count: the shares that decoding and averaging get right, and how
    sure decoding is."""
    draw = np.random.default_rng(seed)
    model = NoiseModel(known_noise(DESIGN), decoded_as)
    hits = averaged = 0
    sure = []
    for _ in range(trials):
        count, key = int(draw.integers(400, 600)), draw.random()
        shown = count + deviation(DESIGN, key)
        lines, looks = [], [float(shown)]
        for _ in range(LINES):
            first = draw.random()
            second = (key - first) % 1 if additive else draw.random()
            part = int(draw.integers(100, 300))
            parts = (part + deviation(DESIGN, first), count - part + deviation(DESIGN, second))
            lines.append(parts)
            looks.append(float(sum(parts)))
        likely = chances(model.belief(shown, lines))
        hits += shown - (int(np.argmax(likely)) - model.reach) == count
        sure.append(float(likely.max()))
        weights = [1.0, *([0.5] * LINES)]
        averaged += round(float(np.average(looks, weights=weights))) == count
    return hits / trials, averaged / trials, float(np.mean(sure))


def test_additive_keys_give_far_more_away_than_the_number_of_looks_says() -> None:
    # 10.10 of the methods: formula .38, hashed .36, ascending .67.
    additive, averaged, sure = simulated(additive=True, decoded_as=BUCKETS)
    assert additive == pytest.approx(0.67, abs=0.09)
    assert averaged == pytest.approx(0.38, abs=0.09)
    assert sure == pytest.approx(additive, abs=0.09)
    hashed, _, sure_of_hashed = simulated(additive=False, decoded_as=1)
    assert hashed == pytest.approx(0.38, abs=0.09)
    assert sure_of_hashed == pytest.approx(hashed, abs=0.09)


def test_keys_that_do_not_add_up_are_no_help() -> None:
    """The near miss: independent noise, decoded as if keys added up."""
    wrong, _, _ = simulated(additive=False, decoded_as=BUCKETS)
    right, _, _ = simulated(additive=False, decoded_as=1)
    assert wrong < right


@pytest.fixture(scope="module")
def census() -> Census:
    return questionnaire(30_000, areas=80, answers=11, codes=2)


def tables(census: Census, lookup: str, noise: Perturbation) -> list[PublishedTable]:
    method = CellKey(noise, secret=SECRET, lookup=lookup)  # type: ignore[arg-type]
    return publish(
        census, method, ("area", "sex"), *(("area", f"q{at}") for at in range(LINES - 1))
    )


def decoded(
    given: Sequence[PublishedTable], noise: Perturbation | None, limit: float
) -> AttackResult:
    known = None if noise is None else known_noise(noise)
    assumptions = Assumptions(noise=known, limit=limit)
    return run_attacks(given, assumptions, attacks=["key-decoding"]).results[0]


def hits(census: Census, given: Sequence[PublishedTable], result: AttackResult) -> tuple[int, int]:
    shown = {one.name: one for one in given}
    right = claims = 0
    for claim in result.claims:
        true = truth(census, shown[claim.table]).reshape(-1)[claim.cells]
        right += int((claim.lower == true).sum())
        claims += claim.count
    return right, claims


def test_published_tables_with_additive_keys_are_decoded(census: Census) -> None:
    found = {}
    for lookup in ("ascending", "hashed"):
        given = tables(census, lookup, DESIGN)
        result = decoded(given, DESIGN, 0.0)
        # The lines themselves say which look-up it was.
        assert result.figures["keys add up"] == ("yes" if lookup == "ascending" else "no")
        right, claims = hits(census, given, result)
        found[lookup] = right / claims
    assert found["ascending"] > 0.55
    assert found["hashed"] < 0.5
    assert found["ascending"] > found["hashed"] + 0.12


def test_claims_that_he_is_sure_of_are_right(census: Census) -> None:
    noise = scheme("CP3(EU)")
    given = tables(census, "ascending", noise)
    right, claims = hits(census, given, decoded(given, noise, 0.9))
    assert claims >= 20
    assert right / claims > 0.85


def test_without_the_deviations_nothing_is_decoded(census: Census) -> None:
    result = decoded(tables(census, "ascending", DESIGN)[:2], None, 0.9)
    assert result.claims == ()
    assert "not known" in result.sentences[0]


def test_areas_in_areas_tell_each_other() -> None:
    """Messages along a tree of areas are those of brute force over all keys."""
    noise = scheme("CP3(EU)")
    model = NoiseModel(known_noise(noise), 16)
    draw = np.random.default_rng(2)
    parts = [np.log(draw.random((2 * model.reach + 1, 16))) for _ in range(2)]
    total = np.log(draw.random((2 * model.reach + 1, 16)))
    gap = 1
    spread = _spread(2)
    joint = np.zeros((2, 2 * model.reach + 1, 16))
    up = np.zeros((2 * model.reach + 1, 16))
    size = 2 * model.reach + 1
    for v0 in range(size):
        for v1 in range(size):
            v = gap + (v0 - model.reach) + (v1 - model.reach)
            if abs(v) > model.reach:
                continue
            for k0 in range(16):
                for k1 in range(16):
                    both = np.exp(parts[0][v0, k0] + parts[1][v1, k1])
                    for more, share in enumerate(spread):
                        k = (k0 + k1 + more) % 16
                        up[v + model.reach, k] += both * share
                        whole = np.exp(total[v + model.reach, k]) * share
                        joint[0, v0, k0] += whole * np.exp(parts[1][v1, k1])
                        joint[1, v1, k1] += whole * np.exp(parts[0][v0, k0])
    said = np.exp(model.from_parts(gap, parts))
    assert said / said.sum() == pytest.approx(up / up.sum(), abs=1e-6)
    down = np.exp(model.to_part(gap, total, [parts[1]]))
    assert down / down.sum() == pytest.approx(joint[0] / joint[0].sum(), abs=1e-6)
    down = np.exp(model.to_part(gap, total, [parts[0]]))
    assert down / down.sum() == pytest.approx(joint[1] / joint[1].sum(), abs=1e-6)


@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_sums_of_keys_lie_where_sums_of_uniform_numbers_lie(parts: int) -> None:
    draw = np.random.default_rng(parts)
    floors = np.floor(draw.random((200_000, parts)).sum(axis=1)).astype(int)
    seen = np.bincount(floors, minlength=parts)[:parts] / floors.size
    assert _spread(parts) == pytest.approx(seen, abs=0.006)
    assert _spread(parts).sum() == pytest.approx(1)


def test_weights_of_a_value_are_the_chances_of_its_deviations() -> None:
    model = NoiseModel(known_noise(DESIGN), 64)
    weights = model.weights(500)
    expected = np.zeros(2 * model.reach + 1)
    for value, chance in DESIGN.distribution(DESIGN.tail.start):
        expected[value + model.reach] = float(chance)
    assert weights.sum(axis=1) == pytest.approx(expected)
    # A published value above 0 is not from an empty cell, where empty cells are published as 0.
    assert model.weights(3)[3 + model.reach].sum() == 0
    assert NoiseModel(known_noise(DESIGN), 64).weights(0)[model.reach, 0] > 0


def test_noise_that_is_none_is_refused() -> None:
    with pytest.raises(SpecError, match="KnownNoise"):
        Assumptions(noise="CP3")  # type: ignore[arg-type]


def test_areas_help_in_a_whole_country(tmp_path: Path) -> None:
    """Counts of districts are decoded better where parishes are published too."""
    from sdcensus.testing.island import island

    census = island(4_000)
    noise = scheme("CP3(EU)")
    method = CellKey(noise, secret=SECRET, lookup="ascending")
    by = [("area@district", one) for one in ("sex", "married", "age@half")]
    finer = [("area@parish", one) for one in ("sex", "married", "age@half")]
    few, many = publish(census, method, *by), publish(census, method, *by, *finer)
    sure = []
    for given in (few, many):
        result = decoded(given, noise, 0.0)
        rows = [
            float(p)
            for claim in result.claims
            if claim.probability is not None and claim.table == "area@district-sex.csv"
            for p in claim.probability
        ]
        sure.append(np.mean(rows))
    assert sure[1] > sure[0]
