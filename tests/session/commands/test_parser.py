"""Programs are read by the grammar that is documented, and every tree can be written again."""

from __future__ import annotations

import random

import pytest
from hypothesis import assume, given, strategies as st

from sdcensus.errors import QuestionError
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Name,
    Not,
    Or,
    Reference,
    Value,
    parse_condition,
)
from sdcensus.session.commands import RESERVED, parse_program, program_text
from sdcensus.session.commands.syntax import (
    CountStatement,
    Define,
    GroupDefinition,
    Indicator,
    Label,
    Number,
    Percent,
    PercentOf,
    RestCategory,
    RestKind,
    Rundef,
    Script,
    Span,
    TableStatement,
)
from sdcensus.session.commands.tokens import TokenKind, tokens
from tests.session.commands.ebnf import DOCUMENTED

TERMINALS = {
    "word": ("age", "sex", "ed", "agegroup", "_x1", "año", "5year", "t1"),
    "number": ("0", "1", "007", "64", "1000"),
    "quoted": ('"Children"', "'P001'", '"the ""old"" town"', "'it''s'", '"NOT (x"', "'ñ // #'"),
}


#: Every word may be the name of a universe.
UNIVERSES = dict.fromkeys(TERMINALS["word"], "sex == 1")


def variable(name: str, *levels: str, entity: str = "", total: bool = True) -> Reference:
    prefix = Name(entity) if entity else None
    return Reference(prefix, Name(name), tuple(map(Name, levels)), total)


def compared(name: str, operator: str, *values: str) -> Comparison:
    return Comparison(variable(name), operator, tuple(map(Value, values)))  # type: ignore[arg-type]


def condition(text: str) -> object:
    table = parse_program(f"TABLE t AS COUNT OF person FOR {text}").tables[0]
    return table.where


@given(st.integers(0, 2**32))
def test_every_sentence_of_the_grammar_is_read_and_written_again(seed: int) -> None:
    draw = random.Random(seed)
    words = DOCUMENTED.sentence(draw, TERMINALS, "program", draw.randint(4, 14))
    gaps = (" ", "\n", "\t ", " /* a remark */ ", " // to the end\n", " # so too\n")
    text = "".join(word + draw.choice(gaps) for word in words)
    try:
        tree = parse_program(text, UNIVERSES)
    except QuestionError as error:
        # The grammar does not say that a clause stands once in a table.
        assume("stands twice" not in str(error))
        raise
    written = program_text(tree)
    assert parse_program(written) == tree  # universes are spelt out
    assert program_text(parse_program(written)) == written


def test_the_grammar_names_every_rule_and_every_word_of_the_language() -> None:
    used, literals = set(), set()

    def walk(part: object) -> None:
        kind, text = part.kind, part.text  # type: ignore[attr-defined]
        if kind == "name":
            used.add(text)
        elif kind == "literal":
            literals.add(text)
        for one in part.parts:  # type: ignore[attr-defined]
            walk(one)

    for rule in DOCUMENTED.rules.values():
        walk(rule)
    assert used - set(DOCUMENTED.rules) == set(TERMINALS)
    assert set(DOCUMENTED.rules) - used == {"program"}
    assert literals >= RESERVED


def test_a_program_as_a_tree() -> None:
    tree = parse_program(
        """
        RUNDEF job SELECTION ALL UNIVERSE person.age >= 15
        DEFINE person.agegroup AS RECODE person.age
            (LOWEST-14 = 1 "Children") (15-64, 'x' = 2) (ELSE = 3 "Rest") (MISSING = 9)
        TABLE t1 TITLE "Age" AS FREQUENCY OF person.age@five_year+broad-total
        TABLE t2 AS CROSSTABS OF age BY sex, married FOR sex = 2 AREABREAK ed@parish PERCENT ROW
        TABLE t3 AS SHARE OF sex = 2 OF person BY ed DECIMALS 2
        TABLE t4 AS RATIO OF sex = 1 TO sex = 2 PER 1000
        TABLE t5 AS AVERAGE OF age
        """
    )
    adults = Comparison(variable("age", entity="person"), ">=", (Value("15"),))
    groups = (
        GroupDefinition((Span(None, Value("14")),), Value("1"), Label("Children")),
        GroupDefinition((Span(Value("15"), Value("64")), Value("x", quoted=True)), Value("2")),
        GroupDefinition((RestCategory(RestKind.ELSE),), Value("3"), Label("Rest")),
        GroupDefinition((RestCategory(RestKind.MISSING),), Value("9")),
    )
    women, men = compared("sex", "==", "2"), compared("sex", "==", "1")
    wide = variable("age", "five_year", "broad", entity="person", total=False)
    assert tree == Script(
        Rundef(Name("job"), None, adults),
        (
            Define(variable("agegroup", entity="person"), variable("age", entity="person"), groups),
            TableStatement(Name("t1"), CountStatement("FREQUENCY", of=wide), Label("Age")),
            TableStatement(
                Name("t2"),
                CountStatement(
                    "CROSSTABS", of=variable("age"), by=(variable("sex"), variable("married"))
                ),
                where=women,
                areas=variable("ed", "parish"),
                percent=Percent(PercentOf.ROW),
            ),
            TableStatement(
                Name("t3"),
                Indicator(Name("share"), women, Name("person"), by=(variable("ed"),)),
                decimals=Number(2),
            ),
            TableStatement(Name("t4"), Indicator(Name("ratio"), men, women), per=Number(1000)),
            TableStatement(Name("t5"), Indicator(Name("mean"), of=variable("age"))),
        ),
    )


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("sex = 1", compared("sex", "==", "1")),
        ("sex == 1", compared("sex", "==", "1")),
        ("sex <> 1", compared("sex", "!=", "1")),
        ("sex != 1", compared("sex", "!=", "1")),
        ("15 <= age", compared("age", ">=", "15")),
        ("15 < age", compared("age", ">", "15")),
        ("1 = sex", compared("sex", "==", "1")),
        ("income > -5", compared("income", ">", "-5")),
        ("sex in (1, 2)", compared("sex", "in", "1", "2")),
        ("sex NOT IN (1)", compared("sex", "not in", "1")),
        ("NOT sex = 1", Not(compared("sex", "==", "1"))),
        ("((sex = 1))", compared("sex", "==", "1")),
    ],
)
def test_comparisons(text: str, tree: object) -> None:
    assert condition(text) == tree


def test_and_binds_more_than_or_and_not_more_than_and() -> None:
    a, b, c = (compared(name, "==", "1") for name in "abc")
    assert condition("a=1 OR b=1 AND c=1") == Or((a, And((b, c))))
    assert condition("(a=1 OR b=1) AND c=1") == And((Or((a, b)), c))
    assert condition("NOT a=1 AND b=1 and c=1") == And((Not(a), b, c))
    assert condition("NOT (a=1 AND b=1)") == Not(And((a, b)))


@pytest.mark.parametrize(
    "text",
    [
        "age >= 15 and ed@parish in ('P01', 'P02')",
        'not (sex == 1 or 15 <= age) and not sex not in (1, "it\'s",)',
        "a == -1 or b != 'x' and c < 2 and (d > 3 or e@wide <= 4)",
    ],
)
def test_plans_and_programs_read_a_condition_as_the_same_tree(text: str) -> None:
    assert condition(text) == parse_condition(text)


def test_words_know_where_they_stand() -> None:
    source = 'TABLE  t\n  TITLE "a ""b"""\n\nAS // x\n  age>=15 '
    found = [
        (token.kind, token.text, token.at, token.end, token.line, token.column)
        for token in tokens(source)
    ]
    assert found == [
        (TokenKind.WORD, "TABLE", 0, 5, 1, 1),
        (TokenKind.WORD, "t", 7, 8, 1, 8),
        (TokenKind.WORD, "TITLE", 11, 16, 2, 3),
        (TokenKind.TEXT, 'a "b"', 17, 26, 2, 9),
        (TokenKind.WORD, "AS", 28, 30, 4, 1),
        (TokenKind.WORD, "age", 38, 41, 5, 3),
        (TokenKind.MARK, ">=", 41, 43, 5, 6),
        (TokenKind.NUMBER, "15", 43, 45, 5, 8),
        (TokenKind.END, "", 45, 45, 5, 10),
    ]


def test_case_of_the_language_is_no_matter_and_names_keep_theirs() -> None:
    upper = parse_program("TABLE Tab AS SHARE OF Sex = 2 OF person BY Ed@Parish")
    lower = parse_program("table Tab as share of Sex = 2 of person by Ed@Parish")
    assert upper == lower
    assert upper.tables[0].name.text == "Tab"


def test_reserved_words_are_names_behind_a_point_or_at_sign() -> None:
    tree = parse_program(
        "TABLE t AS FREQUENCY OF person.share@count+total BY x".partition(" BY")[0]
    )
    analysis = tree.tables[0].analysis
    assert isinstance(analysis, CountStatement)
    assert analysis.of == variable("share", "count", entity="person")
