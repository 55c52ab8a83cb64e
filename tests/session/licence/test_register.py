"""The register of licences: what happens in which order, what is refused, what is due."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sdcensus.errors import InputError, Refused, SpecError, StoreError, UnknownName
from sdcensus.model.release.holding import Applied, HoldingState
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.registered import FileEvent
from sdcensus.session.licence.calendars import write_calendar
from sdcensus.session.licence.register import LicenceRegister
from sdcensus.store.licences import LICENCES_FILE, write_licences
from sdcensus.store.owner_only import is_owner_only
from tests.session.licence.handed import enter


@pytest.fixture
def register(tmp_path: Path) -> LicenceRegister:
    enter(tmp_path / "office", "lf")
    return LicenceRegister(tmp_path / "office")


def granted(register: LicenceRegister, applicant: str = "Ana Ruiz", **said: str) -> str:
    number = register.apply(
        applicant, ["lf"], project="Migration", date="2026-01-05", **said
    ).number
    register.decide(number, "Ben Okafor", granted=True, date="2026-01-06")
    register.decide(number, "Li Wei", granted=True, date="2026-01-07")
    return number


def active(register: LicenceRegister, applicant: str = "Ana Ruiz", **said: str) -> str:
    number = granted(register, applicant, **said)
    register.agree(number, applicant, expires="2027-01-10", date="2026-01-10")
    return number


def test_the_road_of_a_licence(register: LicenceRegister) -> None:
    number = register.apply("Ana Ruiz", ["lf"], project="Migration", date="2026-01-05").number
    assert number == "2026-001"
    assert register.holding(number).state("2026-01-05") is HoldingState.APPLIED
    register.decide(number, "Ben Okafor", granted=True, date="2026-01-06")
    assert register.holding(number).state("2026-01-06") is HoldingState.HALF_DECIDED
    register.decide(number, "Li Wei", granted=True, date="2026-01-07")
    assert register.holding(number).state("2026-01-07") is HoldingState.GRANTED
    register.agree(number, "Ana Ruiz", expires="2027-01-10", date="2026-01-10")
    states = [register.holding(number).state(day) for day in ("2027-01-10", "2027-01-11")]
    assert states == [HoldingState.ACTIVE, HoldingState.EXPIRED]
    register.extend(number, "Ben Okafor", expires="2028-01-10", date="2027-01-11")
    assert register.holding(number).state("2027-01-11") is HoldingState.ACTIVE
    register.hand_out(number, "lf", copy=number, place="usb", date="2027-02-01")
    register.deposit(number, "A paper", citation="Ruiz 2027", date="2027-03-01")
    register.end(number, "destroyed", date="2027-04-01")
    holding = register.holding(number)
    assert holding.state("2027-04-01") is HoldingState.ENDED
    assert len(holding.events) == 8
    assert register.apply("Bo", ["lf"], project="X", date="2026-02-01").number == "2026-002"
    assert register.apply("Cy", ["lf"], project="X", date="2027-02-01").number == "2027-001"


def test_two_persons_decide_and_neither_of_them_applies(register: LicenceRegister) -> None:
    number = register.apply(
        "Team", ["lf"], project="X", kind="team", members=["Ana Ruiz"], date="2026-01-05"
    ).number
    with pytest.raises(Refused, match="applies"):
        register.decide(number, "Ruiz, Ana", granted=True, date="2026-01-06")
    register.decide(number, "José Pérez", granted=True, date="2026-01-06")
    with pytest.raises(Refused, match="may be"):
        register.decide(number, "Perez Jose", granted=True, date="2026-01-06")
    with pytest.raises(Refused, match=r"1 of 2 decisions.*sdcensus licence decide"):
        register.agree(number, "Ana Ruiz", date="2026-01-06")
    with pytest.raises(SpecError, match="reason"):
        register.decide(number, "Li Wei", granted=False, date="2026-01-06")
    register.decide(number, "Li Wei", granted=False, reason="no purpose", date="2026-01-06")
    assert register.holding(number).state("2026-01-06") is HoldingState.REFUSED
    with pytest.raises(Refused, match="decided already"):
        register.decide(number, "Third Person", granted=True, date="2026-01-07")


def test_copies_go_to_active_licences_of_that_file_only(register: LicenceRegister) -> None:
    number = granted(register)
    with pytest.raises(Refused, match="granted"):
        register.check_may_hold(number, "lf", date="2026-01-08")
    register.agree(number, "Ana Ruiz", expires="2027-01-10", date="2026-01-10")
    register.check_may_hold(number, "lf", date="2026-01-10")
    with pytest.raises(Refused, match="not for puf"):
        register.check_may_hold(number, "puf", date="2026-01-10")
    with pytest.raises(Refused, match="expired"):
        register.check_may_hold(number, "lf", date="2027-01-11")
    register.sanction(number, "suspension", "Ben", until="2026-06-30", date="2026-05-01")
    with pytest.raises(Refused, match="suspended"):
        register.check_may_hold(number, "lf", date="2026-06-30")
    register.check_may_hold(number, "lf", date="2026-07-01")


def test_an_exclusion_holds_for_every_licence(register: LicenceRegister) -> None:
    first = active(register, organisation="Institute of Islands")
    other = active(register, "Ruiz Ana")
    colleague = active(register, "Cy Young", organisation="INSTITUTE OF ISLANDS")
    stranger = active(register, "Di Moss", organisation="Elsewhere")
    register.breach(first, "file on a server", date="2026-03-01")
    register.sanction(first, "exclusion", "Ben Okafor", date="2026-03-02")
    for number in (first, other, colleague):
        with pytest.raises(Refused, match="excluded"):
            register.check_may_hold(number, "lf", date="2026-04-01")
    register.check_may_hold(stranger, "lf", date="2026-04-01")
    with pytest.raises(Refused, match="excluded"):
        register.apply("Ana Ruíz", ["lf"], project="Again", date="2026-04-01")
    register.end(first, "destroyed", date="2026-04-02")
    with pytest.raises(Refused, match="excluded"):
        register.apply("Ana Ruiz", ["lf"], project="Again", date="2026-04-03")


def test_what_is_due(register: LicenceRegister) -> None:
    waiting = register.apply("Wu", ["lf"], project="X", date="2026-12-01").number
    signing = granted(register, "Si")
    expiring = active(register, "Ed")
    broken = active(register, "Br")
    register.breach(broken, "lost", date="2026-02-01")
    due = {(each.licence, each.what): each.day for each in register.due("2026-12-20", within=30)}
    assert due == {
        (waiting, "decision"): "2026-12-01",
        (signing, "agreement"): "2026-01-07",
        (expiring, "expires"): "2027-01-10",
        (broken, "expires"): "2027-01-10",
        (broken, "breach"): "2026-02-01",
    }
    days = [each.day for each in register.due("2026-12-20", within=30)]
    assert days == sorted(days)
    soon = register.due("2026-12-20", within=5)
    assert (expiring, "expires") not in {(each.licence, each.what) for each in soon}
    late = register.due("2027-06-01")
    assert (expiring, "expired") in {(each.licence, each.what) for each in late}


def test_documents_are_digests_and_places(register: LicenceRegister, tmp_path: Path) -> None:
    paper = tmp_path / "cv.pdf"
    paper.write_bytes(b"abc")
    holding = register.apply("Ana", ["lf"], project="X", documents=[paper], date="2026-01-05")
    kept = holding.documents[0]
    assert (kept.what, kept.place) == ("cv.pdf", str(paper))
    # SHA-256 of "abc", FIPS 180-2, appendix B.1.
    assert kept.sha256 == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    before = (register.office / LICENCES_FILE).read_bytes()
    with pytest.raises(InputError, match="not recorded"):
        register.keep_document("2026-001", tmp_path / "absent.pdf", date="2026-01-06")
    assert (register.office / LICENCES_FILE).read_bytes() == before
    assert not list(register.office.rglob("*.pdf"))


@pytest.mark.skipif(os.name == "nt", reason="folders of Windows have no modes")
def test_only_the_owner_reads_it(register: LicenceRegister) -> None:
    active(register)
    for path in (register.office, register.office / LICENCES_FILE):
        assert not stat.S_IMODE(path.stat().st_mode) & 0o077


@pytest.mark.parametrize("change", ["another name", "taken out", "in another order"])
def test_a_line_that_was_changed_by_hand_shows(register: LicenceRegister, change: str) -> None:
    active(register)
    path = register.office / LICENCES_FILE
    content = json.loads(path.read_text(encoding="utf-8"))
    if change == "another name":
        content["events"][1]["name"] = "Somebody Else"
    elif change == "taken out":
        del content["events"][1]
    else:
        content["events"][1:3] = reversed(content["events"][1:3])
    path.write_text(json.dumps(content), encoding="utf-8")
    with pytest.raises(StoreError, match=r"event 2 or one before it was changed by hand"):
        register.holdings()


def test_mistakes_are_told_and_nothing_is_written(register: LicenceRegister) -> None:
    number = active(register)
    before = (register.office / LICENCES_FILE).read_bytes()
    with pytest.raises(UnknownName, match="2026-001"):
        register.breach("2026-01", "x", date="2026-02-01")
    with pytest.raises(SpecError, match="no date"):
        register.breach(number, "x", date="1 February")
    with pytest.raises(SpecError, match="before that"):
        register.deposit(number, "x", date="2025-02-01")
    with pytest.raises(UnknownName, match="exclusion"):
        register.sanction(number, "prison", "Ben", date="2026-02-01")
    with pytest.raises(SpecError, match="later day"):
        register.extend(number, "Ben", expires="2026-12-01", date="2026-02-01")
    with pytest.raises(SpecError, match="files that are wanted"):
        register.apply("Ana", [" "], project="X", date="2026-02-01")
    with pytest.raises(SpecError, match="who applies"):
        register.apply(" \u200b", ["lf"], project="X", date="2026-02-01")
    assert (register.office / LICENCES_FILE).read_bytes() == before


APPLYING = """
import sys
from sdcensus.session.licence.register import LicenceRegister

register = LicenceRegister(sys.argv[1])
for at in range(15):
    number = register.apply(f"{sys.argv[2]} {at}", ["lf"], project="P", date="2026-01-05").number
    print(number)
"""


def test_two_processes_lose_nothing_and_share_no_number(register: LicenceRegister) -> None:
    run = [sys.executable, "-c", APPLYING, str(register.office)]
    processes = [
        subprocess.Popen([*run, name], stdout=subprocess.PIPE, text=True)
        for name in ("Ana", "Zoë Émile")
    ]
    answers = [process.communicate()[0].split() for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    numbers = [number for answer in answers for number in answer]
    assert sorted(numbers) == [f"2026-{at:03d}" for at in range(1, 31)]
    assert sorted(register.holdings()) == sorted(numbers)


def test_a_kill_while_writing_leaves_what_was_there(register: LicenceRegister) -> None:
    active(register)
    before = (register.office / LICENCES_FILE).read_bytes()
    program = APPLYING.replace(
        "register =",
        "import os, pathlib\npathlib.Path.replace = lambda *given: os._exit(9)\nregister =",
    )
    run = [sys.executable, "-c", program, str(register.office), "Ana"]
    assert subprocess.run(run, check=False).returncode == 9
    assert (register.office / LICENCES_FILE).read_bytes() == before
    assert register.apply("Ida Berg", ["lf"], project="P", date="2026-01-05").number == "2026-002"


def test_long_texts_and_a_thousand_licences(register: LicenceRegister) -> None:
    long = "Ñandú 李伟 \u202e" * 5000
    events = tuple(
        Applied(
            licence=f"2026-{at:03d}", date="2026-01-05", applicant=f"A {at}", abstract=long[:99]
        )
        for at in range(1, 1001)
    )
    write_licences(register.office, events)
    number = register.apply(
        "Ana Ruiz", ["lf"], project="P", abstract=long, date="2027-01-05"
    ).number
    assert number == "2027-001"
    assert register.apply("B", ["lf"], project="P", date="2026-12-31").number == "2026-1001"
    assert register.holding(number).application.abstract == long.strip()
    assert len(register.due("2026-02-01")) == 1002


def test_a_calendar_of_what_is_due(register: LicenceRegister, tmp_path: Path) -> None:
    active(register, "Zoë; Émile, " + "Ñandú " * 30)
    register.apply("Ida Berg", ["lf"], project="P", date="2026-02-01")
    due = register.due("2026-12-20")
    write_calendar(due, tmp_path / "due.ics", "2026-12-20", "es")
    lines = (tmp_path / "due.ics").read_bytes().split(b"\r\n")
    assert max(map(len, lines)) <= 75
    text = b"\r\n".join(lines).decode().replace("\r\n ", "")
    assert text.count("BEGIN:VEVENT") == text.count("END:VEVENT") == len(due) == 2
    assert "DTSTART;VALUE=DATE:20270110" in text  # the day on which it expires
    assert "DTSTART;VALUE=DATE:20261220" in text  # what waits since February
    assert r"Zoë\; Émile\, Ñandú" in text
    assert is_owner_only(tmp_path / "due.ics")


def test_only_registered_files_that_need_a_licence_are_applied_for(
    register: LicenceRegister, tmp_path: Path
) -> None:
    enter(register.office, "puf", licence=LicenceClass.PUBLIC_USE, place="files")
    enter(register.office, "old")
    enter(register.office, "old", event=FileEvent.WITHDRAWN, date="2026-02-01")
    for names, message in (
        (["never"], r"never is not registered.*Registered files: lf, puf, old\..*release register"),
        (["lf", "never"], "never is not registered"),
        (["LF"], "LF is not registered"),
        (["puf"], "needs no licence"),
        (["old"], "was withdrawn on 2026-02-01"),
    ):
        with pytest.raises(Refused, match=message):
            register.apply("Ana", names, project="X", date="2026-03-01")
    assert register.holdings() == {}
    empty = LicenceRegister(tmp_path / "empty")
    with pytest.raises(Refused, match="lf is not registered"):
        empty.apply("Ana", ["lf"], project="X", date="2026-03-01")
    # What the message says makes it pass.
    enter(register.office, "never")
    number = register.apply("Ana", ["lf", "never"], project="X", date="2026-03-01").number
    assert register.holding(number).application.files == ("lf", "never")
