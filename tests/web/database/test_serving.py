"""A server over either kind of database: the same from the first login to the restored backup."""

from __future__ import annotations

from pathlib import Path

from sdcensus.model.policy.policy import RoleRules, UserRole
from sdcensus.web.database import COMMAND_LINE, Database
from tests.session.answer.services import service
from tests.web.database.conftest import NewPlace
from tests.web.servers import PASSWORD, TABLES, check_error, opened

RULES = (RoleRules(role=UserRole.REGISTERED, tables_per_day=3),)


def test_a_server_keeps_its_word_on_either_database(new_place: NewPlace, tmp_path: Path) -> None:
    url = new_place().url
    with opened(tmp_path, service(roles=RULES), url=url) as place:
        place.account("ben")
        browser, csrf = place.logged_in("ben")
        changing = {"x-csrf-token": csrf}
        made = browser.post("/api/v1/account/tokens", json={"name": "ñ"}, headers=changing).json()
        program = place.somebody(authorization=f"Bearer {made['secret']}")
        assert program.get(f"{TABLES}?by=sex").headers["ratelimit-remaining"] == "2"
        saved = {"name": "Mine", "question": {"by": ["sex"]}}
        assert browser.post("/api/v1/saved", json=saved, headers=changing).status_code == 201
        assert program.post("/api/v1/feedback", json={"text": "Thanks"}).status_code == 201
        boss = place.somebody(**place.token("boss", "staff"))
        (message,) = boss.get("/api/v1/staff/feedback").json()["feedback"]
        assert boss.post(f"/api/v1/staff/feedback/{message['id']}/read").status_code == 200
        # Another password ends sessions, and tokens go on.
        place.database.accounts.set_password("ben", f"{PASSWORD} 2", by=COMMAND_LINE)
        check_error(browser.get("/api/v1/saved"), 401, "unauthorised")
        assert [one["name"] for one in program.get("/api/v1/saved").json()["saved"]] == ["Mine"]
        place.site.writer.flush()
        kept = tmp_path / "kept.backup"
        place.database.backup(kept, by=COMMAND_LINE)
        assert not place.database.audit.verify().findings
    other = new_place().url
    with Database.open(other) as database:
        database.restore(kept, by=COMMAND_LINE)
    with opened(tmp_path, service(roles=RULES), url=other) as place:
        program = place.somebody(authorization=f"Bearer {made['secret']}")
        # Two of three: what was used before is known from the audit.
        assert program.get(f"{TABLES}?by=sex").headers["ratelimit-remaining"] == "1"
        place.database.accounts.disable("ben", by=COMMAND_LINE)
        check_error(program.get(f"{TABLES}?by=sex"), 401, "unauthorised")
        place.site.writer.flush()
        assert not place.database.audit.verify().findings
