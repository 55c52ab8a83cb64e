"""What the demo country publishes, byte for byte, under a secret and noise that never change.

The noise is what the demo took before it declared universes: the look budget of today asks for
more, and these digests tell whether anything else changed. A change of the code that nobody meant
as a change of numbers must leave them alone. One that is meant says so in CHANGELOG.md under
"Published numbers", and writes them anew:
``SDCENSUS_WRITE_DIGESTS=1 pytest tests/session/publish/test_demo_digests.py``.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Mapping
from pathlib import Path

import pytest

import sdcensus as sc
from sdcensus.demo import make_country
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.progress import no_progress
from sdcensus.session.demo import country as demo_country
from sdcensus.session.demo.country import Demonstration, make_demonstration
from sdcensus.session.publish.run import PublishOptions

#: The largest deviation and the variance of the noise of each country.
NOISE: dict[str | int, tuple[int, float]] = {"small-island": (9, 11.0), 2_000: (8, 8.7)}
DIGESTS = Path(__file__).with_name("demo_digests.json")


def demo(folder: Path, country: str | int, monkeypatch: pytest.MonkeyPatch) -> Demonstration:
    """The demo country under the bytes 0 to 31 as its secret, with noise of one design."""
    with monkeypatch.context() as patch:
        noise = design_perturbation(*NOISE[country])
        patch.setattr(demo_country, "noise_for", lambda policy: noise)
        patch.setattr(secrets, "token_bytes", lambda size: bytes(range(size)))
        return make_demonstration(
            folder / "demo",
            country=make_country(country),
            seed=5,
            file_format="parquet",
            progress=no_progress,
        )


def digests(folder: Path) -> dict[str, str]:
    """The digest of every file below a folder."""
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def check(name: str, published: Mapping[str, str]) -> None:
    known = json.loads(DIGESTS.read_text(encoding="utf-8")) if DIGESTS.exists() else {}
    if os.environ.get("SDCENSUS_WRITE_DIGESTS"):
        known[name] = published
        DIGESTS.write_text(json.dumps(known, indent=1) + "\n", encoding="utf-8", newline="\n")
    assert published == known[name]


@pytest.mark.slow
def test_the_national_tables_of_the_demo_are_those_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = demo(tmp_path, "small-island", monkeypatch)
    sc.publish(made.plan, secret=made.secret)
    check("national", digests(made.folder / "national"))


@pytest.mark.slow
def test_the_european_tables_of_a_smaller_demo_are_those_of_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An office folder of its own: these tables show what the national ones do not."""
    made = demo(tmp_path, 2_000, monkeypatch)
    plan = made.folder / "eu-plan.toml"
    text = plan.read_text(encoding="utf-8").replace('"office"', '"office-eu"')
    plan.write_text(text, encoding="utf-8", newline="\n")
    accepted = PublishOptions(secret=made.secret, accept_risk="The office", reason="a test")
    sc.publish(plan, accepted)
    published = digests(made.folder / "published-eu")
    whole = hashlib.sha256("".join(published.values()).encode()).hexdigest()
    check("european", {"files": str(len(published)), "digest": whole})
