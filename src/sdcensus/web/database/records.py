"""What the database keeps, as plain values. None of them holds a password or a secret."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from sdcensus.errors import SpecError, unknown
from sdcensus.model.vocabulary import AccountRole

#: Names of accounts cannot begin with this sign: it marks those who have none.
NO_ACCOUNT = "~"
#: What somebody without an account is in the audit and in a policy.
ANONYMOUS = "anonymous"


class Action(StrEnum):
    """What is entered in the audit."""

    TABLE = "table"
    JOB = "job"
    DOWNLOAD = "download"
    LOGIN = "login"
    LOGIN_FAILED = "login-failed"
    LOGOUT = "logout"
    TOKEN_MADE = "token-made"
    TOKEN_REVOKED = "token-revoked"
    ACCOUNT_ADDED = "account-added"
    ACCOUNT_DISABLED = "account-disabled"
    ACCOUNT_ENABLED = "account-enabled"
    ACCOUNT_PASSWORD = "account-password"
    SETTINGS = "settings"
    ALARM = "alarm"
    RETENTION = "retention"
    BACKUP = "backup"
    RESTORE = "restore"
    START = "start"
    STOP = "stop"

    @classmethod
    def named(cls, word: str) -> Action:
        """The action of this name.

        Raises:
            SpecError: There is none.
        """
        if word not in list(cls):
            raise SpecError(unknown("action", word, list(cls)))
        return cls(word)


@dataclass(frozen=True, slots=True)
class Actor:
    """Who changes something, for the audit.

    Attributes:
        who: The name of an account, or a word that begins with ``~``.
        role: The role in which it is done.
        request: The id of the request, where there is one.
    """

    who: str
    role: str
    request: str = ""


#: Whoever works on the server itself.
COMMAND_LINE = Actor(f"{NO_ACCOUNT}office", "office")


@dataclass(frozen=True, slots=True, kw_only=True)
class Account:
    """Somebody whom the office knows."""

    id: str
    name: str
    role: AccountRole
    display_name: str
    created: datetime
    disabled: datetime | None = None

    @property
    def active(self) -> bool:
        """Whether the account may be used."""
        return self.disabled is None

    def actor(self, request: str = "") -> Actor:
        """The account as somebody who does something."""
        return Actor(self.name, self.role.value, request)


@dataclass(frozen=True, slots=True, kw_only=True)
class LoginAnswer:
    """What a name and a password are worth.

    Attributes:
        account: The account, if both are right.
        wait: Otherwise, for how many seconds this name must not be tried again; 0 if it may be.
    """

    account: Account | None
    wait: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class StartedSession:
    """A new session. Its id goes into the cookie and is kept nowhere else."""

    id: str
    csrf: str
    account: Account
    expires: datetime

    def __repr__(self) -> str:
        return f"<StartedSession of {self.account.name!r}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A session that is going on."""

    csrf: str
    account: Account
    created: datetime
    expires: datetime

    def __repr__(self) -> str:
        return f"<Session of {self.account.name!r}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class AccessToken:
    """A token of a program, without its secret."""

    id: str
    account: str
    name: str
    created: datetime
    last_used: datetime | None
    expires: datetime | None
    revoked: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class MadeToken:
    """A new token. Its text is shown once and is kept nowhere."""

    text: str
    token: AccessToken

    def __repr__(self) -> str:
        return f"<MadeToken {self.token.id!r}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class SavedTable:
    """A question that somebody has kept, and how its answer is shown."""

    id: str
    name: str
    question: str
    view: Mapping[str, str]
    created: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditEntry:
    """One entry of the audit, as it is written. There is no place in it for a count.

    Attributes:
        who: The name of an account, or the pseudonym of a client for this day.
        role: ``anonymous``, the role of the account, or ``office``.
        action: What was done.
        spec_hash: The hash of the table specification.
        question: The text of the question.
        cells: How many cells the table has.
        format: In which format it was delivered.
        outcome: ``allowed``, ``withheld``, ``refused``, ``failed`` ...
        reason: The code of the reason of a refusal or a failure, or what an action was about.
        milliseconds: How long it took.
        request: The id of the request.
        time: When; the time at which it is handed over, unless it is given.
    """

    who: str
    role: str
    action: Action
    spec_hash: str = ""
    question: str = ""
    cells: int = 0
    format: str = ""
    outcome: str = ""
    reason: str = ""
    milliseconds: int = 0
    request: str = ""
    time: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenEntry:
    """One entry of the audit, as it stands there."""

    sequence: int
    time: datetime
    who: str
    role: str
    action: str
    spec_hash: str
    question: str
    cells: int
    format: str
    outcome: str
    reason: str
    milliseconds: int
    request: str
    hash: str


@dataclass(frozen=True, slots=True)
class Head:
    """The end of the audit: its last entry. Noted elsewhere, it proves everything before it."""

    sequence: int
    hash: str


@dataclass(frozen=True, slots=True)
class Anchor:
    """What retention has left of the entries that it removed."""

    sequence: int
    hash: str
    removed: int
    time: datetime


class Damage(StrEnum):
    """What may have happened to an audit."""

    CHANGED = "changed"
    REMOVED = "removed"
    INSERTED = "inserted"


@dataclass(frozen=True, slots=True)
class AuditFinding:
    """One place at which the audit is not what was written."""

    sequence: int
    damage: Damage
    text: str

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditProof:
    """What a check of the audit has found.

    Attributes:
        entries: How many entries were read.
        first: The number of the first of them.
        head: The last entry.
        anchors: What was removed by retention.
        findings: Where the audit is damaged, the first places only if there are many.
    """

    entries: int
    first: int
    head: Head
    anchors: tuple[Anchor, ...]
    findings: tuple[AuditFinding, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing was found."""
        return not self.findings


@dataclass(frozen=True, slots=True)
class Used:
    """What somebody has asked for since some time."""

    tables: int
    cells: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Alarm:
    """A pattern of questions that the office should look at."""

    id: str
    pattern: str
    who: str
    score: float
    explanation: Mapping[str, object]
    first: datetime
    last: datetime
    count: int
    acknowledged_by: str | None
    acknowledged: datetime | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Feedback:
    """What somebody wrote to the office."""

    id: str
    time: datetime
    text: str
    contact: str
    question: str
    read_by: str | None
    read: datetime | None


@dataclass(frozen=True, slots=True)
class Restored:
    """What was restored: how many rows of each table, and the state of the audit."""

    rows: tuple[tuple[str, int], ...]
    proof: AuditProof
