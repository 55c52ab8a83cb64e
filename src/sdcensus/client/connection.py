"""A connection to a table builder: what it offers, tables, downloads."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from sdcensus.client.addresses import same_origin
from sdcensus.client.answers import PublishedAnswer, answer_of
from sdcensus.client.catalogue import (
    CodeOfLevel,
    Population,
    VariableOffered,
    areas_of,
    populations_of,
    understood,
    variable_of,
    variables_of,
)
from sdcensus.client.downloads import (
    DownloadFormat,
    await_job,
    format_of,
    formats_of,
    name_of,
    written,
)
from sdcensus.client.reasons import Reason, Remedy, reasons_of, remedies_of
from sdcensus.client.transport import JSON, Received, Transport, pieces_of
from sdcensus.errors import SdcensusError, SpecError, UnknownName
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.question import Question

#: A longer link is sent as a question instead: proxies cut such links off.
LONGEST_LINK = 4_000
#: How many areas are asked for at once.
PAGE = 1_000

Codes = Mapping[str, Sequence[str]]
Groups = Mapping[str, Mapping[str, Sequence[str]]]


@dataclass(frozen=True, slots=True)
class CheckedQuestion:
    """What a table would be like, without its numbers.

    Attributes:
        cells, limit: How many cells it has, and may have.
        variables, most_variables: The same for variables.
        outcome: ``allowed``, ``withheld`` or ``refused``, as far as it is known without numbers.
        reasons, remedies: Why it is not allowed, and what would help.
        notes: What else to know, such as what published numbers decide further.
    """

    cells: int
    limit: int | None
    variables: int
    most_variables: int | None
    outcome: str
    reasons: tuple[Reason, ...] = ()
    remedies: tuple[Remedy, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ProgramTable:
    """A table that a program in the command language asks for."""

    name: str
    title: str
    question: Question
    share: str | None = None


class Connection:
    """A connection to a table builder. Made by ``sdcensus.connect``; safe to share by threads.

    Examples:
        >>> from sdcensus.client import connect
        >>> connect("https://census.example/", token="sdc_0123456789abcdef")
        <Connection https://census.example, with a token>
    """

    def __init__(
        self, transport: Transport, *, with_token: bool = False, language: str | None = None
    ) -> None:
        self._transport = transport
        self._with_token = with_token
        self._language = language
        self._known_formats: tuple[DownloadFormat, ...] | None = None

    def __repr__(self) -> str:
        token = ", with a token" if self._with_token else ""
        return f"<Connection {self.url}{token}>"

    @property
    def url(self) -> str:
        """The address of the table builder."""
        return self._transport.base

    # ------------------------------------------------------------ what is offered

    def census(self, *, language: str | None = None) -> dict[str, Any]:
        """Name, country, reference date, languages and versions of the census."""
        document = self._get("/datasets", [], language)
        with understood():
            return {**document["census"], "version": dict(document["version"])}

    def datasets(self, *, language: str | None = None) -> tuple[Population, ...]:
        """What can be counted."""
        return populations_of(self._get("/datasets", [], language))

    def variables(
        self, of: str = "persons", *, language: str | None = None
    ) -> tuple[VariableOffered, ...]:
        """The variables of a population, without their codes."""
        return variables_of(self._get(f"/datasets/{_part(of)}/variables", [], language))

    def variable(
        self, name: str, of: str = "persons", *, language: str | None = None
    ) -> VariableOffered:
        """One variable with all its levels and codes."""
        return variable_of(
            self._get(f"/datasets/{_part(of)}/variables/{_part(name)}", [], language)
        )

    def areas(
        self,
        level: str | None = None,
        *,
        of: str = "persons",
        variable: str | None = None,
        search: str | None = None,
        parent: str | None = None,
        language: str | None = None,
    ) -> tuple[CodeOfLevel, ...]:
        """Areas of a level.

        Args:
            level: The level; else the one that the office shows first.
            of: What is counted in them.
            variable: The variable of the areas; else the geography of the census.
            search: Only areas with this in their name or code.
            parent: Only areas within this one, as ``level:code``.
            language: The language of their names.
        """
        asked = {"variable": variable, "level": level, "search": search, "parent": parent}
        given = [(name, value) for name, value in asked.items() if value is not None]
        path = f"/datasets/{_part(of)}/areas"
        listed: list[CodeOfLevel] = []
        while True:
            page = [*given, ("limit", str(PAGE)), ("offset", str(len(listed)))]
            total, areas = areas_of(self._get(path, page, language))
            listed += areas
            if not areas or len(listed) >= total:
                return tuple(listed)

    # ------------------------------------------------------------ tables

    def table(
        self,
        *by: str,
        of: str = "persons",
        measure: str | None = None,
        where: str | None = None,
        codes: Codes | None = None,
        groups: Groups | None = None,
        language: str | None = None,
        wait: float = 600.0,
        progress: Progress = no_progress,
    ) -> PublishedAnswer:
        """A published table.

        Args:
            by: Axes, such as ``"ed@parish"``, ``"sex"``.
            of: What is counted.
            measure: What is said of an amount, such as ``"mean(income)"``; without it, counts.
            where: A condition, such as ``"age >= 15"``.
            codes: For some axes, by variable, the codes to show.
            groups: For some axes, by variable, groups of codes by their names; each is a sum of
                published values.
            language: The language of labels and notes.
            wait: For how many seconds a large table is waited for.
            progress: Called with the stage of a large table and how much of it is done.

        Raises:
            Refused: The policy does not allow it; ``reasons`` and ``remedies`` say more.
            QuestionError, UnknownName: The question makes no sense, or has a name that is none.
            ServiceError: The server cannot be reached, is busy, or the quota is used up.
        """
        question = make_question(
            by, of=of, measure=measure, where=where, codes=codes, groups=groups
        )
        return self.ask(question, language=language, wait=wait, progress=progress)

    def ask(
        self,
        question: Question | Mapping[str, Any],
        *,
        language: str | None = None,
        wait: float = 600.0,
        progress: Progress = no_progress,
    ) -> PublishedAnswer:
        """The table of a question, such as that of a remedy."""
        asked = question if isinstance(question, Question) else Question.from_json(question)
        words = self._words(language)
        return self._answer(self._asked(asked, words, JSON), words, wait, progress)

    def open_link(self, link: str, **options: Any) -> PublishedAnswer:
        """The table of a link that this table builder gave; options as for ``ask``."""
        if not same_origin(link, self.url):
            raise SpecError(f"This link is not one of {self.url}.")
        parameters = parse_qsl(urlsplit(link).query, keep_blank_values=True)
        options.setdefault("language", dict(parameters).get("lang"))
        return self.ask(Question.from_parameters(parameters), **options)

    def check(
        self,
        *by: str,
        of: str = "persons",
        measure: str | None = None,
        where: str | None = None,
        codes: Codes | None = None,
        groups: Groups | None = None,
        language: str | None = None,
    ) -> CheckedQuestion:
        """How large a table is and whether it is allowed, as far as code lists tell."""
        question = make_question(
            by, of=of, measure=measure, where=where, codes=codes, groups=groups
        )
        received = self._post("/tables/check", question.to_json(), language)
        with understood():
            return CheckedQuestion(
                int(received["cells"]),
                _maybe(received.get("limit")),
                int(received["variables"]),
                _maybe(received.get("most_variables")),
                str(received["outcome"]),
                reasons_of(received.get("reasons")),
                remedies_of(received.get("remedies")),
                tuple(map(str, received.get("notes") or ())),
            )

    def download(
        self,
        *by: str,
        to: str | os.PathLike[str],
        format: str | None = None,
        of: str = "persons",
        measure: str | None = None,
        where: str | None = None,
        codes: Codes | None = None,
        groups: Groups | None = None,
        language: str | None = None,
        replace: bool = False,
        wait: float = 600.0,
        progress: Progress = no_progress,
    ) -> Path:
        """Write a published table with its notes to a file, and say which.

        Args:
            by: Axes; as are the further arguments, those of ``table``.
            to: The file, or a folder in which the file gets the name that the server gives it.
            format: One that the server has, such as ``xlsx`` or ``csv``; else the ending of the
                file tells it.
            of, measure, where, codes, groups: As for ``table``.
            language: The language of labels and notes.
            replace: Put the file in the place of an older one.
            wait, progress: As for ``table``.
        """
        target = Path(to)
        chosen = format_of(format, target, self._formats())
        question = make_question(
            by, of=of, measure=measure, where=where, codes=codes, groups=groups
        )
        words = [*self._words(language), ("format", chosen.name)]
        accept = f"{chosen.media_type}, {JSON};q=0.1"
        with self._opened(question, words, accept) as response:
            if response.status != 202:
                name = name_of(response.headers, chosen)
                return written(pieces_of(response), target, name, replace=replace)
            content = b"".join(pieces_of(response))
        job = self._job_of(Received(202, {}, content))
        with self._finished(job, wait, progress):
            url = self._transport.address(f"/jobs/{job}/result", words)
            with self._transport.opened("GET", url, accept=accept) as response:
                name = name_of(response.headers, chosen)
                return written(pieces_of(response), target, name, replace=replace)

    def program(self, text: str, *, language: str | None = None) -> tuple[ProgramTable, ...]:
        """What a program in the command language asks for; each table is asked with ``ask``."""
        received = self._post("/commands", {"program": text}, language)
        with understood():
            return tuple(
                ProgramTable(
                    str(table.get("name") or ""),
                    str(table.get("title") or ""),
                    Question.from_json(table["question"]),
                    table.get("share"),
                )
                for table in received["tables"]
            )

    def run(
        self,
        text: str,
        table: str = "",
        *,
        language: str | None = None,
        wait: float = 600.0,
        progress: Progress = no_progress,
    ) -> PublishedAnswer:
        """One table of a program, by its name or the first, with the figures that it computes."""
        words = self._words(language)
        url = self._transport.address("/commands/table", words)
        document = {"program": text, "table": table}
        received = self._transport.send("POST", url, document=document)
        return self._answer(received, words, wait, progress)

    def account(self) -> dict[str, Any]:
        """Who asks as the server sees it: name, role and what is left of the quota."""
        with understood():
            return dict(self._get("/account", [], None))

    # ------------------------------------------------------------ the way there

    def _formats(self) -> tuple[DownloadFormat, ...]:
        """The formats of the server, asked for once."""
        if self._known_formats is None:
            self._known_formats = formats_of(self._get("/datasets", [], None))
        return self._known_formats

    def _words(self, language: str | None) -> list[tuple[str, str]]:
        chosen = language or self._language
        return [] if chosen is None else [("lang", chosen)]

    def _get(self, path: str, parameters: list[tuple[str, str]], language: str | None) -> Any:
        return self._transport.get(path, [*parameters, *self._words(language)]).json()

    def _post(self, path: str, document: object, language: str | None) -> Any:
        url = self._transport.address(path, self._words(language))
        return self._transport.send("POST", url, document=document).json()

    def _asked(self, question: Question, words: list[tuple[str, str]], accept: str) -> Received:
        parameters = [*question.to_parameters(), *words]
        if len(self._transport.address("/tables", parameters)) <= LONGEST_LINK:
            return self._transport.get("/tables", parameters, accept=accept)
        url = self._transport.address("/tables", words)
        return self._transport.send("POST", url, document=question.to_json(), accept=accept)

    def _opened(
        self, question: Question, words: list[tuple[str, str]], accept: str
    ) -> AbstractContextManager[Any]:
        link = self._transport.address("/tables", [*question.to_parameters(), *words])
        if len(link) <= LONGEST_LINK:
            return self._transport.opened("GET", link, accept=accept)
        url = self._transport.address("/tables", words)
        return self._transport.opened("POST", url, document=question.to_json(), accept=accept)

    def _answer(
        self, received: Received, words: list[tuple[str, str]], wait: float, progress: Progress
    ) -> PublishedAnswer:
        """The table of an answer, or of the job that it names."""
        if received.status == 202:
            job = self._job_of(received)
            with self._finished(job, wait, progress):
                received = self._transport.get(f"/jobs/{job}/result", words, accept=JSON)
        return answer_of(received.json(), base=self.url)

    def _job_of(self, received: Received) -> str:
        """The id of a job; the way to it is ours, also behind a proxy that knows another one."""
        document = received.json()
        with understood():
            job = str(document["job"]["id"])
            if not re.fullmatch(r"[A-Za-z0-9_-]{8,200}", job):
                raise ValueError
            return job

    @contextmanager
    def _finished(self, job: str, wait: float, progress: Progress) -> Iterator[None]:
        """Wait for a job; one that nobody waits for any more is not left to the server."""
        url = self._transport.address(f"/jobs/{job}")
        try:
            await_job(self._transport, job, wait=wait, progress=progress)
            yield
        except BaseException:
            with suppress(SdcensusError):
                self._transport.send("DELETE", url)
            raise


def make_question(
    by: Sequence[str],
    *,
    of: str,
    measure: str | None,
    where: str | None,
    codes: Codes | None,
    groups: Groups | None,
) -> Question:
    """A question from what a program says; mistakes of form are found before it is sent."""
    document: dict[str, Any] = {"of": of, "by": list(by), "where": where or ""}
    if measure is not None:
        document["measure"] = measure
    if codes:
        document["codes"] = {name: [str(value) for value in code] for name, code in codes.items()}
    if groups:
        document["groups"] = {
            name: [
                {"label": label, "codes": [str(value) for value in members]}
                for label, members in named.items()
            ]
            for name, named in groups.items()
        }
    return Question.from_json(document)


def _maybe(value: Any) -> int | None:
    return None if value is None else int(value)


def _part(name: str) -> str:
    """A name as a part of an address."""
    if type(name) is not str or not name.strip() or name in (".", ".."):
        raise UnknownName("name", str(name), known=())
    return quote(name, safe="")
