"""`srcgrad devices`: where kernels can run."""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict

from srcgrad.opencl.report import report, rows
from srcgrad.output import write_output


def run(asked: argparse.Namespace) -> int:
    """Print every device, what was measured on it, and which one is used."""
    if asked.json:
        found, why = rows()
        made = {"devices": [asdict(row) for row in found], "why": why}
        write_output(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "-")
    else:
        write_output(report() + "\n", "-")
    return 0
