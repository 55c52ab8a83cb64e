"""A draft becomes a schema by changes one after the other; whatever is not changed stays."""

from __future__ import annotations

import json
import shutil
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import DocumentError, InputError
from sdcensus.model.schema.variable import CodeKind, Role
from sdcensus.session.schema_editing.editing import SchemaEditing, StaleView
from sdcensus.session.schema_editing.saving import ChangedOnDisk
from tests.session.schema_editing.country import NAMES, OCCUPATIONS, make_draft


@pytest.fixture
def schema(drafted: Path, tmp_path: Path) -> Path:
    return shutil.copytree(drafted, tmp_path / "census") / "schema.toml"


def change(editing: SchemaEditing, what: str, variable: str = "", **members: Any) -> None:
    editing.change({"version": editing.version, "what": what, "variable": variable, **members})


def save(editing: SchemaEditing) -> None:
    editing.save({"version": editing.version})


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def mistakes(editing: SchemaEditing, name: str) -> list[str]:
    told: list[str] = editing.variable(name)["mistakes"]
    return told


def test_an_office_goes_through_its_draft(schema: Path) -> None:
    before = lines(schema)
    editing = SchemaEditing(schema.parent)
    change(editing, "census", setting="languages", value=["es", "en"])
    change(editing, "census", setting="name", value="Censo 2024")
    change(editing, "role", "estado_civil", value="sensitive")
    change(editing, "spoken", "sexo", setting="label", value={"es": "Sexo"})
    change(editing, "spoken", "sexo", setting="label", value={"en": "Sex"})
    for code, label in (("1", "Hombre"), ("2", "Mujer")):
        change(editing, "code_label", "sexo", tree=-1, code=code, line=0, value={"es": label})
    change(editing, "kind", "estado_civil", codes=["9"], value="not_applicable")
    change(editing, "level", "edad", level="five_year", bounds="0, 5, ..., 85+", label={"es": "5"})
    change(editing, "form", "ocupacion", value="codes")
    change(editing, "grouping", "estado_civil", grouping="union", label={"es": "Unión"})
    rows = [{"code": code, "line": line} for code, line in (("1", 2), ("2", 3))]
    change(editing, "group", "estado_civil", tree=0, rows=rows, group="u", label={"es": "Juntos"})
    change(editing, "accept", "edad")
    save(editing)
    read = read_schema(schema)
    assert read.census.name == "Censo 2024"
    sex = read.variable("sexo")
    assert (sex.label.show("es"), sex.label.show("en")) == ("Sexo", "Sex")
    assert [code.label.show("es") for code in sex.codes] == ["Hombre", "Mujer"]
    status = read.variable("estado_civil")
    assert status.role is Role.SENSITIVE
    assert {code.code: code.kind for code in status.codes}["9"] is CodeKind.NOT_APPLICABLE
    (union,) = status.hierarchies[0].levels
    assert (union.name, union.group[0] == union.group[1] != union.group[2]) == ("union", True)
    (ages,) = [tree.levels[0] for tree in read.variable("edad").hierarchies if tree.name == "edad"]
    assert [code.code for code in ages.codes][:2] == ["0-4", "5-9"]
    assert [code.code for code in read.variable("ocupacion").codes] == OCCUPATIONS
    # What was there before is beside it, and only what was changed is different.
    assert lines(schema.with_name("schema.toml.bak")) == before
    assert [line for line in before if line not in lines(schema)] == [
        'name = "Census"              # write the name of the census',
        'languages = ["es"]',
        'codes = { "1" = "1", "2" = "2" }',
        "# guessed: the range. Write all numbers that are possible.",
        'not_stated = ["9"]',
    ]
    assert not any("guessed" in line for line in _above(lines(schema), "[variable.edad]"))
    assert any("guessed" in line for line in _above(lines(schema), "[variable.ingreso]"))


def _above(listed: list[str], header: str) -> list[str]:
    at = listed.index(header)
    return listed[at - 2 : at]


def test_values_of_identifiers_are_in_no_view(schema: Path) -> None:
    editing = SchemaEditing(schema)
    views = [editing.state(), *map(editing.variable, tomllib.loads(schema.read_text())["variable"])]
    text = json.dumps(views, ensure_ascii=False)
    assert "Zacar" not in text
    assert "Quispe" not in text
    name = editing.variable("nombre")["distribution"]
    assert (name["rows"], name["empty"], name["distinct"], name["private"]) == (120, 0, 120, True)
    # Whoever says that it is no identifier still sees nothing that may be about one person.
    change(editing, "role", "nombre", value="")
    assert not any(
        each in json.dumps(editing.variable("nombre"), ensure_ascii=False) for each in NAMES
    )
    assert editing.variable("nombre")["distribution"]["hidden"] == 120
    editing.undo({"version": editing.version})
    assert editing.variable("nombre")["role"] == "direct-identifier"


def test_counts_are_those_of_the_file_and_strangers_are_listed(schema: Path) -> None:
    editing = SchemaEditing(schema)
    status = editing.variable("estado_civil")
    assert [(row["code"], row["count"]) for row in status["codes"]["rows"]] == [
        (code, 24) for code in "12349"
    ]
    change(editing, "remove_codes", "estado_civil", codes=["4"])
    shown = editing.variable("estado_civil")["distribution"]
    assert shown["strange"] == [{"value": "4", "count": 24}]
    change(editing, "kind", "estado_civil", codes=["4"], value="not_stated")
    rows = {row["code"]: row for row in editing.variable("estado_civil")["codes"]["rows"]}
    assert (rows["4"]["kind"], rows["4"]["count"]) == ("not_stated", 24)
    age = editing.variable("edad")["distribution"]
    assert sum(bar["count"] for bar in age["bars"]) == 117
    assert age["missing"] == [{"value": "999", "count": 3}]
    change(editing, "plain", "edad", setting="not_stated", value=[])
    assert editing.variable("edad")["distribution"]["strange"] == [{"value": "999", "count": 3}]
    income = editing.variable("ingreso")["distribution"]
    assert sum(bar["count"] for bar in income["bars"]) == income["rows"] - income["empty"] == 40


def test_what_is_wrong_stands_at_its_variable_and_is_not_saved(schema: Path) -> None:
    editing = SchemaEditing(schema)
    before = schema.read_bytes()
    change(editing, "level", "edad", level="edad", bounds="0,5,...,85+", label={})
    change(editing, "plain", "ingreso", setting="decimals", value="many")
    change(editing, "unit", entity="person", setting="within", value="building")
    assert mistakes(editing, "edad") == ["two levels are called 'edad'."]
    assert mistakes(editing, "ingreso") == ["'decimals' should be a whole number"]
    assert any("entity.person" in text for text in editing.state()["mistakes"])
    with pytest.raises(InputError, match="nothing was saved"):
        save(editing)
    assert schema.read_bytes() == before
    assert sorted(path.name for path in schema.parent.glob("schema*")) == [
        "schema.toml",
        "schema.toml.editing",
    ]


def test_an_interrupted_session_goes_on(schema: Path) -> None:
    first = SchemaEditing(schema)
    change(first, "spoken", "sexo", setting="label", value={"es": "Sexo"})
    change(first, "form", "ocupacion", value="codes")
    change(first, "accept", "sexo")
    second = SchemaEditing(schema)
    assert second.note == "resumed"
    assert second.variable("sexo")["labels"] == {"es": "Sexo"}
    assert second.state()["looked_at"] == 1
    assert len(second.variable("ocupacion")["codes"]["rows"]) == 60
    save(second)
    third = SchemaEditing(schema)
    assert (third.note, third.dirty, third.state()["looked_at"]) == ("", False, 1)
    # When everything has been looked at, nothing is left beside the schema.
    for name in tomllib.loads(schema.read_text(encoding="utf-8"))["variable"]:
        change(third, "accept", name)
    save(third)
    assert not schema.with_name("schema.toml.editing").exists()


def test_a_file_that_was_changed_meanwhile_is_not_overwritten(schema: Path) -> None:
    editing = SchemaEditing(schema)
    change(editing, "spoken", "sexo", setting="label", value={"es": "Sexo"})
    theirs = schema.read_bytes() + b"# by somebody else\n"
    schema.write_bytes(theirs)
    with pytest.raises(ChangedOnDisk, match=r"schema\.toml was changed on disk"):
        save(editing)
    assert schema.read_bytes() == theirs
    again = SchemaEditing(schema)
    assert (again.note, again.aside) == ("aside", "schema.toml.editing.1")
    assert again.variable("sexo")["labels"] == {}
    assert b"Sexo" in schema.with_name(again.aside).read_bytes()


def test_a_code_list_that_was_changed_meanwhile_is_not_overwritten(schema: Path) -> None:
    editing = SchemaEditing(schema)
    change(editing, "form", "ocupacion", value="codes")
    save(editing)
    codes = schema.parent / "codes" / "ocupacion.csv"
    change(editing, "code_label", "ocupacion", tree=-1, code="1000", line=2, value={"es": "Jefe"})
    codes.write_bytes(codes.read_bytes() + b"9999,Otro,\n")
    with pytest.raises(ChangedOnDisk, match=r"ocupacion\.csv"):
        save(editing)
    assert b"Jefe" not in codes.read_bytes()


def test_two_windows_do_not_overwrite_each_other(schema: Path) -> None:
    editing = SchemaEditing(schema)
    old = editing.version
    change(editing, "role", "sexo", value="")
    with pytest.raises(StaleView):
        editing.change({"version": old, "what": "role", "variable": "sexo", "value": "key"})


def test_groups_of_a_list_become_its_levels(schema: Path) -> None:
    editing = SchemaEditing(schema)
    change(editing, "form", "ocupacion", value="codes")
    rows = [{"code": code, "line": at + 2} for at, code in enumerate(OCCUPATIONS)]
    change(editing, "group", "ocupacion", tree=-1, rows=rows[:30], group="A", label={"es": "Uno"})
    change(editing, "group", "ocupacion", tree=-1, rows=rows[30:], group="B", label={"es": "Dos"})
    change(editing, "tree_levels", "ocupacion", tree=-1, levels=["grupo"])
    save(editing)
    level = read_schema(schema).variable("ocupacion").hierarchies[0].levels[0]
    assert (level.name, [code.label.show("es") for code in level.codes]) == (
        "grupo",
        ["Uno", "Dos"],
    )
    assert level.group == tuple([0] * 30 + [1] * 30)
    # A group that has lost its last code is gone, and not one more code.
    change(editing, "group", "ocupacion", tree=-1, rows=rows[30:], group="A", label={})
    assert [group["code"] for group in editing.variable("ocupacion")["trees"][0]["groups"]] == ["A"]
    assert not mistakes(editing, "ocupacion")
    with pytest.raises(InputError, match="cannot lie in itself"):
        change(editing, "group", "ocupacion", tree=-1, rows=[{"code": "A", "line": 62}], group="A")
    with pytest.raises(InputError, match="is a code of the list already"):
        change(editing, "group", "ocupacion", tree=-1, rows=rows[:1], group="1003")
    change(editing, "grouping", "ocupacion", grouping="otra", label={})
    change(editing, "add_codes", "ocupacion", codes=["7777"])
    rows = [{"code": "7777", "line": 62}]
    change(editing, "group", "ocupacion", tree=0, rows=rows, group="x", label={"es": "Equis"})
    assert not mistakes(editing, "ocupacion")
    change(editing, "no_grouping", "ocupacion", tree=0)
    save(editing)
    assert not list((schema.parent / "codes").glob("*otra*"))


def test_a_workbook_of_codes_is_left_alone_and_a_csv_takes_its_place(schema: Path) -> None:
    xlsxwriter = pytest.importorskip("xlsxwriter")
    book = xlsxwriter.Workbook(schema.parent / "sex.xlsx")
    sheet = book.add_worksheet()
    for at, row in enumerate((("code", "label"), ("1", "H"), ("2", "M"))):
        sheet.write_row(at, 0, row)
    book.close()
    before = (schema.parent / "sex.xlsx").read_bytes()
    text = schema.read_text(encoding="utf-8")
    schema.write_text(
        text.replace('codes = { "1" = "1", "2" = "2" }', 'codes = "sex.xlsx"', 1),
        encoding="utf-8",
        newline="\n",
    )
    editing = SchemaEditing(schema)
    change(editing, "code_label", "sexo", tree=-1, code="2", line=3, value={"es": "Mujer"})
    save(editing)
    assert (schema.parent / "sex.xlsx").read_bytes() == before
    labels = [code.label.show() for code in read_schema(schema).variable("sexo").codes]
    assert labels == ["H", "Mujer"]


def test_windows_lines_a_mark_and_comments_stay(schema: Path) -> None:
    text = "# ours\n" + schema.read_text(encoding="utf-8")
    schema.write_bytes(b"\xef\xbb\xbf" + text.replace("\n", "\r\n").encode())
    editing = SchemaEditing(schema)
    change(editing, "plain", "edad", setting="range", value=[0, 99])
    save(editing)
    written = schema.read_bytes()
    expected = text.replace("range = [0, 120]", "range = [0, 99]").replace("\n", "\r\n").encode()
    assert written == b"\xef\xbb\xbf" + expected


def test_backups_are_numbered(schema: Path) -> None:
    editing = SchemaEditing(schema)
    contents = []
    for label in ("Uno", "Dos", "Tres"):
        contents.append(schema.read_bytes())
        change(editing, "spoken", "sexo", setting="label", value={"es": label})
        save(editing)
    kept = [schema.with_name(f"schema.toml.bak{end}").read_bytes() for end in ("", "2", "3")]
    assert kept == contents


def test_a_schema_that_is_no_toml_and_a_folder_without_one_are_told(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="sdcensus schema draft"):
        SchemaEditing(tmp_path)
    (tmp_path / "schema.toml").write_text("[census\n", encoding="utf-8")
    with pytest.raises(DocumentError, match="not TOML"):
        SchemaEditing(tmp_path)


def test_a_file_that_is_not_there_leaves_the_schema_editable(schema: Path) -> None:
    (schema.parent / "personas.csv").unlink()
    editing = SchemaEditing(schema)
    shown = editing.variable("sexo")
    assert "personas.csv" in shown["problem"]
    assert shown["distribution"] is None
    change(editing, "spoken", "sexo", setting="label", value={"es": "Sexo"})
    save(editing)


NAMES_OF_VARIABLES = ("num_hogar", "nombre", "sexo", "edad", "estado_civil", "ocupacion", "ingreso")
TEXTS = st.one_of(st.text(max_size=8), st.sampled_from(["", "á'\"=#", "x\ny", "[a]", "1", "_T"]))
CHANGES = st.one_of(
    st.tuples(st.just("role"), st.fixed_dictionaries({"value": st.sampled_from(["", *Role])})),
    st.tuples(
        st.just("form"),
        st.fixed_dictionaries({"value": st.sampled_from(["codes", "range", "amount"])}),
    ),
    st.tuples(
        st.just("spoken"),
        st.fixed_dictionaries(
            {
                "setting": st.sampled_from(["label", "description", "topic"]),
                "value": st.dictionaries(st.sampled_from(["es", "en"]), TEXTS, max_size=2),
            }
        ),
    ),
    st.tuples(
        st.just("kind"),
        st.fixed_dictionaries(
            {
                "codes": st.lists(st.sampled_from(["1", "2", "9", "1003", "x"]), max_size=2),
                "value": st.sampled_from([kind.value for kind in CodeKind]),
            }
        ),
    ),
    st.tuples(st.just("add_codes"), st.fixed_dictionaries({"codes": st.lists(TEXTS, max_size=2)})),
    st.tuples(
        st.just("remove_codes"),
        st.fixed_dictionaries({"codes": st.lists(st.sampled_from(["1", "2"]), max_size=2)}),
    ),
    st.tuples(
        st.just("level"),
        st.fixed_dictionaries(
            {
                "level": st.sampled_from(["broad", "é", "a b", "edad"]),
                "bounds": st.sampled_from(["0,15,65+", "0,5,...,85+", "", "x"]),
                "label": st.dictionaries(st.just("es"), TEXTS, max_size=1),
            }
        ),
    ),
    st.tuples(
        st.just("grouping"),
        st.fixed_dictionaries(
            {"grouping": st.sampled_from(["g", "h", "1 x"]), "label": st.just({})}
        ),
    ),
    st.tuples(
        st.just("group"),
        st.fixed_dictionaries(
            {
                "tree": st.integers(-1, 1),
                "rows": st.just([{"code": "1", "line": 2}, {"code": "1003", "line": 3}]),
                "group": st.sampled_from(["", "G", "1"]),
                "label": st.just({"es": "Grupo"}),
            }
        ),
    ),
    st.tuples(st.just("no_grouping"), st.fixed_dictionaries({"tree": st.integers(0, 1)})),
    st.tuples(st.sampled_from(["accept", "reopen"]), st.just({})),
)


@pytest.fixture(scope="module")
def drafted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_draft(tmp_path_factory.mktemp("drafted")).parent


@settings(max_examples=15)
@given(asked=st.lists(st.tuples(st.sampled_from(NAMES_OF_VARIABLES), CHANGES), max_size=6))
def test_any_changes_leave_a_document_and_can_be_undone(
    drafted: Path,
    tmp_path_factory: pytest.TempPathFactory,
    asked: list[tuple[str, tuple[str, dict[str, Any]]]],
) -> None:
    folder = tmp_path_factory.mktemp("any") / "census"
    schema = shutil.copytree(drafted, folder) / "schema.toml"
    before = schema.read_text(encoding="utf-8")
    editing = SchemaEditing(schema)
    steps = 0
    for name, (what, members) in asked:
        version = editing.version
        try:
            change(editing, what, name, **members)
        except InputError:
            assert editing.version == version
        steps += editing.version > version
        editing.variable(name)
        other = tomllib.loads(editing._copy.text)["variable"]
        for untouched in set(other) - {name for name, _ in asked}:
            assert other[untouched] == tomllib.loads(before)["variable"][untouched]
    if not editing.state()["mistakes_count"]:
        text = editing._copy.text
        save(editing)
        assert schema.read_text(encoding="utf-8") == text
        read_schema(schema)
        return
    for _ in range(steps):
        editing.undo({"version": editing.version})
    assert editing._copy.text == before
    assert not editing._copy.lists
