"""`srcgrad devices`, `rules` and `explore`.

`srcgrad devices`: where kernels can run.

`srcgrad explore`: the page that shows a derivative as its function is typed.

`srcgrad rules`: the operations of which a derivative is known, and the rule of one.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from srcgrad.core.files import write_output
from srcgrad.interface.explorer import serve
from srcgrad.interface.show import rule_pages
from srcgrad.opencl.devices.self_test import report, rows


def run_devices(asked: argparse.Namespace) -> int:
    """Print every device, what was measured on it, and which one is used."""
    if asked.json:
        found, why = rows()
        made = {"devices": [asdict(row) for row in found], "why": why}
        write_output(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "-")
    else:
        write_output(report() + "\n", "-")
    return 0


def run_explore(asked: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    serve(asked.port, browse=not asked.no_browser)
    return 0


def run_rules(asked: argparse.Namespace) -> int:
    """Print the table, or a part of it; with `--missing`, 1 if there is something."""
    if asked.missing:
        unknown = rule_pages.missing_callables()
        made = json.dumps(unknown, indent=1) + "\n" if asked.json else "".join(f"{name}\n" for name in unknown)
        write_output(made, "-")
        return 1 if unknown else 0
    if asked.json:
        write_output(rule_pages.as_json(asked.operation), "-")
    elif asked.markdown:
        write_output(rule_pages.page(), "-")
    elif asked.operation:
        write_output(rule_pages.entry(asked.operation), "-")
    else:
        write_output(rule_pages.table(), "-")
    return 0
