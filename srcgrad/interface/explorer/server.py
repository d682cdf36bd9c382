"""The explorer's server, and whom it answers.

Who is answered: requests of the explorer's own page, on this machine, with the token.

The explorer's server: a page, and answers from processes that are asked one question at a time.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import secrets
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.explorer.worker import EXAMPLES, LONGEST, Worker, failure_answer, question

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'nonce-{nonce}'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)


class Guard:
    """Lets through what comes from the explorer's own page, and answers 403 to all else.

    A page of another origin knows no token; it cannot read answers either, since none allows it. A name that an
    attacker points at 127.0.0.1 shows in `Host`.
    """

    def __init__(self, app: ASGIApp, token: str, port: int) -> None:
        self.app, self.token = app, token
        self.hosts = tuple(f"{name}:{port}" for name in ("127.0.0.1", "localhost"))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        reason = "only HTTP is spoken" if scope["type"] != "http" else self.refusal(scope)
        if reason:
            if scope["type"] == "http":
                await Response(f"{reason}\n", 403, media_type="text/plain")(scope, receive, send)
            return
        nonce = secrets.token_urlsafe(16)
        scope["state"] = {**scope.get("state", {}), "nonce": nonce}

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_headers(nonce)]
            await send(message)

        await self.app(scope, receive, send_with_headers)

    def refusal(self, scope: Scope) -> str:
        """Why a request is refused; empty if it is not."""
        headers: dict[bytes, list[bytes]] = {}
        for name, value in scope["headers"]:
            headers.setdefault(name.lower(), []).append(value)
        host = headers.get(b"host", [])
        if len(host) != 1 or host[0].decode("latin-1") not in self.hosts:
            return "this host is not known"
        origins = [f"http://{name}".encode() for name in self.hosts]
        if any(origin not in origins for origin in headers.get(b"origin", [])):
            return "this origin is not known"
        if any(site not in (b"same-origin", b"none") for site in headers.get(b"sec-fetch-site", [])):
            return "a request of another site"
        given = scope["path"].split("/")[1]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return "the address lacks the token: use the one that was printed"
        return ""


def _headers(nonce: str) -> list[tuple[bytes, bytes]]:
    return [
        (b"content-security-policy", POLICY.format(nonce=nonce).encode()),
        (b"cache-control", b"no-store"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
        (b"referrer-policy", b"no-referrer"),
        (b"x-content-type-options", b"nosniff"),
        (b"x-frame-options", b"DENY"),
    ]


STATIC = Path(__file__).with_name("static")
LARGEST = 8 * LONGEST  # bytes of a question: in JSON a character has up to 6, or 4 in UTF-8
WAITING = 200  # questions that may wait for a worker
LIMIT = 1.8  # seconds for an answer
WORKERS = 2


@dataclass
class Desk:
    """Workers, of which one that is free takes the next question."""

    workers: list[Worker]
    free: asyncio.Queue[Worker] = field(default_factory=asyncio.Queue)
    starting: set[asyncio.Task[None]] = field(default_factory=set)
    waiting: int = 0

    async def start_workers(self) -> None:
        """Start all workers."""
        await asyncio.gather(*(self._give_back(worker) for worker in self.workers))

    async def close(self) -> None:
        """End all workers."""
        for task in list(self.starting):
            task.cancel()
        for worker in self.workers:
            await worker.stop()

    async def _give_back(self, worker: Worker) -> None:
        await worker.start()  # at once where it runs
        self.free.put_nowait(worker)

    async def answer(self, given: dict[str, object], request: Request) -> Response:
        """The answer to a question; 503 if too many wait, and nothing where nobody waits any more."""
        if self.waiting >= WAITING:
            return Response("too many questions at once\n", 503)
        self.waiting += 1
        try:
            worker = await self.free.get()
        finally:
            self.waiting -= 1
        try:
            if await request.is_disconnected():  # a newer keystroke has come
                return Response(status_code=499)
            return JSONResponse(await worker.ask(given))
        finally:
            task = asyncio.create_task(self._give_back(worker))  # nobody waits for a process that starts
            self.starting.add(task)
            task.add_done_callback(self.starting.discard)


def application(token: str, port: int) -> ASGIApp:
    """The explorer, for addresses below `/TOKEN/`."""
    desk = Desk([Worker(LIMIT) for _ in range(WORKERS)])

    @contextlib.asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        await desk.start_workers()
        yield
        await desk.close()

    async def ask(request: Request) -> Response:
        if request.headers.get("content-type", "").partition(";")[0] != "application/json":
            return Response("a question is JSON\n", 415)
        try:
            given = json.loads(await _body(request))
            question(given)  # what is wrong with it needs no worker
        except DifferentiationError as error:
            return JSONResponse(failure_answer(error), 400)
        except (ValueError, RecursionError):
            return Response("a question is JSON\n", 400)
        return await desk.answer(given, request)

    routes = [
        Route("/", _page),
        Route("/ask", ask, methods=["POST"]),
        Route("/examples", _examples),
        Route("/static/editor.js", _editor),
        Mount("/static", StaticFiles(directory=STATIC)),
    ]
    return Guard(Starlette(routes=[Mount(f"/{token}", routes=routes)], lifespan=lifespan), token, port)


async def _page(request: Request) -> Response:
    text = (STATIC / "index.html").read_text(encoding="utf-8").replace("NONCE", request.state.nonce)
    return Response(text, media_type="text/html")


async def _editor(request: Request) -> Response:
    """The page's script, by its type: `StaticFiles` asks Windows, which may say that it is a plain text."""
    return Response((STATIC / "editor.js").read_bytes(), media_type="text/javascript")


async def _examples(request: Request) -> Response:
    return JSONResponse(EXAMPLES)


async def _body(request: Request) -> bytes:
    """The body; E5015 as soon as it is longer than any question may be."""
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > LARGEST:
            message = f"the text has more than {LONGEST:,} characters"
            raise DifferentiationError("E5015", message, "use `srcgrad dump`, which takes a text of any length")
    return bytes(body)
