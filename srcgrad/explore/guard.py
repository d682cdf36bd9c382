"""Who is answered: requests of the explorer's own page, on this machine, with the token."""

from __future__ import annotations

import secrets

from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

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

        async def sealed(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message["headers"], *_headers(nonce)]
            await send(message)

        await self.app(scope, receive, sealed)

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
