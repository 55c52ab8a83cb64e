from __future__ import annotations

import shutil
from pathlib import Path

from tests.cli.conftest import Run, Village


def rows(text: str) -> list[list[str]]:
    return [line.split() for line in text.splitlines()]


def test_describe_shows_sizes_variables_levels_and_shares_of_missing(
    run: Run, village: Village
) -> None:
    answer = run("describe", village.store)
    assert answer.code == 0
    assert answer.err == ""
    table = rows(answer.out)
    assert ["persons", "7"] in table
    assert ["households", "4"] in table
    # One of seven has no stated sex; 100 ages and "not stated", in three groups and it.
    assert ["sex", "Sex", "3", "14.3", "%", "-"] in table
    assert ["age", "Age", "101", "14.3", "%", "-"] in table
    assert ["@broad", "(4)"] in table
    # Two incomes do not apply (children) and two are not stated; an amount has no code list.
    assert ["income", "Income", "[monthly]", "number", "28.6", "%", "28.6", "%"] in table
    assert ["ed", "Area", "3", "-", "-"] in table
    assert ["@parish", "(2)"] in table
    assert "full_name" not in answer.out
    assert max(map(len, answer.out.splitlines())) <= 80


def test_describe_shows_the_codes_of_a_variable_with_their_levels(
    run: Run, village: Village
) -> None:
    answer = run("describe", village.store, "--variable", "ed")
    assert answer.code == 0
    table = rows(answer.out)
    assert ["E1", "Hill", "P1"] in table
    assert ["E3", "Rivière", "P2"] in table
    assert ["P2", "South"] in table
    spanish = rows(run("describe", village.store, "--variable", "ed", "-l", "es").out)
    assert ["E1", "Colina", "P1"] in spanish


def test_describe_says_what_missing_codes_mean(run: Run, village: Village) -> None:
    table = rows(run("describe", village.store, "--variable", "sex").out)
    assert ["9", "Not", "stated", "not", "stated"] in table
    amount = rows(run("describe", village.store, "--variable", "weight").out)
    assert ["role", "weight"] in amount


def test_an_unknown_variable_or_language_is_an_error(run: Run, village: Village) -> None:
    answer = run("describe", village.store, "--variable", "sxe")
    assert answer.code == 2
    assert "Did you mean 'sex'?" in answer.err
    assert run("describe", village.store, "--language", "tlh").code == 2


def test_what_is_no_store_is_an_error(run: Run, village: Village, tmp_path: Path) -> None:
    for path in (tmp_path / "none", tmp_path, village.schema):
        answer = run("describe", path)
        assert answer.code == 6
        assert answer.err.startswith("error: ")
        assert answer.out == ""


def test_verify_finds_a_changed_byte(run: Run, village: Village, tmp_path: Path) -> None:
    store = tmp_path / "copy.store"
    shutil.copytree(village.store, store)
    answer = run("describe", store, "--verify")
    assert answer.code == 0
    assert "columns are as they were" in answer.out
    column = store / "person" / "_key.bin"
    content = bytearray(column.read_bytes())
    content[0] ^= 1
    column.write_bytes(content)
    assert run("describe", store).code == 0
    answer = run("describe", store, "--verify")
    assert answer.code == 6
    assert answer.out == ""
    assert "has changed since the census was loaded" in answer.err


def test_a_position_beyond_the_code_list_is_damage(
    run: Run, village: Village, tmp_path: Path
) -> None:
    store = tmp_path / "copy.store"
    shutil.copytree(village.store, store)
    column = store / "person" / "sex.bin"
    column.write_bytes(b"\xff" * column.stat().st_size)
    answer = run("describe", store)
    assert answer.code == 6
    assert "damaged" in answer.err


def test_quiet_prints_nothing(run: Run, village: Village) -> None:
    answer = run("describe", village.store, "--quiet", "--verify")
    assert (answer.code, answer.out, answer.err) == (0, "", "")
