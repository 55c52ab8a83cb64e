"""The words of a program: read once from left to right, each with where it stands."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import Sentence, told
from sdcensus.session.commands.places import refuse

#: Longer programs are nobody's.
LONGEST_PROGRAM = 20_000

#: Words that mean something of their own, in any case. Where a name stands without the kind of
#: unit before it, it is none of these.
RESERVED = frozenset(
    (
        *("RUNDEF", "SELECTION", "ALL", "UNIVERSE"),
        *("DEFINE", "RECODE", "ELSE", "MISSING", "LOWEST", "HIGHEST"),
        *("TABLE", "TITLE", "AS", "OF", "TO", "BY", "FOR", "AREABREAK"),
        *("FREQUENCY", "CROSSTABS", "COUNT", "AREALIST", "INDICATOR"),
        *("SHARE", "RATIO", "MEAN", "AVERAGE", "MEDIAN", "DISTRIBUTION"),
        *("PERCENT", "ROW", "COLUMN", "TOTAL", "PER", "DECIMALS"),
        *("AND", "OR", "NOT", "IN"),
    )
)

_MARKS = frozenset("()=<>,.@+-&|")
_PAIRS = frozenset(("==", "!=", "<>", "<=", ">=", "&&", "||"))
_CURLED = "\N{LEFT DOUBLE QUOTATION MARK}\N{RIGHT DOUBLE QUOTATION MARK}" + (
    "\N{LEFT SINGLE QUOTATION MARK}\N{RIGHT SINGLE QUOTATION MARK}"
)


class TokenKind(StrEnum):
    """What kind of word it is."""

    WORD = "word"
    NUMBER = "number"
    TEXT = "text"
    MARK = "mark"
    END = "end"


@dataclass(frozen=True, slots=True)
class Token:
    """One word of a program.

    Attributes:
        kind: Its kind.
        text: The word; of a text what stands between its quotes.
        at, end: The offsets of its first character and of the one behind its last.
        line, column: Where it begins, from 1.
    """

    kind: TokenKind
    text: str
    at: int
    end: int
    line: int
    column: int

    @property
    def keyword(self) -> str:
        """The word of the language that it is; empty for names, numbers and texts."""
        upper = self.text.upper()
        return upper if self.kind is TokenKind.WORD and upper in RESERVED else ""

    @property
    def found(self) -> str:
        """What a message calls it."""
        shown = self.text if len(self.text) <= 40 else f"{self.text[:40]}\N{HORIZONTAL ELLIPSIS}"
        match self.kind:
            case TokenKind.END:
                return told("found.end", "the end of the program")
            case TokenKind.WORD:
                return told("found.word", "the word {text!r}", text=shown)
            case TokenKind.NUMBER:
                return told("found.number", "the number {text!r}", text=shown)
            case TokenKind.TEXT:
                return told("found.text", "the text {text!r}", text=shown)
            case TokenKind.MARK:
                return repr(shown)


def tokens(source: str) -> tuple[Token, ...]:
    """Read a program into words; the last one stands for its end.

    Raises:
        QuestionError: It is too long, a text or remark has no end, or a sign means nothing.

    Examples:
        >>> [one.text for one in tokens("FOR age>=15 // adults")]
        ['FOR', 'age', '>=', '15', '']
    """
    if len(source) > LONGEST_PROGRAM:
        refuse(
            source,
            LONGEST_PROGRAM,
            told(
                "program.too-long",
                "The program is longer than {most:,} characters. Split it.",
                most=LONGEST_PROGRAM,
            ),
        )
    tokens = []
    line, start, counted = 1, 0, 0
    end = 0
    for kind, text, at, end in _read(source):
        breaks = source.count("\n", counted, at)
        if breaks:
            line += breaks
            start = source.rfind("\n", counted, at) + 1
        counted = at
        tokens.append(Token(kind, text, at, end, line, at - start + 1))
    # Where something is missing at the end, it is missing behind the last word.
    line += source.count("\n", counted, end)
    start = max(start, source.rfind("\n", counted, end) + 1)
    return (*tokens, Token(TokenKind.END, "", end, end, line, end - start + 1))


def _read(source: str) -> Iterator[tuple[TokenKind, str, int, int]]:
    at, size = 0, len(source)
    while at < size:
        sign = source[at]
        if sign.isspace() or (sign == "\N{ZERO WIDTH NO-BREAK SPACE}" and at == 0):
            at += 1
        elif sign == "#" or source.startswith("//", at):
            end = source.find("\n", at)
            at = size if end < 0 else end
        elif source.startswith("/*", at):
            end = source.find("*/", at + 2)
            if end < 0:
                refuse(
                    source,
                    at,
                    told(
                        "program.remark-open", "The remark that begins here has no */ at its end."
                    ),
                )
            at = end + 2
        elif _is_word(sign):
            end = at + 1
            while end < size and _is_word(source[end]):
                end += 1
            text = source[at:end]
            number = text.isascii() and text.isdigit()
            if number and source[end : end + 1] == "." and source[end + 1 : end + 2].isdigit():
                refuse(
                    source,
                    at,
                    told(
                        "program.whole-numbers",
                        "Codes and whole numbers only; put other codes in quotes.",
                    ),
                )
            yield TokenKind.NUMBER if number else TokenKind.WORD, text, at, end
            at = end
        elif sign in "'\"":
            text, end = _text(source, at)
            yield TokenKind.TEXT, text, at, end
            at = end
        elif source[at : at + 2] in _PAIRS:
            yield TokenKind.MARK, source[at : at + 2], at, at + 2
            at += 2
        elif sign in _MARKS:
            yield TokenKind.MARK, sign, at, at + 1
            at += 1
        else:
            refuse(source, at, _meaningless(sign))


def _is_word(sign: str) -> bool:
    return sign == "_" or sign.isalnum()


def _text(source: str, at: int) -> tuple[str, int]:
    """A text and where it ends; a quote inside it is written twice."""
    quote = source[at]
    parts = []
    start = at + 1
    while True:
        end = source.find(quote, start)
        line = source.find("\n", start, None if end < 0 else end)
        if end < 0 or line >= 0:
            refuse(
                source,
                at,
                told(
                    "program.text-open",
                    "The text that begins here has no {quote} at the end of its line.",
                    quote=quote,
                ),
            )
        parts.append(source[start:end])
        if source[end + 1 : end + 2] != quote:
            break
        parts.append(quote)
        start = end + 2
    text = "".join(parts)
    for place in range(at + 1, end):
        sign = source[place]
        if ord(sign) < 32 or ord(sign) == 127 or 0xD800 <= ord(sign) <= 0xDFFF:
            refuse(
                source,
                place,
                told(
                    "program.text-unshown",
                    "The text has a character that cannot be shown. Take it out.",
                ),
            )
    return text, end + 1


def _meaningless(sign: str) -> Sentence:
    if sign in _CURLED:
        return told(
            "program.curled",
            "{sign!r} is a curled quotation mark. Write a straight one: \" or '.",
            sign=sign,
        )
    if sign in "!":
        return told(
            "program.exclamation",
            "'!' means nothing here. Write != or <> for 'is not', NOT for the opposite.",
        )
    if sign == ";":
        return told(
            "program.semicolon",
            "';' means nothing here. Statements need no sign between them.",
        )
    return told("program.meaningless", "{sign!r} means nothing here.", sign=sign)
