"""The Python client of the web API: published tables from a table builder.

Nothing but the standard library, numpy and pyarrow is needed; data frames need pandas. It speaks
HTTP to a server and knows nothing of stores, methods or engines. The server is ``web``.
"""

from __future__ import annotations

from sdcensus.client.addresses import base_address, check_token
from sdcensus.client.answers import AnswerAxis, AreasAvailable, PublishedAnswer
from sdcensus.client.catalogue import CodeOfLevel, LevelOfVariable, Population, VariableOffered
from sdcensus.client.connection import CheckedQuestion, Connection, ProgramTable
from sdcensus.client.failures import (
    Busy,
    NotAllowed,
    NotReached,
    NotUnderstood,
    QuotaUsedUp,
    ServiceError,
    StillRunning,
    TableRefused,
    UnknownThere,
)
from sdcensus.client.reasons import Reason, Remedy
from sdcensus.client.transport import Transport
from sdcensus.errors import SpecError

__all__ = [
    "AnswerAxis",
    "AreasAvailable",
    "Busy",
    "CheckedQuestion",
    "CodeOfLevel",
    "Connection",
    "LevelOfVariable",
    "NotAllowed",
    "NotReached",
    "NotUnderstood",
    "Population",
    "ProgramTable",
    "PublishedAnswer",
    "QuotaUsedUp",
    "Reason",
    "Remedy",
    "ServiceError",
    "StillRunning",
    "TableRefused",
    "UnknownThere",
    "VariableOffered",
    "connect",
]


def connect(
    url: str,
    token: str | None = None,
    *,
    language: str | None = None,
    timeout: float = 60.0,
    patience: float = 60.0,
    cache: int = 32 << 20,
    allow_insecure: bool = False,
) -> Connection:
    """Connect to a table builder. Nothing is sent before something is asked.

    Args:
        url: Its address, such as ``https://census.example``.
        token: A token of an account; without one everybody's role and quota count. It is sent to
            this server only, and shown nowhere.
        language: The language of labels and notes; each call can ask for another one.
        timeout: After how many seconds without a sign a request is given up.
        patience: For how many seconds a request waits in all where the server says "later".
        cache: How many bytes of answers are kept, to be sent again only if they changed; 0 for
            none.
        allow_insecure: Send a token over ``http://`` to another machine, where everybody on the
            way can read it.
    """
    base = base_address(url)
    check_token(token, base, allow_insecure=allow_insecure)
    for name, value in (("timeout", timeout), ("patience", patience), ("cache", cache)):
        if type(value) not in (int, float) or not 0 <= value < 1e12:
            raise SpecError(f"{name} is a number, 0 or more.")
    if timeout == 0:
        raise SpecError("timeout is more than 0 seconds.")
    transport = Transport(
        base,
        # In a closure: tools that show attributes find a function.
        lambda: None if token is None else f"Bearer {token}",
        timeout=timeout,
        patience=patience,
        largest_cache=int(cache),
    )
    return Connection(transport, with_token=token is not None, language=language)
