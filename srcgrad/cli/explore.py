"""`srcgrad explore`: the page that shows a derivative as its function is typed."""

from __future__ import annotations

import argparse

from srcgrad.explore import serve


def run(asked: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    serve(asked.port, browse=not asked.no_browser)
    return 0
