from __future__ import annotations

from pathlib import Path

import pytest

from sdcensus.errors import SecretError
from sdcensus.model.secret import Purpose, Secret, SubSecret
from sdcensus.session.office.secret import (
    compare_secret,
    find_lookup_secret,
    make_lookup_secret,
    make_secret,
)
from sdcensus.store.secrets import read_secret
from sdcensus.store.sub_secrets import read_sub_secret, write_sub_secret


@pytest.fixture
def office(tmp_path: Path) -> Path:
    return make_secret(tmp_path / "office.secret").path


def test_the_look_up_secret_is_that_of_the_office_secret(office: Path, tmp_path: Path) -> None:
    made = make_lookup_secret(office, tmp_path / "server.secret", version=3)
    assert made.purpose == "lookup version 3"
    expected = read_secret(office).sub_secret(Purpose.LOOKUP, 3)
    assert read_sub_secret(made.path) == expected
    assert compare_secret(made.path, other=office).different == ()
    with pytest.raises(SecretError, match="is a secret for one purpose"):
        make_lookup_secret(made.path, tmp_path / "again.secret")


def test_of_an_office_secret_only_its_look_up_secret_is_kept(office: Path, tmp_path: Path) -> None:
    secret = read_secret(office)
    expected = secret.sub_secret(Purpose.LOOKUP, 1)
    server = make_lookup_secret(office, tmp_path / "server.secret").path
    for named in (office, str(office), secret, server, expected):
        found = find_lookup_secret(named)
        assert type(found) is SubSecret
        assert found == expected
        with pytest.raises(SecretError, match="is for lookup version 1; swap version 1 is needed"):
            found.sub_key(Purpose.SWAP, 1)


def test_the_environment_may_name_the_file(office: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SDCENSUS_SECRET_FILE", raising=False)
    with pytest.raises(SecretError, match="The look-up secret is needed"):
        find_lookup_secret()
    monkeypatch.setenv("SDCENSUS_SECRET_FILE", str(office))
    assert find_lookup_secret().id == read_secret(office).id


def test_a_secret_of_another_version_or_purpose_is_refused(tmp_path: Path) -> None:
    secret = Secret(bytes(range(32)))
    path = tmp_path / "one.secret"
    write_sub_secret(secret.sub_secret(Purpose.LOOKUP, 1), path)
    with pytest.raises(SecretError, match="lookup version 2 is needed"):
        find_lookup_secret(path, version=2)
    with pytest.raises(SecretError, match="lookup version 1 is needed"):
        find_lookup_secret(secret.sub_secret(Purpose.SWAP, 1))
