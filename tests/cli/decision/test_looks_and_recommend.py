from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest
import typer
from typer.main import get_command

from sdcensus.cli.decision import looks, recommend
from sdcensus.cli.shared.run import BUG
from sdcensus.errors import DocumentError, InputError, OutputError, SdcensusError, SpecError
from sdcensus.risk.looks.budget import NOT_COVERED
from sdcensus.testing.island import island_store

app = typer.Typer()
app.command("looks", epilog=looks.EXAMPLES)(looks.looks)
app.command("recommend", epilog=recommend.EXAMPLES)(recommend.recommend)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("island") / "island.store"
    island_store(path, 5_000)
    return path


@pytest.fixture
def policy(tmp_path: Path) -> Path:
    path = tmp_path / "own.toml"
    text = 'name = "Own"\n[limits]\ndimensions = 3\ncells = 500\n[online]\nrecovery = 0.6\n'
    path.write_text(text, encoding="utf-8", newline="\n")
    return path


@pytest.fixture
def answer(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch):  # type: ignore[no-untyped-def]
    monkeypatch.setenv("COLUMNS", "100")

    def run(*arguments: object) -> str:
        capsys.readouterr()
        get_command(app).main(args=[str(argument) for argument in arguments], standalone_mode=False)
        return capsys.readouterr().out

    return run


def refused(arguments: Sequence[object]) -> SdcensusError:
    with pytest.raises(SdcensusError) as caught:
        get_command(app).main(args=[str(argument) for argument in arguments], standalone_mode=False)
    assert caught.value.exit_code != BUG
    return caught.value


def test_recommend_shows_reasons_and_writes_files(store: Path, tmp_path: Path, answer) -> None:  # type: ignore[no-untyped-def]
    out = tmp_path / "advice"
    said = answer("recommend", store, "--product", "report", "--out", out)
    for heading in ("Scheme", "Policy", "Tables: ", "Considered and not proposed"):
        assert heading in said
    assert "age-by-sex" in said
    assert (out / "plan.toml").exists()
    assert (out / "policy.toml").exists()
    assert f"Wrote {out / 'plan.toml'}." in said
    error = refused(["recommend", store, "--out", out])
    assert isinstance(error, OutputError)
    # What was written can be looked at, with no more than what it says.
    looked = answer("looks", store, "--plan", out / "plan.toml", "--scheme", "CP3,CP4")
    assert "CP4 (strong)" in looked
    assert "CP3(EU)" not in looked
    assert "Filters select the same records" in looked


def test_recommend_without_out_says_how_to_write(store: Path, answer) -> None:  # type: ignore[no-untyped-def]
    said = answer("recommend", store, "--product", "builder")
    assert "--product builder --out FOLDER" in said
    assert "a builder with tables of up to" in said
    assert answer("recommend", store, "--quiet") == ""


def test_recommend_keeps_the_policy_that_was_given(store: Path, policy: Path, answer) -> None:  # type: ignore[no-untyped-def]
    said = answer("recommend", store, "--product", "report", "--policy", policy)
    assert "--policy" in said.split("Write plan and policy with:")[1]


def test_recommend_finds_versions_of_a_table(store: Path, policy: Path, answer) -> None:  # type: ignore[no-untyped-def]
    said = answer("recommend", store, "--policy", policy, "--for", "area,age,sex,married")
    assert "has at most 3 variables" in said
    assert "The finest versions" in said
    assert "can be published as it is" in answer("recommend", store, "--for", "area,sex")


def test_looks_of_a_policy_by_level_and_in_the_census(store: Path, policy: Path, answer) -> None:  # type: ignore[no-untyped-def]
    said = answer("looks", store, "--policy", policy, "--cells", "area,sex")
    assert "area@district" in said
    assert "within 60 %" in said  # as the policy says
    assert "In the census itself" in said
    # What the figures do not cover, beside both of them.
    assert " ".join(said.split()).count(NOT_COVERED) == 2
    kept = answer("looks", store, "--policy", policy, "--cells", "area,sex", "--unbroken", "400")
    assert kept != said
    assert "within 30 %" in answer("looks", store, "--policy", policy, "--limit", "0.3")


def test_bad_input_is_an_error_with_a_remedy(store: Path, policy: Path, tmp_path: Path) -> None:
    def text(*arguments: object, kind: type[SdcensusError] = SpecError) -> str:
        error = refused(arguments)
        assert isinstance(error, kind)
        return str(error)

    assert "report, programme, builder" in text("recommend", store, "--product", "book")
    assert "--for needs axes" in text("recommend", store, "--for", " , ")
    assert "no variable 'agge'" in text("recommend", store, "--for", "agge")
    assert "does not exist" in text("recommend", store, "--policy", "gone.toml", kind=InputError)
    assert "--policy FILE or --plan FILE" in text("looks", store)
    assert "one of the two" in text("looks", store, "--policy", policy, "--plan", "plan.toml")
    assert "--limit is a chance" in text("looks", store, "--policy", policy, "--limit", "1")
    assert "no scheme 'CP9'" in text("looks", store, "--policy", policy, "--scheme", "CP9")
    assert "no role 'king'" in text("looks", store, "--policy", policy, "--role", "king")
    assert "--unbroken is for" in text("looks", store, "--policy", policy, "--unbroken", "3")
    assert "--cells is for" in text("looks", store, "--plan", "p.toml", "--cells", "sex")
    plan = tmp_path / "plan.toml"
    plan.write_text(
        'store = "x"\n[[table]]\nname = "a"\nrows = ["agee"]\n', encoding="utf-8", newline="\n"
    )
    assert "line 4" in text("looks", store, "--plan", plan, kind=DocumentError)
