"""What tables break down, and risks that are accepted by name, on the command line."""

from __future__ import annotations

from pathlib import Path

from sdcensus.errors import Refused
from tests.cli.conftest import Run
from tests.session.publish.plans import new_office

WIDE = """
[[table]]
name = "wide"
rows = ["area", "age"]
columns = ["married", "sex"]
"""


def test_a_risk_is_accepted_by_name_and_shown_to_who_approves(run: Run, tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    plan = ("publish", office.plan, "--secret", office.secret)
    answer = run(*plan)
    assert answer.code == Refused.exit_code
    said = " ".join(answer.err.split())
    assert "smallest_group = 17 in [protect] of the plan" in said
    assert '--accept-risk NAME --reason "WHY"' in said
    assert run(*plan, "--accept-risk", "Ana Ruiz").code != 0
    done = run(*plan, "--accept-risk", "Ana Ruiz", "--reason", "ordered by law")
    assert done.code == 0
    assert "Look budget of persons" in done.out
    line = "Risk accepted by Ana Ruiz (broken-down): ordered by law"
    shown = run("verify", office.published, "--office", office.office)
    assert line in " ".join(shown.out.split())
    approved = run("approve", office.published, "--name", "Ben Okafor")
    assert line in " ".join(approved.out.split())


def test_commands_of_the_office_say_what_is_broken_down(run: Run, tmp_path: Path) -> None:
    office = new_office(tmp_path, people=40, tables=WIDE)
    policy = tmp_path / "policy.toml"
    policy.write_text(
        'name = "open"\n[limits]\ndimensions = 4\n[online]\nrecovery = 0.9\n', encoding="utf-8"
    )
    tight = tmp_path / "tight.toml"
    tight.write_text(policy.read_text(encoding="utf-8") + "smallest_group = 20\n", encoding="utf-8")
    commands = {
        "plan": ("plan", "check", office.plan),
        "looks plan": ("looks", office.store, "--plan", office.plan),
        "looks policy": ("looks", office.store, "--policy", policy),
        "policy check": ("policy", "check", policy, "--store", office.store),
        "policy design": ("policy", "design", policy, office.store, "--confidential"),
    }
    for name, words in commands.items():
        answer = run(*words)
        assert answer.code == 0, name
        said = " ".join(answer.out.split())
        assert "at most 100 % can be claimed" in said, name
        assert "What would help" in said, name
        assert "for the office" in said, name
    said = run("policy", "check", tight, "--store", office.store).out
    assert "0, by the smallest group (20)" in " ".join(said.split())
    strong = run("policy", "check", tight, "--store", office.store, "--scheme", "CP4").out
    assert "No cell of 15 or fewer persons" in " ".join(strong.split())
    assessed = run(
        *("assess", office.store, "--by", "area,sex", "--policy", policy),
        *("--secret", office.secret, "--no-compare"),
    )
    assert assessed.code == 0
    assert "can be claimed" in " ".join(assessed.out.split())
