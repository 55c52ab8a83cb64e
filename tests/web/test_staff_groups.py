"""What the staff page says about small groups: what the gate found, and nothing where none was."""

from __future__ import annotations

from sdcensus.model.policy import Limits, OnlineRules, Policy
from sdcensus.session.answering.opening import open_service
from sdcensus.session.protecting import MethodOptions
from sdcensus.testing.island import SECRET, island
from sdcensus.web.api.staff import told_groups
from sdcensus.web.catalogues import texts


def test_the_staff_sees_what_the_gate_found() -> None:
    census = island(300)
    policy = Policy(
        name="open",
        schema=census.schema,
        limits=Limits(dimensions=3),
        online=OnlineRules(recovery=0.99, smallest_group=12),
    )
    service = open_service(census, policy, options=MethodOptions(strength="strong"), secret=SECRET)
    assert told_groups(service.risks) == {
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


def test_every_language_has_the_words() -> None:
    keys = ("version_groups", "groups_share", "version_smallest_group", "noise_definition")
    for language in ("en", "es", "fr", "nl"):
        words = texts(language)
        for key in keys:
            assert words[f"staff.{key}"]
