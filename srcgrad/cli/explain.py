"""`srcgrad explain`: what a derivative does in each line, or what an error code means."""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections.abc import Sequence
from pathlib import Path

from srcgrad.cli.targets import each, expanded, standard_input
from srcgrad.cli.terminal import console
from srcgrad.errors import CODES, DifferentiationError
from srcgrad.lines import Explanation, explained
from srcgrad.output import listed, write_output

PAGE = Path(__file__).resolve().parent.parent / "errors.md"
_CODE = re.compile(r"[Ee]\d{4}")


def run(asked: argparse.Namespace) -> int:
    """Print a table for each function of each target; for error codes, their parts of docs/errors.md."""
    if all(_CODE.fullmatch(target) for target in asked.targets):
        return _codes([target.upper() for target in asked.targets], asked.json)
    targets = expanded(asked.targets)
    text = standard_input(targets)
    found: list[Explanation] = []

    def add(target: str) -> bool:
        made = explained(target, wrt=asked.wrt, arguments=asked.args, text=text)
        if asked.json:
            found.extend(made)
        else:
            write_output("\n".join(f"{one}\n" for one in made), "-")
        return True

    status = each(targets, add)
    if found:
        write_output(listed([one.json() for one in found]), "-")
    return status


def _codes(codes: Sequence[str], as_json: bool) -> int:
    parts = [part_of(code) for code in codes]
    if as_json:
        rows = [
            {"code": code, "title": CODES[code], "text": part.partition("\n")[2].strip()}
            for code, part in zip(codes, parts, strict=True)
        ]
        write_output(listed([json.dumps(row, indent=2, ensure_ascii=False) for row in rows]), "-")
        return 0
    shown = console(sys.stdout)
    if shown is None:
        write_output("\n".join(parts), "-")
        return 0
    from rich.markdown import Markdown

    for part in parts:
        shown.print(Markdown(part))
    return 0


def part_of(code: str) -> str:
    """What docs/errors.md says of a code; E5015 for one that does not exist.

    >>> print(part_of("E5003").partition("\\n")[0])
    ## E5003 no rule and no source
    """
    if code not in CODES:
        raise DifferentiationError("E5015", f"there is no error {code}", f"the codes are: {', '.join(CODES)}")
    text = PAGE.read_text(encoding="utf-8")
    start = text.index(f"\n## {code} ") + 1
    end = text.find("\n## ", start)
    return text[start : end + 1 if end >= 0 else None].rstrip() + "\n"
