"""The frontier, beside a comparison of every pair."""

from __future__ import annotations

from hypothesis import given, strategies as st

from sdcensus.report.study.frontier import on_frontier

FIGURES = st.one_of(st.none(), st.integers(0, 6).map(float))


@given(st.lists(st.tuples(FIGURES, FIGURES), max_size=25))
def test_no_point_of_the_frontier_is_dominated(
    points: list[tuple[float | None, float | None]],
) -> None:
    def dominated(x: float, y: float) -> bool:
        return any(
            a is not None and b is not None and a <= x and b <= y and (a, b) != (x, y)
            for a, b in points
        )

    wanted = [x is not None and y is not None and not dominated(x, y) for x, y in points]
    assert on_frontier(points) == wanted
