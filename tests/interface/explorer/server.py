"""A running explorer for tests, and requests as browsers and attackers make them."""

from __future__ import annotations

import contextlib
import http.client
import json
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any  # what JSON holds
from urllib.parse import urlsplit


@dataclass(frozen=True)
class Explorer:
    """An explorer that runs: its address, and its process."""

    address: str
    process: subprocess.Popen[str]

    @property
    def port(self) -> int:
        return urlsplit(self.address).port or 0

    @property
    def path(self) -> str:
        return urlsplit(self.address).path

    def request(
        self, method: str = "GET", path: str | None = None, body: str | bytes | None = None, **headers: str
    ) -> tuple[int, dict[str, str], bytes]:
        """Status, headers and body of an answer; `_` in names of headers is `-`."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        connection.request(method, self.path if path is None else path, body, named)
        reply = connection.getresponse()
        with contextlib.closing(connection):
            return reply.status, {name.lower(): value for name, value in reply.getheaders()}, reply.read()

    def ask(self, text: str, **options: str) -> dict[str, Any]:
        """The answer to a question."""
        body = json.dumps({"text": text, **options})
        _, _, found = self.request("POST", f"{self.path}ask", body, content_type="application/json")
        answered: dict[str, Any] = json.loads(found)
        return answered

    def timed(self, text: str, **options: str) -> tuple[dict[str, Any], float]:
        """The answer, and the seconds that it took."""
        start = time.perf_counter()
        return self.ask(text, **options), time.perf_counter() - start


@contextlib.contextmanager
def explorer() -> Iterator[Explorer]:
    """`srcgrad explore`, as a user starts it."""
    command = [sys.executable, "-m", "srcgrad", "explore", "--no-browser"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    assert process.stdout is not None
    try:
        line = process.stdout.readline()
        yield Explorer(next(word for word in line.split() if word.startswith("http")), process)
    finally:
        process.terminate()
        process.wait(20)
        process.stdout.close()
