"""Accounts, sessions, tokens, saved tables, audit, alarms and feedback of the table builder.

SQLite in a file of its owner only, or PostgreSQL by a URL. Everything blocks: call it from a
thread. All of it may be called from many threads at once. Only errors of ``sdcensus.errors`` come
out: ``SpecError`` for values that are not allowed (a short password, a name that is taken),
``UnknownName`` for what does not exist, ``InputError`` for a database that cannot be opened,
``OutputError`` for one that cannot be written. No message shows the password of a URL.

::

    database = Database.open(url_or_path, hashing=Hashing(), clock=utc_now)   # a context manager
    database.close()
    database.shown                      # where it is, without a password
    database.check()                    # raises OutputError when it cannot be written: for /ready
    database.backup(path, by=actor)     # SQLite file, or JSON lines (PostgreSQL, or *.jsonl)
    database.restore(path, by=actor) -> Restored           # into an empty database only

    database.accounts.add(name, role, password, display_name="", by=actor) -> Account
    database.accounts.all() -> tuple[Account, ...]
    database.accounts.find(name) -> Account                # UnknownName
    database.accounts.disable(name, by=actor) -> Account   # ends sessions, stops tokens
    database.accounts.enable(name, by=actor) -> Account
    database.accounts.set_password(name, password, by=actor) -> Account    # ends its sessions
    database.accounts.check_password(name, password) -> LoginAnswer(account | None, wait seconds)

    database.sessions.start(account) -> StartedSession(id, csrf, account, expires)
    database.sessions.find(id) -> Session(csrf, account, created, expires) | None
    database.sessions.csrf_matches(session, text) -> bool  # constant time
    database.sessions.end(id)
    database.sessions.sweep() -> int                       # removes those that are over
    database.sessions.limit(idle=..., longest=...)         # by the settings of the server

    database.tokens.make(account, name, days=365 | None, by=actor) -> MadeToken(text, token)
    database.tokens.of(account) -> tuple[Token, ...]
    database.tokens.revoke(token_id, account=None, by=actor) -> Token      # account: only its own
    database.tokens.verify(text) -> Account | None         # cached for 60 seconds

    database.saved.add(account, name, question_text, view={}) -> SavedTable
    database.saved.of(account) -> tuple[SavedTable, ...]
    database.saved.remove(account, saved_id)

    writer = AuditWriter(database.audit)                   # one per process, context manager
    writer.write(Entry(who=..., role=..., action=Action.TABLE, ...))  # at once, from any thread
    writer.flush(timeout=10); writer.close()
    writer.healthy, writer.waiting, writer.error
    database.audit.append(entries) -> Head                 # now, in this thread
    database.audit.latest(limit=100, before=None, who=None, action=None) -> tuple[WrittenEntry, ...]
    database.audit.used(who, since) -> Used(tables, cells) # for quotas after a restart
    database.audit.delivered(since, most=20_000)           # pages for the watch, the oldest first
    database.audit.head() -> Head
    database.audit.verify(known=None) -> AuditProof(entries, first, head, anchors, findings, .sound)
    database.audit.apply_retention(days, by=actor, even_if_damaged=False) -> Anchor | None

    database.pseudonyms.of(address) -> "~..."              # the who of an anonymous client, today

    database.alarms.report(pattern, who, score, explanation) -> Alarm      # joins an open one
    database.alarms.all(open_only=False, limit=200) -> tuple[Alarm, ...]
    database.alarms.acknowledge(alarm_id, by=actor) -> Alarm
    database.alarms.apply_retention(days, by=actor) -> int
    database.feedback.add(text, contact="", question="") -> Feedback
    database.feedback.all(unread_only=False, limit=200) -> tuple[Feedback, ...]
    database.feedback.mark_read(feedback_id, by=actor) -> Feedback
    database.feedback.apply_retention(days, by=actor) -> int

    database.served.all() -> tuple[ServedNumbers, ...]     # which numbers were given out
    database.served.events() -> tuple[ServedEvent, ...]
    database.served.open(opening, before=..., by=actor)    # what the guard has decided

``by`` is an ``Actor(who, role, request)``; ``account.actor(request)`` makes one. Methods that take
it write their own entry into the audit, in the same transaction; nobody else needs to. Logins,
logouts, tables, jobs, downloads, start and stop are entered by the server with its ``AuditWriter``.
"""

from sdcensus.model.vocabulary import AccountRole as AccountRole
from sdcensus.web.database.audit import COUNTED as COUNTED, AuditLog as AuditLog
from sdcensus.web.database.audit_writer import AuditWriter as AuditWriter
from sdcensus.web.database.database import Database as Database
from sdcensus.web.database.link import utc_now as utc_now
from sdcensus.web.database.passwords import Hashing as Hashing
from sdcensus.web.database.records import (
    ANONYMOUS as ANONYMOUS,
    COMMAND_LINE as COMMAND_LINE,
    AccessToken as AccessToken,
    Account as Account,
    Action as Action,
    Actor as Actor,
    Alarm as Alarm,
    Anchor as Anchor,
    AuditEntry as AuditEntry,
    AuditFinding as AuditFinding,
    AuditProof as AuditProof,
    Damage as Damage,
    Feedback as Feedback,
    Head as Head,
    LoginAnswer as LoginAnswer,
    MadeToken as MadeToken,
    Restored as Restored,
    SavedTable as SavedTable,
    Session as Session,
    StartedSession as StartedSession,
    Used as Used,
    WrittenEntry as WrittenEntry,
)
