"""The smallest targeted swap against attacks on a plan, on a small census."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import SpecError
from sdcensus.session.attack.swapped import SwappedAttacks, swapped_attacks
from sdcensus.session.recommend.swapping import steps_at
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET
from tests.exchange import FURTHER, village

STEP = "targeted-swap k=4 risk_variables=kind farther=yes rate={rate}"


def lab_plan(folder: Path, households: int = 700) -> Path:
    """A village and a plan whose every cell is delivered."""
    village(folder / "census.store", households=households, kinds=25)
    write_secret(SECRET, folder / "office.secret")
    tables = [("kinds", "kind"), *((name, f"kind, {name}") for name in ("colour", *FURTHER))]
    text = 'store = "census.store"\n'
    for name, axes in tables:
        columns = ", ".join(f'"{axis.strip()}"' for axis in axes.split(","))
        text += (
            f'[[table]]\nname = "{name}"\nrows = ["area@area+district"]\ncolumns = [{columns}]\n'
        )
    text += '[protect]\nmethod = "cell-key"\nstrength = "strong"\n'
    text += '[output]\nfolder = "published"\n'
    (folder / "plan.toml").write_text(text, encoding="utf-8")
    return folder / "plan.toml"


@pytest.fixture(scope="module")
def plan(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return lab_plan(tmp_path_factory.mktemp("lab"))


@pytest.fixture(scope="module")
def lab(plan: Path) -> SwappedAttacks:
    return swapped_attacks(
        plan,
        steps_at(STEP, (0.1, 0.6)),
        secret=plan.parent / "office.secret",
        attacks=("patterns", "zero-patterns"),
    )


def test_targeted_swapping_makes_claims_no_better_than_the_limit(lab: SwappedAttacks) -> None:
    before, *after = lab.trials
    assert before.step == ""
    share_before = before.worst("area")
    assert share_before is not None
    assert share_before > lab.limit
    assert lab.smallest in after
    assert lab.smallest is not None
    assert (lab.smallest.worst("area") or 0.0) <= lab.limit
    # All who are rare have moved: of claims about one of a kind hardly any is right.
    claims, right = lab.smallest.of("area", 1)
    claims_before, right_before = before.of("area", 1)
    assert right / max(claims, 1) < 0.5 * right_before / claims_before


def test_it_has_a_price(lab: SwappedAttacks) -> None:
    costs = [trial.mean_absolute_distance for trial in lab.trials]
    assert None not in costs
    assert costs == sorted(costs)  # type: ignore[type-var]
    assert lab.trials[-1].hellinger > lab.trials[0].hellinger  # type: ignore[operator]


def test_the_search_stops_where_it_is_enough(plan: Path, lab: SwappedAttacks) -> None:
    search = swapped_attacks(
        plan,
        steps_at(STEP, (0.1, 0.6)),
        secret=SECRET,
        attacks=("zero-patterns",),
        until_found=True,
    )
    assert search.smallest is search.trials[-1]
    assert len(search.trials) <= len(lab.trials)


def test_mistakes_are_told_before_any_work(plan: Path) -> None:
    with pytest.raises(SpecError, match="--rates"):
        steps_at(STEP, ())
    with pytest.raises(SpecError, match="probability"):
        swapped_attacks(plan, [], secret=SECRET, limit=1.0)
    with pytest.raises(SpecError, match="No table of the plan"):
        swapped_attacks(plan, [], secret=SECRET, tables=["nothing*"])
