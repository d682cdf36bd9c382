"""`srcgrad rules`: the operations of which a derivative is known, and the rule of one."""

from __future__ import annotations

import argparse
import json

from srcgrad import inventory, rulebook
from srcgrad.output import write_output


def run(asked: argparse.Namespace) -> int:
    """Print the table, or a part of it; with `--missing`, 1 if there is something."""
    if asked.missing:
        unknown = inventory.missing()
        made = json.dumps(unknown, indent=1) + "\n" if asked.json else "".join(f"{name}\n" for name in unknown)
        write_output(made, "-")
        return 1 if unknown else 0
    if asked.json:
        write_output(inventory.as_json(asked.operation), "-")
    elif asked.markdown:
        write_output(rulebook.page(), "-")
    elif asked.operation:
        write_output(rulebook.entry(asked.operation), "-")
    else:
        write_output(rulebook.table(), "-")
    return 0
