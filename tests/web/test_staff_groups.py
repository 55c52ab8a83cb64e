"""What the staff page says about small groups: what the gate found, and nothing where none was."""

from __future__ import annotations

from dataclasses import replace

from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.session.answer import TableService, open_service
from sdcensus.testing.island import SECRET, island
from sdcensus.web.api.staff import told_groups
from sdcensus.web.languages import texts


def opened() -> TableService:
    census = island(300)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=3),
        online=OnlineRules(recovery=0.99, smallest_group=12),
    )
    options = MethodOptions(strength="strong")
    return open_service(census, policy, options=options, secret=SECRET)


def test_the_staff_sees_what_the_gate_found() -> None:
    assert told_groups(opened().risks) == {
        "limit": 0.02,
        "units": [
            {
                "of": "persons",
                "share": 0.0,
                "bounded": True,
                "smallest_group": 12,
                "definition_keys": True,
            }
        ],
    }
    assert told_groups(None) is None


def test_no_share_of_true_counts_is_told() -> None:
    """A share that noise and rule alone do not keep small was counted: it is below the limit."""
    report = opened().risks
    assert report is not None
    counted = tuple(replace(share, share=0.0123, bounded=False) for share in report.shares)
    told = told_groups(replace(report, shares=counted))
    assert told is not None
    assert [one["share"] for one in told["units"]] == [report.limit]


def test_every_language_has_the_words() -> None:
    keys = ("version_groups", "groups_share", "version_smallest_group", "noise_definition")
    for language in ("en", "es", "fr", "nl"):
        words = texts(language)
        for key in keys:
            assert words[f"staff.{key}"]
