from __future__ import annotations

import copy
import inspect
import json
import pickle
import pprint
import traceback
from collections.abc import Callable

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import Refused, SecretError
from sdcensus.model.secret import Purpose, Secret, SubSecret

SECRET = Secret(bytes(range(32)))
# Bytes that show in any spelling: hex, escaped, as numbers, as text.
CANARY = b"canary-" + bytes.fromhex("9f8e7d6c5b4a39281706f5e4d3c2b1a0")
HOLDERS = [
    Secret(CANARY),
    SubSecret(CANARY[-16:], purpose=Purpose.SWAP, version=3, secret_id="b7a551f2cc2b4dff"),
]
SPELLINGS = ["canary", "9f8e7d", "x9f", "159, 142", "8e7d6c5b", "n44OfWxb"]


def shown_by(show: Callable[[object], object], holder: object) -> str:
    """What is shown, or what the refusal says, with all the errors behind it."""
    try:
        return str(show(holder))
    except Exception:
        return traceback.format_exc()


def test_the_id_and_the_key_of_the_specification() -> None:
    assert SECRET.id == "b7a551f2cc2b4dff"
    assert SECRET.sub_key(Purpose.LOOKUP, 1).hex() == "f36e418740ae2a6b26523bdc600882a0"
    assert SECRET.sub_key(Purpose.COPY, 1).hex() == "6d60882d0c75e6f93e69d7e6a0ab6cb7"


def test_every_purpose_and_version_has_a_key_of_its_own() -> None:
    assert {str(purpose) for purpose in Purpose} == {
        "lookup", "order", "swap", "pram", "weights", "sample", "impute", "round", "safe", "copy",
        "small-counts", "adjust",
    }  # fmt: skip
    keys = {SECRET.sub_key(purpose, version) for purpose in Purpose for version in range(12)}
    assert len(keys) == len(Purpose) * 12
    assert {len(key) for key in keys} == {16}


@pytest.mark.parametrize("version", [-1, True, 1.0, "1"])
def test_versions_are_whole_numbers(version: int) -> None:
    with pytest.raises(SecretError, match="whole number"):
        SECRET.sub_key(Purpose.LOOKUP, version)


@pytest.mark.parametrize("length", [0, 15, 65])
def test_other_lengths_are_refused(length: int) -> None:
    with pytest.raises(SecretError, match="16 to 64 bytes"):
        Secret(b"\x9f" * length)


@pytest.mark.parametrize("material", ["canary-canary-canary", bytearray(CANARY), None])
def test_only_bytes_are_a_secret(material: bytes) -> None:
    with pytest.raises(SecretError, match="made of bytes"):
        Secret(material)


def test_the_bytes_come_back_under_a_long_name_only() -> None:
    assert Secret(CANARY).reveal_for_record_keys() == CANARY


@given(st.binary(min_size=16, max_size=64), st.binary(min_size=16, max_size=64))
def test_secrets_are_equal_exactly_if_their_bytes_are(one: bytes, other: bytes) -> None:
    assert (Secret(one) == Secret(other)) is (one == other)
    assert Secret(one) == Secret(one)
    assert (Secret(one).id == Secret(other).id) is (one == other)
    assert Secret(one) != one


@pytest.mark.parametrize("holder", HOLDERS, ids=["secret", "sub-secret"])
@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        ascii,
        lambda holder: f"{holder}",
        lambda holder: f"{holder!r:>80}",
        lambda holder: f"{holder:x}",
        lambda holder: f"{holder:>80}",
        lambda holder: "%s %r" % (holder, holder),  # noqa: UP031
        pprint.pformat,
        lambda holder: json.dumps({"secret": holder}),
        lambda holder: json.dumps({"secret": holder}, default=str),
        vars,
        lambda holder: holder.__dict__,
        lambda holder: holder.__getstate__(),
        lambda holder: inspect.getmembers(holder, lambda value: not inspect.ismethod(value)),
        lambda holder: [getattr(holder, name) for name in dir(holder)],
        list,
        bytes,
        len,
        iter,
        hash,
        int,
        float,
        lambda holder: holder[0],
        lambda holder: {holder},
        lambda holder: holder < holder,
        lambda holder: holder == "canary",
    ],
)
def test_nothing_that_shows_objects_shows_the_bytes(
    holder: object, show: Callable[[object], object]
) -> None:
    shown = shown_by(show, holder)
    assert shown
    assert [spelling for spelling in SPELLINGS if spelling in shown] == []


@pytest.mark.parametrize("holder", HOLDERS, ids=["secret", "sub-secret"])
def test_tracebacks_with_local_variables_show_no_bytes(holder: Secret | SubSecret) -> None:
    def fail(secret: Secret | SubSecret) -> None:
        raise RuntimeError(f"with {secret}")

    try:
        fail(holder)
    except RuntimeError as error:
        shown = "".join(
            traceback.TracebackException.from_exception(error, capture_locals=True).format()
        )
    assert "secret = <" in shown
    assert [spelling for spelling in SPELLINGS if spelling in shown] == []


@pytest.mark.parametrize("holder", HOLDERS, ids=["secret", "sub-secret"])
@pytest.mark.parametrize(
    "copied",
    [
        copy.copy,
        copy.deepcopy,
        lambda holder: copy.deepcopy({"secret": [holder]}),
        *(
            lambda holder, protocol=protocol: pickle.dumps(holder, protocol)
            for protocol in range(pickle.HIGHEST_PROTOCOL + 1)
        ),
    ],
)
def test_copies_and_pickles_are_refused(holder: object, copied: Callable[[object], object]) -> None:
    with pytest.raises(Refused, match="path of its file"):
        copied(holder)


@pytest.mark.parametrize("operation", [hash, vars, list, bytes, len, lambda one: one[0]])
def test_a_secret_is_no_sequence_and_has_no_hash(operation: Callable[[object], object]) -> None:
    with pytest.raises(TypeError):
        operation(SECRET)


def test_a_secret_cannot_be_changed() -> None:
    for name in ("_id", "_bytes", "note"):
        with pytest.raises(AttributeError, match="cannot be changed"):
            setattr(SECRET, name, "0" * 16)
        with pytest.raises(AttributeError, match="cannot be changed"):
            delattr(SECRET, name)
    assert SECRET.id == "b7a551f2cc2b4dff"


def test_the_holder_of_one_purpose_has_its_key_and_no_other() -> None:
    held = SECRET.sub_secret(Purpose.LOOKUP, 1)
    assert held.sub_key(Purpose.LOOKUP, 1) == SECRET.sub_key(Purpose.LOOKUP, 1)
    assert (held.id, held.purpose, held.version) == (SECRET.id, Purpose.LOOKUP, 1)
    assert repr(held) == "<SubSecret lookup version 1 of secret b7a551f2cc2b4dff>"
    for purpose, version in ((Purpose.LOOKUP, 2), (Purpose.SWAP, 1)):
        with pytest.raises(SecretError, match=f"{purpose} version {version} is needed"):
            held.sub_key(purpose, version)
    assert not hasattr(held, "reveal_for_record_keys")


def test_sub_secrets_are_equal_if_all_that_they_hold_is() -> None:
    held = SECRET.sub_secret(Purpose.LOOKUP, 1)
    key = SECRET.sub_key(Purpose.LOOKUP, 1)
    assert held == SECRET.sub_secret(Purpose.LOOKUP, 1)
    assert held != SECRET.sub_secret(Purpose.LOOKUP, 2)
    assert held != SECRET
    assert held != SubSecret(key, purpose=Purpose.ORDER, version=1, secret_id=SECRET.id)
    assert held != SubSecret(bytes(16), purpose=Purpose.LOOKUP, version=1, secret_id=SECRET.id)


def test_a_sub_secret_has_16_bytes() -> None:
    with pytest.raises(SecretError, match="16 bytes"):
        SubSecret(CANARY, purpose=Purpose.LOOKUP, version=1, secret_id=SECRET.id)
