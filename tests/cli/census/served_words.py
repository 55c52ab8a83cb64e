"""What a server says in one language: a program of its own, because languages are read once."""

from __future__ import annotations

import json
import sys
from pathlib import Path

from tests.web.servers import opened

PAGES = ("/", "/about", "/commands", "/api", "/login", "/nowhere")


def main(language: str, folder: Path) -> None:
    with opened(folder) as place:
        said = {path: place.client.get(f"{path}?lang={language}").text for path in PAGES}
        answer = place.client.get("/api/v1/tables", params={"by": "area,sex", "lang": language})
        wrong = place.client.get("/api/v1/tables", params={"by": "sox", "lang": language})
        said |= {"table": answer.text, "error": wrong.text}
    sys.stdout.buffer.write(json.dumps(said).encode())


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
