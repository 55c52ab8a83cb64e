from __future__ import annotations

import re
import string
import tomllib
from collections.abc import Callable
from dataclasses import replace
from importlib.resources import files
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import Sentence
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.policy.policy import (
    AmountRule,
    AtLevel,
    Decided,
    DetailOf,
    Limits,
    NotOffered,
    OnlineRules,
    Policy,
    VariableRule,
    WhenSparse,
)
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.policy import (
    ReasonCode,
    StepKind,
    Verdict,
    amount_policy,
    ask,
    refused_measure,
    show,
    told_of_amount,
)
from sdcensus.session.policy.words import (
    note_text,
    reason_text,
    remedy_text,
)
from sdcensus.testing.island import island_schema

LABELS = {
    "area": {"en": "Place", "es": "Lugar", "fr": "Lieu", "nl": "Plaats"},
    "sex": {"en": "Sex", "es": "Sexo", "fr": "Sexe", "nl": "Geslacht"},
    "age": {"en": "Age", "es": "Edad", "fr": "Âge", "nl": "Leeftijd"},
    "married": {"en": "Married"},
}
SCHEMA = replace(
    island_schema(),
    variables=(
        *(
            replace(variable, label=Text.of(LABELS[variable.name]))
            if variable.name in LABELS
            else variable
            for variable in island_schema().variables
        ),
        Variable(
            name="pay",
            entity=Entity.PERSON,
            continuous=True,
            decimals=2,
            label=Text.of({"en": "Pay", "es": "Paga", "fr": "Paie", "nl": "Loon", "pt": "Paga"}),
        ),
    ),
)


def texts(language: str) -> dict[str, str]:
    path = files("sdcensus").joinpath("words", language, "web", "policy.toml")
    found = {}
    for key, value in tomllib.loads(path.read_text(encoding="utf-8")).items():
        if isinstance(value, str):
            found[f"policy.{key}"] = value
        else:
            found |= {f"policy.{key}.{one}": text for one, text in value.items()}
    return found


TEXTS = {language: texts(language) for language in LANGUAGES}


def policy(**rules: Any) -> Policy:
    return Policy(name="test", schema=SCHEMA, **rules)


def online(**rules: Any) -> Policy:
    return policy(online=OnlineRules(**rules))


def spec(*by: str, where: str | None = None) -> TableSpec:
    return TableSpec.build(SCHEMA, by, universe=where)


def table(inner: Any, *by: str, where: str | None = None) -> Table:
    made = spec(*by, where=where)
    size = [axis.base_size for axis in made.axes]
    return Table(made, with_totals(made, np.broadcast_to(np.asarray(inner, np.int64), size).copy()))


def whole(by: tuple[str, ...], each: int) -> Callable[[TableSpec], Table]:
    return lambda wanted: Table(wanted, np.full(wanted.shape, each, dtype=np.int64))


SOME = [[9, 9]] * 6 + [[1, 0]]  # the last parish is sparse


def shown(made: Policy, given: AnyTable, each: int = 0) -> Verdict:
    return show(made, given, published=whole((), each)).verdict


def sparse(given: Table) -> SparseTable:
    values = given.published.reshape(-1)
    cells = np.flatnonzero(values).astype(np.uint64)
    return SparseTable(given.spec, cells, values[cells.astype(np.int64)])


def verdicts() -> dict[str, Verdict]:
    """For each text of a reason a table that gives it."""
    hidden = policy(decided=Decided(not_offered=(NotOffered(AtLevel("area", "parish"), ("P0",)),)))
    detail = policy(
        decided=Decided(
            detail=(DetailOf(AtLevel("area", "parish"), ("P0",), (AtLevel("age", "class"),)),)
        )
    )
    everywhere = tuple(VariableRule(variable=one, offered=False) for one in ("sex", "age"))
    housed = replace(
        SCHEMA,
        entities=(
            EntitySpec(entity=Entity.HOUSEHOLD, id=("household",)),
            EntitySpec(entity=Entity.PERSON, id=("id",), within=Entity.HOUSEHOLD),
        ),
        variables=tuple(
            replace(variable, entity=Entity.HOUSEHOLD) if variable.name == "married" else variable
            for variable in SCHEMA.variables
        ),
    )
    households_only = VariableRule(variable="married", units=(Entity.HOUSEHOLD,))
    by = (AtLevel("sex"), AtLevel("age", "class"))
    paid = policy(amounts=(AmountRule(variable="pay", measures=(AmountFigure.SUM,), by=by),))
    mean, sums = FigureOf(AmountFigure.MEAN, "pay"), FigureOf(AmountFigure.SUM, "pay")
    few = (Code("0-999", Text.of("0 to 999")), Code("1000+", Text.of("1000 and over")))
    pay = replace(SCHEMA.variable("pay"), codes=few)
    classed = replace(SCHEMA, variables=(*SCHEMA.variables[:-1], pay))
    paid_in_classes = Policy(name="test", schema=classed, amounts=(AmountRule(variable="pay"),))
    own_classes = TableSpec.build(classed, ("pay",))
    refused = {
        "others": refused_measure(paid, mean, Entity.PERSON),
        "counts": refused_measure(policy(), mean, Entity.PERSON),
    }
    return {
        **{
            f"measure-not-offered.{words}": Verdict((reason,))
            for words, reason in refused.items()
            if reason is not None
        },
        "variable-not-offered-with-amount": told_of_amount(
            paid, sums, ask(amount_policy(paid, paid.amounts[0]), spec("married"))
        ),
        "amount-by-its-classes": told_of_amount(
            paid_in_classes,
            sums,
            ask(amount_policy(paid_in_classes, paid_in_classes.amounts[0]), own_classes),
        ),
        "variable-not-offered-for-units": ask(
            Policy(name="test", schema=housed, variables=(households_only,)),
            TableSpec.build(housed, ("sex", "married")),
        ),
        "variable-not-offered": ask(policy(variables=everywhere), spec("sex", "married")),
        "variable-not-a-filter": ask(
            policy(variables=(VariableRule(variable="married", as_filter=False),)),
            spec("sex", where="married == 1"),
        ),
        "level-too-fine": ask(
            policy(variables=(VariableRule(variable="age", finest_level="class"),)),
            spec("age", "sex"),
        ),
        "area-too-fine": ask(
            policy(
                variables=(VariableRule(variable="age", finest_area=AtLevel("area", "district")),)
            ),
            spec("area", "age"),
        ),
        "never-together.at-all": ask(
            policy(never_together=((AtLevel("age"), AtLevel("sex")),)), spec("age", "sex")
        ),
        "never-together.at-levels": ask(
            policy(never_together=((AtLevel("age", "class"), AtLevel("sex")),)),
            spec("age", "sex"),
        ),
        "too-many-variables": ask(
            policy(limits=Limits(dimensions=1)), spec("area", "sex", "age", "married")
        ),
        "too-many-cells": ask(
            policy(limits=Limits(cells=1_001)),
            spec("area@parish+district", "sex", "age", "married"),
        ),
        "code-not-offered.condition": ask(hidden, spec("sex", where="area == 'P0'")),
        "code-not-offered.withheld": ask(hidden, spec("area", "sex")),
        "too-much-detail-for-area.condition": ask(detail, spec("age", where="area == 'P0'")),
        "too-much-detail-for-area.withheld": ask(detail, spec("area", "age")),
        "sparse-area.withheld": shown(online(mean_cell_size=2.5), table(SOME, "area", "sex")),
        "sparse-area.refused": shown(
            online(mean_cell_size=2.5, when_sparse=WhenSparse.REFUSE_TABLE),
            table(SOME, "area", "sex"),
        ),
        "sparse-area.table": shown(online(mean_cell_size=2_000), table(1, "sex")),
        "sparse-area.small-values": shown(
            online(mean_cell_size=2, when_sparse=WhenSparse.C), noisy(table(SOME, "area", "sex"))
        ),
        "sparse-area.small-values-table": shown(
            online(mean_cell_size=2, when_sparse=WhenSparse.C), noisy(table(1, "sex"))
        ),
        "small-population.withheld": shown(
            online(minimum_population=12), table(SOME, "area", "sex")
        ),
        "small-population.table": shown(online(minimum_population=12_000), table(1, "sex")),
        "small-population.condition": shown(
            online(minimum_population=12), table(1, "sex", where="age < 5"), each=3
        ),
        "sparse-table": shown(online(mean_cell_size_of_table=2), table(1, "sex")),
        "too-many-ones": shown(online(ones=0.125), table(1, "sex")),
        "too-many-ones-and-twos": shown(online(ones_and_twos=0.5), table(2, "sex")),
        "withheld-values-add-up": shown(
            online(mean_cell_size=2, when_sparse=WhenSparse.C), table(SOME, "area", "sex")
        ),
        "too-large-for-signs": shown(online(mean_cell_size=2), sparse(table(SOME, "area", "sex"))),
    }


def noisy(made: Table) -> Table:
    values = made.published.copy()
    values.reshape(-1)[-1] += 1
    return Table(made.spec, values)


VERDICTS = verdicts()


def reason_of(words: str) -> Any:
    found = [reason for reason in VERDICTS[words].reasons if reason.words == words]
    assert found, (words, VERDICTS[words].lines())
    return found[0]


def test_every_reason_there_is_occurs_here() -> None:
    assert {reason_of(words).code for words in VERDICTS} == set(ReasonCode)
    sections = {"remedy", "status", "withheld", "note"}
    keys = {one.removeprefix("policy.") for one in TEXTS["en"]}
    assert {key for key in keys if key.split(".")[0] not in sections} == set(VERDICTS)


def by_labels(sentence: str) -> str:
    """A sentence of the library, which has names as well: by labels alone."""
    plain = re.sub(r"\b([A-Z]\w+) \(\w+\)", r"\1", sentence)
    plain = re.sub(r"area@(\w+)", r"\1", plain)
    return re.sub(r"(\w+)@(\w+)", r"\1 (\2)", plain)


@pytest.mark.parametrize("words", VERDICTS)
def test_english_text_is_the_sentence_of_the_library(words: str) -> None:
    reason = reason_of(words)
    text = reason_text(reason, SCHEMA, "en", TEXTS["en"])
    assert text.lower() == by_labels(reason.sentence).lower()


@pytest.mark.parametrize("language", LANGUAGES[1:])
@pytest.mark.parametrize("words", VERDICTS)
def test_reasons_in_other_languages_keep_their_values(words: str, language: str) -> None:
    reason = reason_of(words)
    text = reason_text(reason, SCHEMA, language, TEXTS[language])
    assert "{" not in text
    assert text != reason_text(reason, SCHEMA, "en", TEXTS["en"])
    wanted = [name for _, name, _, _ in string.Formatter().parse(TEXTS["en"][f"policy.{words}"])]
    assert {one for one in wanted if one} == {name for name, _ in reason.values}
    assert not re.search(r"\b(the|are|and|not|this|with|values|cells|for|has|below|some)\b", text)


def test_rules_that_are_still_to_come_are_told_in_every_language() -> None:
    found: dict[str, Sentence] = {}
    for sparse in WhenSparse:
        rules = online(
            mean_cell_size=2.5,
            mean_cell_size_of_table=3,
            minimum_population=20_000,
            ones=0.1,
            when_sparse=sparse,
        )
        found |= {note.words: note for note in ask(rules, spec("sex")).notes}
    keys = {one.removeprefix("policy.") for one in TEXTS["en"] if one.startswith("policy.note.")}
    assert found.keys() == keys
    for note in found.values():
        assert note_text(note, "en", TEXTS["en"]) == note
        others = {note_text(note, language, TEXTS[language]) for language in LANGUAGES}
        assert len(others) == len(LANGUAGES)
    assert "2,5 eenheden" in note_text(found["note.sparse-area"], "nl", TEXTS["nl"])
    assert "20.000 eenheden" in note_text(found["note.small-population"], "nl", TEXTS["nl"])


def test_figures_are_written_as_the_language_does() -> None:
    def told(words: str, language: str) -> str:
        return reason_text(reason_of(words), SCHEMA, language, TEXTS[language])

    assert "2.5 persons" in told("sparse-area.withheld", "en")
    assert "2,5 personas" in told("sparse-area.withheld", "es")
    assert "2,5 personnes" in told("sparse-area.withheld", "fr")
    assert "2,5 personen" in told("sparse-area.withheld", "nl")
    assert "12.000 personen" in told("small-population.table", "nl")
    assert "12\N{NARROW NO-BREAK SPACE}000 personnes" in told("small-population.table", "fr")
    assert "12,5\N{NARROW NO-BREAK SPACE}%" in told("too-many-ones", "fr")
    assert "12,5%" in told("too-many-ones", "nl")
    assert "1.001" in told("too-many-cells", "nl")


def test_labels_are_those_of_the_language_or_the_first() -> None:
    reason = reason_of("never-together.at-levels")
    text = reason_text(reason, SCHEMA, "fr", TEXTS["fr"])
    assert text.startswith("Aucun tableau ne réunit Âge (classe) et Sexe, ni à des")
    married = reason_of("variable-not-a-filter")
    assert "Married kan niet" in reason_text(married, SCHEMA, "nl", TEXTS["nl"])


def test_remedies_say_the_same_in_english_and_tell_every_step() -> None:
    kinds = set()
    for verdict in VERDICTS.values():
        for remedy in verdict.remedies:
            kinds |= {step.kind for step in remedy.steps}
            text = remedy_text(remedy, SCHEMA, "en", TEXTS["en"])
            wanted = by_labels(remedy.sentence).lower().replace("show place at", "show areas at")
            assert text.lower() == wanted
            coarser = {step.variable for step in remedy.steps if step.kind is StepKind.COARSER}
            for language in LANGUAGES[1:]:
                text = remedy_text(remedy, SCHEMA, language, TEXTS[language])
                assert all(
                    LABELS[variable].get(language, LABELS[variable]["en"]) in text
                    for variable in remedy.variables
                    if variable in LABELS and not (variable == "area" and variable in coarser)
                ) or any(step.kind is StepKind.KEEP_ONLY for step in remedy.steps)
                assert not re.search(r"\b(show|leave|keep|the|level|areas|ask|and)\b", text)
    assert kinds == set(StepKind)


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_have_the_same_keys_and_placeholders(language: str) -> None:
    def names(text: str) -> set[str]:
        return {name for _, name, _, _ in string.Formatter().parse(text) if name}

    assert TEXTS[language].keys() == TEXTS["en"].keys()
    for key, text in TEXTS[language].items():
        assert names(text) == names(TEXTS["en"][key]), key
