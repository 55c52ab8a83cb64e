"""A step from a store to another one, before anything is written: checked, foreseen, tried."""

from __future__ import annotations

import hashlib
import json
import re
import shlex
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, cast

from sdcensus._version import __version__
from sdcensus.errors import InputError, SecretError, SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.derived_view import DerivedView
from sdcensus.microdata.method import (
    Draws,
    FactTable,
    Foreseeing,
    NamesFiles,
    PreTabularMethod,
)
from sdcensus.microdata.one_kind import derived_records
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import ValueKind, as_option
from sdcensus.model.method.registry import Part, checked_settings, declared, load, parsed_settings
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Derivation, fingerprint
from sdcensus.model.secret import Secret
from sdcensus.session.census.census import Census
from sdcensus.session.census.secret_file import find_secret
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import file_digest

#: Parameters that came later than their methods: where nothing is said, a step is what it was.
_LATER = ("between",)
_NUMBER = re.compile(r"[0-9]*\.?[0-9]+|[0-9]+\.", re.ASCII)


@dataclass(frozen=True, slots=True, repr=False)
class Step(Confidential):
    """A pre-tabular method with its parameters, a store and the draws of the office secret.

    Attributes:
        store: The store to begin with.
        method: The method.
        draws: Its draws; ``None`` for one that draws nothing.
        derivation: What the lineage of the derived store will say.
        work: A name for the work, by the digest of all parameters: the same for the same step.
    """

    store: CensusStore
    method: PreTabularMethod
    draws: Draws | None
    derivation: Derivation
    work: str

    def __repr__(self) -> str:
        return f"<Step {self.method.name!r}: confidential>"

    @property
    def settings(self) -> dict[str, object]:
        """Everything that is said about the method, with what is taken where nothing is said."""
        return _settings(self.method)

    def run(self, progress: Progress = no_progress) -> DerivedRecords:
        """The records of the derived store, which nobody has written yet."""
        return derived_records(self.store, self.method.derive(self.store, self.draws, progress))

    def foresee(self, progress: Progress = no_progress) -> tuple[FactTable, ...]:
        """What the office should see before it decides; nothing of a method that cannot tell."""
        if not isinstance(self.method, Foreseeing):
            return ()
        return self.method.foresee(self.store, self.draws, progress)

    def trial(self, progress: Progress = no_progress) -> Census:
        """The derived census without a store on disk, for comparisons and attacks."""
        return self.census_of(self.run(progress))

    def census_of(self, records: DerivedRecords) -> Census:
        """Records that were derived already, as a census."""
        view = DerivedView(records, self.derivation)
        return Census(view.schema, view)


def prepared(
    store: str | Path | CensusStore,
    method: str,
    parameters: Mapping[str, object],
    *,
    secret: Secret | str | Path | None = None,
) -> Step:
    """Check what is said about a method, and that the secret is the store's.

    Raises:
        SpecError: What is said about the method is wrong.
        SecretError: The secret is another one than that of the store.
    """
    chosen = _built(method, parameters)
    census, key = store_with_secret(store, secret)
    version = census.manifest.key_version
    every = {"method": chosen.name, **_decisive(chosen)}
    # Pairs that are kept make no other line: a corrected census goes on with that of the first.
    continuing = {parameter.name for parameter in chosen.takes if parameter.continues}
    lasting = {name: value for name, value in every.items() if name not in continuing}
    derivation = Derivation(
        parent=census.manifest.data_version,
        method=chosen.name,
        method_version=str(chosen.version),
        fingerprint=fingerprint(lasting, key, version),
        secret_id=key.id,
    )
    draws = None if chosen.purpose is None else Draws(key.sub_key(chosen.purpose, version))
    work = _work(derivation, fingerprint(every, key, version))
    return Step(census, chosen, draws, derivation, work)


def _work(derivation: Derivation, parameters: str) -> str:
    """A name for the work: the same for the same call with the same program."""
    text = json.dumps([derivation.to_json(), parameters, __version__])
    return hashlib.blake2b(text.encode(), digest_size=8).hexdigest()


def store_with_secret(
    store: str | Path | CensusStore, secret: Secret | str | Path | None
) -> tuple[CensusStore, Secret]:
    """A store, and the secret with which it was loaded.

    Raises:
        SecretError: The secret is another one than that of the store.
    """
    census = store if isinstance(store, CensusStore) else CensusStore.open(Path(store), verify=True)
    key = find_secret(secret)
    if key.id != census.manifest.secret_id:
        raise SecretError(
            f"The store was loaded with the secret {census.manifest.secret_id}, and the secret at"
            f" hand is {key.id}. Give the secret with which it was loaded."
        )
    return census, key


def method_from_text(text: str) -> PreTabularMethod:
    """A method as it is written in one line, with its parameters.

    Raises:
        SpecError: What is said about it is wrong.
    """
    name, *settings = shlex.split(text) or [""]
    return _built(name, parsed_settings(settings, [declared(Part.PRE_TABULAR, name)]))


def step_from_text(
    store: str | Path | CensusStore, text: str, *, secret: Secret | str | Path | None = None
) -> Step:
    """A step as it is written in one line: ``random-swap rate=0.1 within=district``."""
    name, *settings = shlex.split(text) or [""]
    takers = [declared(Part.PRE_TABULAR, name)]
    return prepared(store, name, parsed_settings(settings, takers), secret=secret)


def _settings(method: PreTabularMethod) -> dict[str, object]:
    return {each.name: getattr(method, each.name) for each in fields(cast(Any, method))}


def _decisive(method: PreTabularMethod) -> dict[str, object]:
    """Everything that decides what a method does: the content of files instead of their names.

    The same file elsewhere is the same step, and another file under the same name is not: a killed
    run must not go on with it. Neither blanks in a list nor whether 1 is written 1.0 decide.
    """
    every = _settings(method)
    settings = {name: value for name, value in every.items() if value or name not in _LATER}
    if isinstance(method, NamesFiles):
        settings |= method.file_digests()
    for parameter in method.takes:
        said = settings.get(parameter.name)
        if parameter.kind in (ValueKind.NUMBER, ValueKind.SHARE) and isinstance(said, int):
            settings[parameter.name] = float(said)
        if parameter.kind in (ValueKind.LISTS, ValueKind.VARIABLES) and isinstance(said, tuple):
            settings[parameter.name] = tuple(map(_plain_text, said))
        if parameter.kind is ValueKind.FILE and isinstance(said, str | Path) and str(said):
            path = Path(said)
            if not path.is_file():
                raise InputError(f"{path}: there is no file of this name.")
            settings[parameter.name] = file_digest(path)
    return settings


def _plain_text(text: str) -> str:
    """An entry of a list as everybody writes it: ``age=.80`` and ``age = 0.8`` are one."""
    name, equals, value = "".join(text.split()).rpartition("=")
    if _NUMBER.fullmatch(value):
        value = str(float(value))
    return f"{name}{equals}{value}"


def _built(name: str, said: Mapping[str, object]) -> PreTabularMethod:
    """A method from what is said about it."""
    declaration = declared(Part.PRE_TABULAR, name)
    values, mistakes = checked_settings([declaration], said, as_option, (Part.PRE_TABULAR,))
    for _, reason in mistakes:
        raise SpecError(reason)
    for parameter in declaration.takes:
        if parameter.required and parameter.name not in values:
            option = f"{as_option(parameter.name, '')} {parameter.metavar}"
            raise SpecError(f"{name} needs {option}: {parameter.sentence()}")
    method: PreTabularMethod = load(Part.PRE_TABULAR, name)(**values)
    return method
