"""A protected table is written for the public, and its audit for the office: both or neither."""

from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import OutputError, Refused, SpecError
from sdcensus.session.census.secret_file import SECRET_VARIABLE
from sdcensus.session.protect.table import ProtectedFiles, build_method, protect_table
from sdcensus.store.secrets import write_secret
from sdcensus.testing.island import SECRET, island


@pytest.fixture
def secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of the island's secret."""
    monkeypatch.delenv(SECRET_VARIABLE, raising=False)
    path = tmp_path / "office.secret"
    write_secret(SECRET, path)
    return path


def test_table_and_audit_are_written_both_or_neither(secret: Path, tmp_path: Path) -> None:
    census = island()
    method = build_method("cell-key", census, secret=secret)
    protected = protect_table(census, census.spec("sex"), method)
    out, audit = tmp_path / "table.csv", tmp_path / "audit.csv"
    with pytest.raises(Refused, match="confidential"):
        ProtectedFiles(out=out, audit=audit).write(protected)
    with pytest.raises(OutputError, match="files of their own"):
        ProtectedFiles(out=out, audit=out, confidential=True).write(protected)
    before = sorted(tmp_path.iterdir())
    assert before == [secret]
    written = ProtectedFiles(out=out, audit=audit, confidential=True).write(protected)
    assert [path.name for path in written] == ["table.csv", "table.about.json"]
    assert audit.is_file()


def test_the_audit_goes_where_the_table_cannot_be_written(
    secret: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    census = island()
    protected = protect_table(census, census.spec("sex"), build_method("random-rounding", census))

    def full(*arguments: object, **options: object) -> None:
        raise OutputError("No space left on device")

    monkeypatch.setattr("sdcensus.session.protect.table.write_table", full)
    with pytest.raises(OutputError, match="No space"):
        ProtectedFiles(
            out=tmp_path / "table.csv", audit=tmp_path / "audit.csv", confidential=True
        ).write(protected)
    assert sorted(tmp_path.iterdir()) == [secret]


def test_a_registry_and_a_format_are_for_what_is_published(tmp_path: Path) -> None:
    for asked in (ProtectedFiles(registry=tmp_path / "registry"), ProtectedFiles(format="px")):
        with pytest.raises(SpecError, match="--out FILE"):
            asked.check()
