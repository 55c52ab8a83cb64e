"""Nothing confidential leaves a running server: not in an answer, a log, a metric, or a file.

The true counts of a census of four million people are seven-digit primes that occur nowhere else.
A real server over loopback, with a real database, is asked for everything there is, also for what
fails; then all that it said and wrote is searched for counts, keys, secrets and parameters.
"""

from __future__ import annotations

import base64
import gzip
import io
import itertools
import logging
import tempfile
import threading
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import numpy.typing as npt
import pyarrow.parquet as pq
import pytest

from sdcensus.documents.policy.document import read_policy
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.cube.cube import Cube, Origin, finish
from sdcensus.model.policy.policy import UserRole
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table_format import BUILT_IN, table_format
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose, Secret
from sdcensus.model.spec.question import Question
from sdcensus.model.text import LANGUAGES
from sdcensus.session.answer import Answer, Checked, TableService, form_names
from sdcensus.session.census.census import open_store
from sdcensus.testing.stores import Units, write_store
from sdcensus.web import jobs
from tests.leaks.test_publication import COUNTS, SPEC, numbers_in, people, schema, sums_of
from tests.web.servers import Place, new_client, opened, until

SECRET = Secret(bytes(range(7, 39)))
LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)
#: A noise that is told apart from all others by its figures.
#: With more decimals than the seconds of a timestamp have, so that no time looks like it.
DEVIATION, VARIANCE = 9, 17.37194826
API = "/api/v1"
#: Areas with fewer people for each cell than this are withheld: those of the north are.
SPARSE = 1_011_000
STRICT = f"""
name = "strict"
[limits]
dimensions = 2
cells = 1_000
[online]
mean_cell_size = {SPARSE}
when_sparse = "withhold-area"
"""
OPEN = """
name = "open"
[limits]
dimensions = 4
cells = 1_000
[online]
brackets = 3
"""
METHOD = CellKey(design_perturbation(DEVIATION, VARIANCE), secret=LOOKUP)


def cube_of(sums: npt.NDArray[np.uint64]) -> Cube:
    parts = {"count": COUNTS.reshape(2, 2), "key": (sums % np.uint64(1 << 32)).reshape(2, 2)}
    return finish(SPEC, Origin(KeySpace(), SECRET.id, "canary"), parts)


def shown_by(cube: Cube) -> set[int]:
    """Every number that is published, and every sum of them."""
    shown = METHOD.protect(cube).table.published
    told = set(shown.reshape(-1).tolist())
    for at in (0, 1):
        for size in (1, 2):
            for places in itertools.combinations(range(2), size):
                told |= set(np.take(shown, places, axis=at).sum(axis=at).tolist())
    some = [int(one) for one in shown[:2, :2].reshape(-1)]
    for size in (2, 3, 4):
        told |= {sum(one) for one in itertools.combinations(some, size)}
    return told


@dataclass(slots=True)
class Said:
    """Everything that came out of a server, each with where it came from."""

    parts: list[tuple[str, bytes]] = field(default_factory=list)

    def add(self, where: str, data: bytes) -> None:
        self.parts.append((where, data))
        if data[:2] == b"\x1f\x8b":
            self.parts.append((f"{where} unpacked", gzip.decompress(data)))
        elif data[:4] == b"PK\x03\x04":
            with zipfile.ZipFile(io.BytesIO(data)) as archive:
                for name in archive.namelist():
                    self.add(f"{where} {name}", archive.read(name))
        elif data[:4] == b"PAR1":
            table = pq.read_table(io.BytesIO(data))
            read = repr(table.to_pydict()) + repr(table.schema.metadata)
            self.parts.append((f"{where} read", read.encode()))

    def answer(self, where: str, response: httpx.Response) -> httpx.Response:
        head = "\n".join(f"{name}: {value}" for name, value in response.headers.multi_items())
        self.add(f"{where} head", f"{response.status_code} {head}".encode())
        self.add(where, response.content)
        return response

    def folder(self, where: str, folder: Path) -> None:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                self.add(f"{where} {path.name}", path.read_bytes())


@dataclass(frozen=True, slots=True)
class Canary:
    store: Path
    cube: Cube
    keys: tuple[int, ...]

    @property
    def hidden(self) -> frozenset[int]:
        both = (*self.cube.count.reshape(-1).tolist(), *self.cube.key.reshape(-1).tolist())
        return frozenset({*both, *self.keys})

    def service(self, folder: Path, policy: str = OPEN, kind: Any = TableService) -> TableService:
        path = folder / "policy.toml"
        path.write_text(policy, encoding="utf-8", newline="")
        census = open_store(self.store)
        made = kind(census, read_policy(path, census.schema), {Entity.PERSON: METHOD})
        assert isinstance(made, TableService)
        return made


@pytest.fixture(scope="module")
def canary(tmp_path_factory: pytest.TempPathFactory) -> Canary:
    folder = tmp_path_factory.mktemp("canary")
    draws = np.random.default_rng(11)
    others = sums_of(people(np.zeros(4, dtype=np.uint64)))
    while True:
        keys = draws.integers(1 << 31, 1 << 32, 4, dtype=np.uint64)
        cube = cube_of(others + keys)
        if not shown_by(cube) & set(cube.count.reshape(-1).tolist()):
            break
    units: Units = people(keys)
    write_store(folder / "census.store", schema(), {Entity.PERSON: units}, secret_id=SECRET.id)
    return Canary(folder / "census.store", cube, tuple(keys.tolist()))


@contextmanager
def listening(said: Said) -> Iterator[None]:
    """Every line that any logger writes, down to the last detail."""
    lines = io.StringIO()
    handler = logging.StreamHandler(lines)
    handler.setFormatter(logging.Formatter("%(name)s %(message)s %(args)s"))
    loggers = [logging.getLogger(name) for name in ("sdcensus", "uvicorn", "sqlalchemy", "asyncio")]
    before = [(logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
    try:
        yield
    finally:
        for logger, (level, propagate) in zip(loggers, before, strict=True):
            logger.removeHandler(handler)
            logger.setLevel(level)
            logger.propagate = propagate
        said.add("log", lines.getvalue().encode())


@contextmanager
def served(folder: Path, service: TableService, said: Said, **settings: Any) -> Iterator[Place]:
    """A server, all of whose files and logs are kept."""
    with listening(said):
        with opened(folder, service, metrics_port=0, longest_delay=0, **settings) as place:
            yield place
            metrics = httpx.get(f"http://127.0.0.1:{place.server.metrics_port}/metrics")
            said.answer("metrics", metrics)
        said.folder("file", folder)


QUESTIONS: list[dict[str, Any]] = [
    {},
    {"by": ["area"]},
    {"by": ["sex"]},
    {"by": ["area", "sex"]},
    {"by": ["area-total", "sex-total"]},
    {"by": ["sex"], "where": "area == 'N'"},
    {"by": ["area"], "where": "sex == '1'"},
    {"by": ["area", "sex"], "where": "area == 'N' or sex == '2'"},
    {"by": ["area", "sex"], "codes": {"area": ["N"], "sex": ["2"]}},
    {"by": ["area"], "groups": {"area": [{"label": "north", "codes": ["N"]}]}},
    {"by": ["sex"], "groups": {"sex": [{"label": "all", "codes": ["1", "2"]}]}},
    {"where": "area == 'S' and sex == '1'"},
]
WRONG: list[dict[str, Any]] = [
    {"by": ["nothing"]},
    {"by": ["area@nothing"]},
    {"by": ["area"], "where": "sex == 'x'"},
    {"by": ["area"], "where": "sex =="},
    {"by": ["area"], "codes": {"area": ["x"]}},
    {"by": ["area", "area"]},
    {"of": "households"},
]
PROGRAM = (
    "TABLE t AS CROSSTABS OF person.area BY person.sex PERCENT ROW\n"
    "TABLE u AS FREQUENCY OF person.sex FOR person.area = 'N'\n"
)


def ask_everything(place: Place, said: Said, headers: Mapping[str, str] | None = None) -> None:
    """Every route, in every form and language; also what is wrong. Accounts get fewer forms."""
    languages = LANGUAGES if headers is None else LANGUAGES[:1]
    forms = form_names() if headers is None else ("csv", "xlsx")
    client = place.somebody(**(headers or {}))

    def get(path: str, **more: Any) -> httpx.Response:
        return said.answer(f"GET {path}", client.get(path, **more))

    def post(path: str, body: object) -> httpx.Response:
        return said.answer(f"POST {path} {body}", client.post(path, json=body))

    for number, question in enumerate([*QUESTIONS, *WRONG]):
        answer = post(f"{API}/tables", question)
        post(f"{API}/tables/check", question)
        if answer.status_code == 200 and number % 3 == 0:
            link = answer.json()["extension"]["sdcensus"]["link"]
            for at, form in enumerate(forms):
                language = LANGUAGES[(number + at) % len(LANGUAGES)]
                get(f"{link}&format={form}&lang={language}")
    for language in languages:
        for path in ("", "about", "commands", "api", "login", "account", "staff", "nothing"):
            get(f"/{path}?lang={language}", headers={"accept": "text/html"})
        for path in (
            *("datasets", "datasets/persons/variables", "datasets/persons/variables/area"),
            *("datasets/persons/areas", "datasets/persons/map", "account", "openapi.json"),
            *("account/tokens", "saved", "staff/summary", "staff/feedback", "staff/accounts"),
        ):
            get(f"{API}/{path}?lang={language}")
        post(f"{API}/commands?lang={language}", {"program": PROGRAM})
        forms_by_turn = ("csv", "xlsx", "json-stat", "px")
        form = forms_by_turn[LANGUAGES.index(language) % len(forms_by_turn)]
        asked = {"program": PROGRAM, "table": "t"}
        post(f"{API}/commands/table?lang={language}&format={form}", asked)
    post(f"{API}/saved", {"name": "mine", "question": QUESTIONS[3]})
    post(f"{API}/feedback", {"text": "a word", "question": QUESTIONS[3]})
    get("/health"), get("/ready"), get("/metrics")
    said.answer("malformed", client.post(f"{API}/tables", content=b"{", headers=JSON))
    begun = said.answer(
        "job",
        client.post(f"{API}/tables", json=QUESTIONS[3], headers={"prefer": "respond-async"}),
    )
    if begun.status_code == 202:
        where = begun.headers["location"]
        until(lambda: client.get(where).json()["job"]["status"] in ("done", "failed"))
        get(where), get(f"{where}/result")
        said.answer("job gone", client.delete(where))
    get(f"{API}/staff/summary"), get(f"{API}/jobs/{'A' * 22}")


JSON = {"content-type": "application/json"}


def secrets_of(material: bytes) -> Iterator[bytes]:
    yield material
    yield material.hex().encode()
    yield material.hex().upper().encode()
    for encode in (base64.b64encode, base64.urlsafe_b64encode, base64.b32encode):
        yield encode(material).rstrip(b"=")


def forbidden() -> list[bytes]:
    """Secrets in every spelling, and the figures of the noise."""
    office = SECRET.reveal_for_record_keys()
    words = [*secrets_of(office), *secrets_of(SECRET.sub_key(Purpose.LOOKUP, 1))]
    table = METHOD.perturbation
    assert table is not None
    words += [str(VARIANCE).encode(), repr(table).encode()]
    return words


def assert_silent(said: Said, canary: Canary) -> None:
    words = forbidden()
    for data, where in {data: where for where, data in said.parts}.items():
        assert numbers_in(data, canary.hidden) == [], where
        assert [word for word in words if word in data] == [], where


def test_the_search_finds_what_it_looks_for(canary: Canary, tmp_path: Path) -> None:
    """What is published is found in everything that shows it, and what is planted is found."""
    said = Said()
    # This census has no map, and layers are of areas with shapes.
    forms = [name for name in form_names() if not (name in BUILT_IN and table_format(name).areas)]
    with served(tmp_path, canary.service(tmp_path), said) as place:
        for form in forms:
            link = f"{API}/tables?by=area&by=sex&format={form}"
            said.answer(form, place.client.get(link, headers={"accept-encoding": "gzip"}))
        logging.getLogger("sdcensus.web").debug("planted %s", int(COUNTS[0, 0]))
        planted = place.database.feedback.add(f"{COUNTS[0, 1]:,}", contact="", question="")
        assert planted.id
    shown = METHOD.protect(canary.cube).table.published.reshape(-1).tolist()
    assert not set(shown) & canary.hidden
    for form in forms:
        found = {
            number
            for where, data in said.parts
            if where.startswith(form)
            for number in numbers_in(data, frozenset(shown))
        }
        assert found == set(shown), form
    log = next(data for where, data in said.parts if where == "log")
    assert numbers_in(log, canary.hidden) == [int(COUNTS[0, 0])]
    files = [data for where, data in said.parts if "web.db" in where]
    assert {one for data in files for one in numbers_in(data, canary.hidden)} == {int(COUNTS[0, 1])}
    with pytest.raises(AssertionError):
        assert_silent(said, canary)
    hit = Said([("planted", base64.b64encode(SECRET.reveal_for_record_keys()))])
    with pytest.raises(AssertionError):
        assert_silent(hit, canary)


def test_a_server_tells_nothing_confidential_to_anybody(canary: Canary, tmp_path: Path) -> None:
    said = Said()
    with served(tmp_path, canary.service(tmp_path), said) as place:
        ask_everything(place, said)
        ask_everything(place, said, place.token("ana"))
        ask_everything(place, said, place.token("boss", "staff"))
        summary = place.somebody(**place.token("chief", "staff")).get(f"{API}/staff/summary")
        assert summary.status_code == 200
    assert len(said.parts) > 400
    assert_silent(said, canary)


def test_refusals_tell_nothing_confidential(canary: Canary, tmp_path: Path) -> None:
    """The north is withheld, and what needs it refused: by published numbers only."""
    said = Said()
    with served(tmp_path, canary.service(tmp_path, STRICT), said) as place:
        whole = place.client.post(f"{API}/tables", json={"by": ["area", "sex"]}).json()
        assert whole["extension"]["sdcensus"]["areas"] == {"all": 2, "available": 1}
        refused = place.client.post(f"{API}/tables", json={"by": ["sex"], "where": "area == 'N'"})
        assert refused.json()["error"]["code"] == "refused"
        ask_everything(place, said)
        ask_everything(place, said, place.token("boss", "staff"))
    assert_silent(said, canary)


class FailingService(TableService):
    """A service that breaks in the middle of its work, with counts in the words of its error."""

    def answer(
        self,
        question: Question,
        role: str | UserRole = UserRole.PUBLIC,
        *,
        progress: Progress = no_progress,
    ) -> Answer:
        if question.by == ("sex",):
            cube = self.census.tabulate(SPEC)
            assert isinstance(cube, Cube)
            raise ValueError(f"the counts are {cube.count.tolist()} {cube.key.tolist()}")
        return super().answer(question, role, progress=progress)

    def check(self, question: Question, role: str | UserRole = UserRole.PUBLIC) -> Checked:
        if question.where:
            cube = self.census.tabulate(SPEC)
            assert isinstance(cube, Cube)
            raise KeyError(int(cube.count[0, 0]))
        return super().check(question, role)


def test_failures_inside_tell_nothing_confidential(
    canary: Canary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Errors whose words are true counts; a disk that takes nothing more."""
    said = Said()
    service = canary.service(tmp_path, kind=FailingService)
    with served(tmp_path, service, said) as place:
        client = place.somebody()
        for path in ("tables", "tables/check"):
            for asked in ({"by": ["sex"]}, {"by": ["area"], "where": "sex == '1'"}):
                said.answer(path, client.post(f"{API}/{path}", json=asked))
        failed = client.post(f"{API}/tables", json={"by": ["sex"]})
        assert (failed.status_code, failed.json()["error"]["code"]) == (500, "internal")
        ask_everything(place, said)
        later = {"prefer": "respond-async"}
        begun = client.post(f"{API}/tables", json={"by": ["sex"]}, headers=later)
        assert begun.status_code == 202, begun.text
        where = begun.headers["location"]
        until(lambda: client.get(where).json()["job"]["status"] == "failed")
        said.answer("failed job", client.get(where))
        # No room for the result of a job.
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "nowhere"))
        monkeypatch.setattr(jobs, "IN_MEMORY", 0)
        full = client.post(f"{API}/tables", json={"by": ["sex", "area"]}, headers=later)
        assert full.status_code == 202, full.text
        where = full.headers["location"]
        until(lambda: client.get(where).json()["job"]["status"] == "failed")
        told = said.answer("full disk", client.get(where)).json()["job"]["error"]
        assert (told["status"], told["code"]) == (500, "internal")
        assert place.client.get("/health").status_code == 200
    log = next(data for where, data in said.parts if where == "log").decode()
    assert "failed: ValueError" in log
    assert_silent(said, canary)


def test_a_damaged_store_tells_nothing_confidential(canary: Canary, tmp_path: Path) -> None:
    """Files of the store that were overwritten while the server runs."""
    store = tmp_path / "census.store"
    for path in canary.store.rglob("*"):
        target = store / path.relative_to(canary.store)
        target.parent.mkdir(parents=True, exist_ok=True)
        if path.is_file():
            target.write_bytes(path.read_bytes())
    broken = Canary(store, canary.cube, canary.keys)
    said = Said()
    work = tmp_path / "work"
    work.mkdir()
    with served(work, broken.service(work), said) as place:
        for path in store.rglob("*"):
            if path.is_file() and path.stat().st_size > 1_000_000:
                with path.open("r+b") as file:
                    file.write(b"\xff" * path.stat().st_size)
        ask_everything(place, said)
        assert place.client.get("/health").status_code == 200
    assert_silent(said, canary)


def test_threads_that_ask_at_the_same_time_are_told_nothing_confidential(
    canary: Canary, tmp_path: Path
) -> None:
    said = Said()
    with served(tmp_path, canary.service(tmp_path), said, workers=1, queue=1) as place:

        def ask(seed: int) -> None:
            with new_client(place.server.url) as client:
                for at in range(8):
                    question = QUESTIONS[(seed * 5 + at) % len(QUESTIONS)]
                    said.answer("at once", client.post(f"{API}/tables", json=question))

        threads = [threading.Thread(target=ask, args=(seed,)) for seed in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert_silent(said, canary)
