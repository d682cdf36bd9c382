"""`srcgrad explore`: a page on this machine that shows the derivative of a function as you type it."""

from __future__ import annotations

import secrets
import socket
import webbrowser

from srcgrad.core.errors import DifferentiationError


def serve(port: int = 0, *, browse: bool = True) -> None:
    """Serve the explorer on 127.0.0.1 until Ctrl-C; its address has a token, without which nothing is answered.

    Port 0 is one that is free. E5028 without `srcgrad[explore]`, E5015 where the port is taken.
    """
    try:
        import uvicorn

        from srcgrad.interface.explorer.server import application
    except ImportError as error:
        message = f"the explorer needs {error.name or 'more packages'}"
        raise DifferentiationError("E5028", message, "install it: pip install 'srcgrad[explore]'") from None
    listener = _listener(port)
    token, port = secrets.token_urlsafe(24), listener.getsockname()[1]
    address = f"http://127.0.0.1:{port}/{token}/"
    print(f"Explore derivatives at {address} (Ctrl-C ends it).", flush=True)
    if browse:
        webbrowser.open(address)
    config = uvicorn.Config(application(token, port), log_level="warning", access_log=False, server_header=False)
    with listener:
        uvicorn.Server(config).run(sockets=[listener])


def _listener(port: int) -> socket.socket:
    made = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    try:
        made.bind(("127.0.0.1", port))
        made.listen(128)  # who comes before the workers are ready waits
    except OSError as error:
        made.close()
        message = f"port {port} cannot be used: {error.strerror}"
        raise DifferentiationError("E5015", message, "name another one, or none") from None
    return made
