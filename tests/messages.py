"""What the refusals of the small programs say, on one page: `python -m tests.messages --write` writes `messages.md`.

A message that changes is read there by whoever changes it.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path

from srcgrad import check_grads
from srcgrad.core.errors import DifferentiationError
from tests.programs.small import REFUSED, made

PAGE = Path(__file__).with_suffix(".md")
HEAD = "# What refusals say\n\nThe refused programs of `tests/programs`, each with its message.\n"


def refusal(name: str) -> DifferentiationError:
    """How a program is refused, as `check_grads` finds it; an error of another kind goes on."""
    f, args = made(name, REFUSED[name].text)
    try:
        check_grads(f, args, order=1)
    except DifferentiationError as error:
        return error
    raise AssertionError(f"{name} is not refused")


def section(name: str, error: DifferentiationError) -> str:
    """A part of the page."""
    message = str(error).replace(f"<language {name}>", "model.py")
    return f"\n## {name}\n\n```text\n{message}\n```\n"


def main() -> int:
    """Write the page, or say that it differs."""
    warnings.simplefilter("ignore")
    page = HEAD + "".join(section(name, refusal(name)) for name in REFUSED)
    if "--write" in sys.argv:
        PAGE.write_text(page, encoding="utf-8")
    return page != PAGE.read_text(encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
