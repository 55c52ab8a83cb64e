"""Checking what was published, and putting names under it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from sdcensus.errors import InputError, OutputError, Refused, SpecError, StoreError
from sdcensus.session.publish.approval import Approval, approve, read_approvals, verify
from sdcensus.session.publish.lock import taken
from sdcensus.session.publish.workplace import MANIFEST
from sdcensus.store.owner_only import is_owner_only
from tests.session.publish.plans import Office, new_office

POLICY = 'name = "Rules"\n'


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Office:
    office = new_office(tmp_path_factory.mktemp("office"))
    office.publish()
    return office


@pytest.fixture
def office(published: Office, tmp_path: Path) -> Office:
    """A copy of an office that has published, at a place of its own."""
    shutil.copytree(published.folder, tmp_path / "own")
    return Office(tmp_path / "own")


def edit_manifest(office: Office, change: Callable[[dict[str, object]], None]) -> None:
    path = office.published / MANIFEST
    content = json.loads(path.read_text(encoding="utf-8"))
    change(content)
    path.write_text(json.dumps(content), encoding="utf-8", newline="")


# ------------------------------------------------------------------------------------ verify


def test_what_is_as_it_was_published_is_sound(published: Office) -> None:
    found = verify(published.published)
    assert found.sound
    assert found.publication == "plan"
    assert found.files + 1 == len(published.files())
    assert found.size == sum(
        len(file) for name, file in published.files().items() if name != MANIFEST
    )
    assert verify(published.published, office=published.office).sound


def test_every_kind_of_change_is_found(office: Office) -> None:
    folder = office.published
    data = (folder / "ages.csv").read_bytes()
    (folder / "ages.csv").write_bytes(data.replace(b"3", b"4", 1))
    (folder / "marital.csv").write_bytes(b"")
    (folder / "wed.csv").unlink()
    (folder / "extra.csv").write_bytes(b"")
    (folder / "extra").mkdir()
    assert verify(folder).problems == (
        "marital.csv: has another size than when it was published",
        "ages.csv: has other contents than when it was published",
        "wed.csv: missing",
        "extra: not part of the publication",
        "extra.csv: not part of the publication",
    )


def test_a_link_is_no_file(office: Office) -> None:
    target = office.folder / "elsewhere.csv"
    (office.published / "ages.csv").replace(target)
    try:
        (office.published / "ages.csv").symlink_to(target)
    except OSError:
        pytest.skip("links cannot be made here")
    assert verify(office.published).problems == ("ages.csv: is a link, not a file",)


@pytest.mark.parametrize("name", ["../plan.toml", "/etc/passwd", "a/b", "", ".", ".."])
def test_a_manifest_leads_nobody_out_of_its_folder(office: Office, name: str) -> None:
    def change(content: dict[str, object]) -> None:
        content["files"] = [{"name": name, "bytes": 1, "sha256": "0" * 64}]

    edit_manifest(office, change)
    assert verify(office.published).problems[0] == f"{name!r}: no name of a file in this folder"


def test_a_manifest_that_was_changed_with_its_files_is_found_by_the_office(office: Office) -> None:
    (office.published / "ages.csv").unlink()

    def change(content: dict[str, object]) -> None:
        files = content["files"]
        assert isinstance(files, list)
        content["files"] = [file for file in files if file["name"] != "ages.csv"]

    edit_manifest(office, change)
    assert verify(office.published).sound
    found = verify(office.published, office=office.office)
    assert found.problems == (f"{MANIFEST}: is not the one that was published",)


def damaged(content: dict[str, object]) -> None:
    content["files"] = [{"name": "ages.csv"}]


def no_list(content: dict[str, object]) -> None:
    content["files"] = 7


def strange(content: dict[str, object]) -> None:
    content["format"] = "something else"


def newer(content: dict[str, object]) -> None:
    content["version"] = 2


@pytest.mark.parametrize("change", [damaged, no_list, strange, newer])
def test_a_manifest_that_cannot_be_read(
    office: Office, change: Callable[[dict[str, object]], None]
) -> None:
    edit_manifest(office, change)
    with pytest.raises(InputError, match=r"manifest\.json"):
        verify(office.published)


def test_what_is_no_published_folder(published: Office, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        verify(tmp_path / "nothing")
    with pytest.raises(InputError, match="is a file"):
        verify(published.plan)
    with pytest.raises(InputError, match="has no manifest"):
        verify(published.store)
    (tmp_path / MANIFEST).write_text("no json", encoding="utf-8", newline="")
    with pytest.raises(StoreError, match="damaged"):
        verify(tmp_path)


# ------------------------------------------------------------------------------------ approve


def test_two_people_approve(office: Office) -> None:
    first = approve(
        office.published, name="  Ana \t Ruiz\u00a0", role="methodology", date="2026-03-01"
    )
    assert first.approvals == (Approval("Ana Ruiz", "methodology", "2026-03-01"),)
    assert not first.complete
    second = approve(office.published, name="Ben Okafor")
    assert second.complete
    assert not second.outdated
    assert is_owner_only(office.own / "approval.json")
    found = verify(office.published, office=office.office).approvals
    assert found == second
    content = json.loads((office.own / "approval.json").read_text(encoding="utf-8"))
    assert set(content["approved"]) == {"plan", "policy", "lock", "outputs"}
    assert content["approved"]["policy"] is None


@pytest.mark.parametrize(
    "again", ["Ana Ruiz", "ana  RUIZ", " Ana\u2003Ruiz ", "Ana\u200b Ruiz", "\uff21na Ruiz"]
)
def test_nobody_approves_twice(office: Office, again: str) -> None:
    approve(office.published, name="Ana Ruiz")
    with pytest.raises(Refused, match="a second person has to"):
        approve(office.published, name=again)


def test_accents_may_be_typed_in_two_ways(office: Office) -> None:
    approve(office.published, name="Jos\u00e9")
    with pytest.raises(Refused, match="a second person"):
        approve(office.published, name="Jose\u0301")


@pytest.mark.parametrize("again", ["Jose Perez Nunez", "JOSÉ PÉREZ NUÑEZ", "Pérez Núñez, José"])
def test_two_spellings_of_one_name_may_be_one_person(office: Office, again: str) -> None:
    approve(office.published, name="José Pérez Núñez")
    with pytest.raises(Refused, match="may be José Pérez Núñez, who has approved this already"):
        approve(office.published, name=again)
    assert approve(office.published, name="Josefina Pérez Núñez").complete


@pytest.mark.parametrize("name", ["", "  ", "\t\n", "\u200b"])
def test_an_approval_needs_a_name(office: Office, name: str) -> None:
    with pytest.raises(SpecError, match="needs the name"):
        approve(office.published, name=name)


def test_a_day_is_a_day(office: Office) -> None:
    with pytest.raises(SpecError, match="no date"):
        approve(office.published, name="Ana", date="yesterday")


def changed_output(office: Office) -> None:
    (office.published / "ages.csv").write_bytes(b"")


def changed_plan(office: Office) -> None:
    with office.plan.open("a", encoding="utf-8", newline="") as file:
        file.write("# a remark\n")


def changed_manifest(office: Office) -> None:
    with (office.published / MANIFEST).open("a", encoding="utf-8", newline="") as file:
        file.write("\n")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed_output, r"not as it was published. ages\.csv"),
        (changed_manifest, r"manifest\.json: is not the one"),
        (changed_plan, r"plan plan\.toml has changed since"),
    ],
)
def test_only_what_was_published_can_be_approved(
    tmp_path: Path, change: Callable[[Office], None], message: str
) -> None:
    office = new_office(tmp_path)
    office.publish()
    change(office)
    with pytest.raises(Refused, match=message):
        approve(office.published, name="Ana")


def test_what_changes_has_to_be_approved_again(tmp_path: Path) -> None:
    office = new_office(tmp_path)
    policy = office.folder / "policy.toml"
    policy.write_text(POLICY, encoding="utf-8", newline="")
    office.write_plan(more='[policy]\nfile = "policy.toml"\n')
    office.publish()
    for name in ("Ana", "Ben"):
        approve(office.published, name=name)

    def complete() -> bool:
        return read_approvals(office.own, office.published).complete

    assert complete()
    for path in (
        office.plan,
        policy,
        office.office / "publication.lock",
        office.published / MANIFEST,
    ):
        data = path.read_bytes()
        path.write_bytes(data + b"\n")
        assert not complete(), path
        found = read_approvals(office.own, office.published)
        assert [one.name for one in found.outdated] == ["Ana", "Ben"]
        path.write_bytes(data)
        assert complete()
    # A new publication is another one.
    with office.plan.open("a", encoding="utf-8", newline="") as file:
        file.write("notes = false\n")
    office.publish()
    assert not complete()
    again = approve(office.published, name="Ana")
    assert (len(again.approvals), len(again.outdated)) == (1, 2)


def test_an_approval_does_not_depend_on_where_things_lie(office: Office, tmp_path: Path) -> None:
    for name in ("Ana", "Ben"):
        approve(office.published, name=name)
    moved = tmp_path / "moved"
    office.published.replace(tmp_path / "tables")
    office.office.replace(moved)
    found = verify(tmp_path / "tables", office=moved)
    assert found.sound
    assert found.approvals is not None
    assert found.approvals.complete


def test_the_folder_of_the_office_must_be_known(office: Office, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    office.office.replace(elsewhere)
    with pytest.raises(InputError, match="--office"):
        approve(office.published, name="Ana")
    with pytest.raises(InputError, match="--office"):
        verify(office.published, office=tmp_path)
    assert approve(office.published, name="Ana", office=elsewhere).approvals
    assert approve(office.published, name="Ben", office=elsewhere / "plan").complete


def test_nobody_approves_while_somebody_publishes(office: Office) -> None:
    with taken(office.office), pytest.raises(OutputError, match="Another run"):
        approve(office.published, name="Ana")
    (office.own / ".part").mkdir()
    (office.own / ".part" / "commit.json").write_text("{}", encoding="utf-8", newline="")
    with pytest.raises(Refused, match="interrupted"):
        approve(office.published, name="Ana")
