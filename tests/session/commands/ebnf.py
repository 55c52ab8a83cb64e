"""Sentences of a grammar in ISO/IEC 14977, drawn at random."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_TOKEN = re.compile(r'\s*(?:"(?P<literal>[^"]*)"|(?P<name>\w+)|(?P<sign>[][{}(),|;=]))')


#: The page that describes the language.
PAGE = Path(__file__).parents[3] / "docs" / "guide" / "command-language.md"


def blocks(kind: str) -> list[str]:
    """The blocks of the page that are of a kind."""
    text = PAGE.read_text(encoding="utf-8")
    return re.findall(rf"^```{kind}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Part:
    """One part of a rule: a literal, a name, a choice, a sequence, an option or a repetition."""

    kind: str
    text: str = ""
    parts: tuple[Part, ...] = ()


class Grammar:
    def __init__(self, text: str) -> None:
        self.tokens = [(m.lastgroup or "", m.group(m.lastgroup or 0)) for m in self._found(text)]
        self.at = 0
        self.rules: dict[str, Part] = {}
        while self.at < len(self.tokens):
            name = self._take()[1]
            assert self._take() == ("sign", "=")
            self.rules[name] = self._choice()
            assert self._take() == ("sign", ";"), name
        self.least = self._least()

    @staticmethod
    def _found(text: str) -> list[re.Match[str]]:
        found, at = [], 0
        while text[at:].strip():
            match = _TOKEN.match(text, at)
            assert match is not None, text[at : at + 40]
            found.append(match)
            at = match.end()
        return found

    def _take(self) -> tuple[str, str]:
        self.at += 1
        return self.tokens[self.at - 1]

    def _choice(self) -> Part:
        parts = [self._sequence()]
        while self.tokens[self.at] == ("sign", "|"):
            self.at += 1
            parts.append(self._sequence())
        return Part("choice", parts=tuple(parts))

    def _sequence(self) -> Part:
        parts = [self._single()]
        while self.tokens[self.at] == ("sign", ","):
            self.at += 1
            parts.append(self._single())
        return Part("sequence", parts=tuple(parts))

    def _single(self) -> Part:
        kind, text = self._take()
        if kind != "sign":
            return Part(kind, text)
        name, end = {"(": ("choice", ")"), "[": ("option", "]"), "{": ("repeat", "}")}[text]
        part = Part(name, parts=(self._choice(),))
        assert self._take() == ("sign", end)
        return part

    def _least(self) -> dict[str, int]:
        """How deep the shallowest sentence of each rule is."""
        least = dict.fromkeys(self.rules, 1_000)
        for _ in self.rules:
            least = {name: 1 + self._depth(part, least) for name, part in self.rules.items()}
        return least

    def _depth(self, part: Part, least: Mapping[str, int]) -> int:
        match part.kind:
            case "name":
                return least.get(part.text, 0)
            case "literal" | "option" | "repeat":
                return 0
            case "choice":
                return min(self._depth(one, least) for one in part.parts)
            case _:
                return max(self._depth(one, least) for one in part.parts)

    def sentence(
        self, draw: random.Random, terminals: Mapping[str, Sequence[str]], start: str, depth: int
    ) -> list[str]:
        """The words of one sentence; below ``depth`` the shallowest choices are taken."""
        if start in terminals:
            return [draw.choice(terminals[start])]
        return self._drawn(self.rules[start], draw, terminals, depth - 1)

    def _drawn(
        self,
        part: Part,
        draw: random.Random,
        terminals: Mapping[str, Sequence[str]],
        depth: int,
    ) -> list[str]:
        match part.kind:
            case "literal":
                return [draw.choice((part.text, part.text.lower(), part.text.title()))]
            case "name":
                return self.sentence(draw, terminals, part.text, depth)
            case "sequence":
                return [w for one in part.parts for w in self._drawn(one, draw, terminals, depth)]
            case "choice":
                fitting = [one for one in part.parts if self._depth(one, self.least) < depth]
                fewest = min(part.parts, key=lambda part: self._depth(part, self.least))
                return self._drawn(draw.choice(fitting or [fewest]), draw, terminals, depth)
            case kind:
                most = (1 if kind == "option" else 3) if depth > 0 else 0
                times = draw.randint(0, most)
                words = [self._drawn(part.parts[0], draw, terminals, depth) for _ in range(times)]
                return [word for one in words for word in one]


#: The grammar as the page has it.
DOCUMENTED = Grammar(*blocks("ebnf"))
