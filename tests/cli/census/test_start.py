from __future__ import annotations

import shlex
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Run
from tests.cli.tiny import write_village

PEOPLE = 2_400


def write_census(folder: Path) -> None:
    """Persons and households in two files with Spanish names, one commune with four persons."""
    folder.mkdir()
    households = ["ID_HOGAR;COMUNA;TENENCIA"]
    persons = ["ID_HOGAR;NPER;SEXO;EDAD;CIVIL"]
    for at in range(PEOPLE // 3):
        commune = 105 if at == 0 else 101 + at % 4
        households.append(f"{at:05d};{commune};{1 + at % 3}")
        for number in range(4 if at == 0 else 3):
            persons.append(f"{at:05d};{number + 1};{1 + (at + number) % 2};{at * 7 % 90};{at % 4}")
    (folder / "hogares.csv").write_text("\n".join(households), encoding="utf-8")
    (folder / "personas.csv").write_text("\n".join(persons), encoding="utf-8")


def commands_in(path: Path) -> list[list[str]]:
    lines = path.read_text(encoding="utf-8").splitlines()
    return [shlex.split(line) for line in lines if line and not line.startswith("#")]


def test_the_whole_road_without_a_terminal(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "censo"
    write_census(folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    answer = run("start", folder)
    assert answer.code == 2  # nobody can be asked
    assert "--for report,builder" in answer.err
    # Without --yes only what binds nobody is done: a schema is drafted, no secret is made.
    answer = run("start", folder, "--for", "report,builder")
    assert answer.code == 0, answer.err
    assert (folder / "schema" / "schema.toml").is_file()
    assert not (tmp_path / "office.secret").exists()
    # What is written down works as it is, and leads to the same place as --yes.
    edit, *others = commands_in(folder / "next-commands.txt")
    assert edit[:3] == ["sdcensus", "schema", "edit"]  # it opens a page and stays
    for words in others:
        assert words[0] == "sdcensus"
        assert run(*words[1:]).code == 0, words
    secret = (tmp_path / "office.secret").read_bytes()
    for name in ("plan.toml", "policy.toml"):
        assert (folder / "advice" / name).is_file()
    steps = commands_in(folder / "next-commands.txt")
    assert [words[1] for words in steps] == [
        *("plan", "policy", "publish", "verify", "attack", "secret", "serve", "serve")
    ]
    for words in steps[:-1]:  # the last one opens the builder and stays
        assert run(*words[1:]).code == 0, words
    assert steps[-1] == steps[-2][:-1]
    assert steps[-2][-1] == "--check"
    # Again: everything is kept, and what is left of the road is told.
    plan = (folder / "advice" / "plan.toml").read_bytes()
    answer = run("start", folder, "--yes")
    assert answer.code == 0, answer.err
    assert [words[1] for words in commands_in(folder / "next-commands.txt")] == [
        *("verify", "attack", "serve", "serve")
    ]
    assert (tmp_path / "office.secret").read_bytes() == secret
    assert (folder / "advice" / "plan.toml").read_bytes() == plan
    assert {name: (folder / name).read_bytes() for name in before} == before
    # The commune of four persons is not in what was published.
    for path in (folder / "advice" / "published").glob("*.csv"):
        lines = path.read_text(encoding="utf-8").splitlines()
        shown = [line.split(",") for line in lines if line.startswith("105,")]
        assert all("c" in line or "" in line or ":" in line for line in shown), path
    # Other products would need other noise.
    answer = run("start", folder, "--for", "programme")
    assert answer.code == 2
    assert "--rekey" in answer.err


def test_a_dictionary_among_the_files_is_one(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "censo"
    write_census(folder)
    (folder / "diccionario.csv").write_text(
        "Variable;Etiqueta;Código;Glosa\nSEXO;Sexo;1;Hombre\n;;2;Mujer\n"
        "COMUNA;Comuna de residencia;101;Puerto Claro\nTENENCIA;Tenencia;1;Propia\n",
        encoding="utf-8",
    )
    # What a load leaves beside its store is no file of the census either.
    (folder / "census.store.problems.txt").write_text("Problems\n", encoding="utf-8")
    answer = run("start", folder, "--for", "report")
    assert answer.code == 0, answer.err
    assert "What columns and codes mean is taken from diccionario.csv." in answer.out
    text = (folder / "schema" / "schema.toml").read_text(encoding="utf-8")
    assert 'languages = ["es"]' in text
    assert '"1" = "Hombre"' in text
    assert "diccionario" not in text
    assert "problems" not in text


def test_a_store_is_a_beginning_too(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "village"
    folder.mkdir()
    village = write_village(folder)
    run("secret", "new", tmp_path / "office.secret")
    store = folder / "census.store"
    assert run("load", village, "--out", store, "--secret", tmp_path / "office.secret").code == 0
    answer = run("start", store, "--for", "report", "--secret", tmp_path / "other.secret")
    assert answer.code == 5
    assert "was made with the secret" in answer.err
    assert not (tmp_path / "other.secret").exists()


def test_a_programme_is_told_of_swapping_before_it_is_published(run: Run, tmp_path: Path) -> None:
    write_census(tmp_path / "censo")
    answer = run("start", tmp_path / "censo", "--for", "programme", "--yes", "-l", "es")
    assert answer.code == 0, answer.err
    assert "sdcensus swap STORE --risk-variables" in " ".join(answer.out.split())


def test_files_for_researchers_are_a_road_to_its_end(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "censo"
    write_census(folder)
    answer = run("start", folder, "--for", "microdata", "--yes")
    assert answer.code == 0, answer.err
    document = folder / "advice" / "release.toml"
    draft = document.read_text(encoding="utf-8")

    def walk() -> list[str]:
        """Run what is listed about files for researchers; what was run."""
        steps = [
            words
            for words in commands_in(folder / "next-commands.txt")
            if words[1] in ("release", "start")
        ]
        for words in steps:
            done = run(*words[1:])
            assert done.code == 0, (words, done.err)
        return [words[2] for words in steps if words[1] == "release"]

    assert walk() == ["assess"]
    # Small categories are merged by groups that somebody approves; then the file is made.
    approved = 'groupings = "release-assessment/groupings.csv"\napproved_by = "A. Ruiz"'
    document.write_text(draft.replace("households = 60", f"households = 60\n{approved}"))
    assert walk() == ["assess", "make"]
    assert walk() == ["check"]
    assert (folder / "advice" / "researchers").is_dir()
    assert document.read_text(encoding="utf-8") != draft  # what is there already is left alone


def test_files_for_researchers_change_no_noise(run: Run, tmp_path: Path) -> None:
    """They may be added to what was chosen before; tables of another kind may not."""
    write_census(tmp_path / "censo")
    assert run("start", tmp_path / "censo", "--for", "report", "--yes").code == 0
    plan = (tmp_path / "censo" / "advice" / "plan.toml").read_bytes()
    answer = run("start", tmp_path / "censo", "--for", "report,microdata")
    assert answer.code == 0, answer.err
    assert (tmp_path / "censo" / "advice" / "release.toml").is_file()
    assert (tmp_path / "censo" / "advice" / "plan.toml").read_bytes() == plan
    assert run("start", tmp_path / "censo", "--for", "programme,microdata").code == 2


def test_files_for_researchers_speak_the_language_that_is_asked_for(
    run: Run, tmp_path: Path
) -> None:
    write_census(tmp_path / "censo")
    answer = run("start", tmp_path / "censo", "--for", "report,microdata", "--yes", "-l", "es")
    assert answer.code == 0, answer.err
    (assess,) = [
        words
        for words in commands_in(tmp_path / "censo" / "next-commands.txt")
        if words[1] == "release"
    ]
    assert "Archivos para investigadores" in answer.out
    assert assess[-2:] == ["-l", "es"]
    assert run(*assess[1:]).code == 0


def test_a_census_without_persons_has_no_file_for_researchers(run: Run, tmp_path: Path) -> None:
    folder = tmp_path / "viviendas"
    folder.mkdir()
    rows = ["ID;COMUNA;TENENCIA", *(f"{at:05d};{101 + at % 4};{1 + at % 3}" for at in range(800))]
    (folder / "viviendas.csv").write_text("\n".join(rows), encoding="utf-8")
    (folder / "schema.toml").write_text(
        '[census]\nname = "Viviendas"\ncode = "V"\nlanguages = ["es"]\n'
        '[files.dwelling]\npath = "viviendas.csv"\nentity = "dwelling"\n'
        '[entity.dwelling]\nid = ["ID"]\n'
        '[variable.comuna]\nfile = "dwelling"\ncolumn = "COMUNA"\nrole = "geography"\n'
        'codes = { "101" = "A", "102" = "B", "103" = "C", "104" = "D" }\n'
        '[variable.tenencia]\nfile = "dwelling"\ncolumn = "TENENCIA"\n'
        'codes = { "1" = "1", "2" = "2", "3" = "3" }\n',
        encoding="utf-8",
    )
    answer = run("start", folder, "--for", "report,microdata", "--yes", "-l", "en")
    assert answer.code == 0, answer.err
    assert "is made of persons, and this census has none" in answer.out
    assert not (folder / "advice" / "release.toml").exists()


def test_questions_are_asked_in_order(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "censo"
    write_census(folder)
    asked: list[str] = []
    answers = iter([True, False])

    def confirm(question: str, **settings: object) -> bool:
        asked.append(question)
        return next(answers)

    monkeypatch.setattr("sdcensus.cli.shared.questions.can_answer", lambda: True)
    monkeypatch.setattr("sdcensus.cli.census.start.can_answer", lambda: True)
    monkeypatch.setattr("typer.prompt", lambda *words, **settings: "2")
    monkeypatch.setattr("typer.confirm", confirm)
    answer = run("start", folder)
    assert answer.code == 0, answer.err
    assert "1  report" in answer.out
    assert [question.split("?")[0].split(" ")[0] for question in asked] == ["May", "Is"]
    assert 'products = ["programme"]' in (folder / "start.toml").read_text(encoding="utf-8")
    assert "builder_later = true" in (folder / "start.toml").read_text(encoding="utf-8")
    assert sys.stdin is not None


@pytest.mark.parametrize(
    ("prepare", "words"),
    [
        (lambda folder: None, "holds no file of a census"),
        (lambda folder: (folder / "x.toml").write_text("a = 1"), "holds no file of a census"),
    ],
)
def test_a_folder_without_a_census_is_told(
    run: Run, tmp_path: Path, prepare: object, words: str
) -> None:
    assert callable(prepare)
    prepare(tmp_path)
    answer = run("start", tmp_path, "--for", "report")
    assert answer.code == 5
    assert words in answer.err
    assert run("start", tmp_path / "nowhere", "--for", "report").code == 5
