"""Run what a page of the documentation shows: `python -m tests.pages [--write] README.md docs/errors.md ...`.

Fenced blocks mean what a reader takes them for:

- ``python title="model.py"``: the file model.py; if a command before has made it, what is in it.
- ``python``: statements, or a session with `>>>` and results, in names that the whole page shares.
- ``console``: commands after `$ `; those of srcgrad and python are run, and the lines below are what they
  print. One with no lines below must succeed. An environment is not made: what is installed into it is not srcgrad.
- ``text`` after ``python``: the error in which those statements end; their file is called model.py.

On a page with the remark ``<!-- cells -->`` a block of statements is a cell of a notebook, and no file.

In a result, `...` stands for anything. A page has an empty folder as its working directory; in
docs/errors.md and docs/limits.md, each section (`## ...`) is a page of its own. Where a page is not
true, the difference is printed and the exit status is 1; `--write` makes it true. A command, or the statements of a
block, may take LIMIT seconds.
"""

from __future__ import annotations

import contextlib
import difflib
import doctest
import io
import os
import re
import signal
import subprocess
import sys
import tempfile
import types
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any  # what the blocks of a page define

from srcgrad.core.errors import DifferentiationError

ROOT = Path(__file__).resolve().parent.parent
SHIPPED = ROOT / "srcgrad" / "core" / "errors.md"  # docs/errors.md, for `srcgrad explain E5001` where no docs are
LIMIT = 300  # seconds for a command, or for the statements of a block
_FENCE = re.compile(r"^```(\w+)(?: title=\"([^\"]+)\")?\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file that it stands for, its text, and where the text begins."""

    language: str
    title: str
    text: str
    start: int = 0


def blocks(text: str) -> list[Block]:
    """The fenced blocks of a page.

    >>> blocks("Hello.\\n```python\\nx = 1\\n```\\n")
    [Block(language='python', title='', text='x = 1\\n', start=17)]
    """
    return [Block(m[1], m[2] or "", m[3], m.start(3)) for m in _FENCE.finditer(text)]


def sections(text: str) -> list[str]:
    """A text cut before each heading of second level.

    >>> sections("# Errors\\n\\n## A\\na\\n## B\\nb\\n")
    ['# Errors\\n\\n', '## A\\na\\n', '## B\\nb\\n']
    """
    return re.split(r"^(?=## )", text, flags=re.MULTILINE)


def true_page(text: str) -> str:
    """The page as it should be: what its blocks show, replaced by what they give."""
    made, end = "", 0
    place = "ipykernel_0/{}.py" if "<!-- cells -->" in text else "page{}/model.py"
    with _empty_folder() as folder:
        page = sys.modules["page"] = types.ModuleType("page")
        names = page.__dict__
        raised = None
        for number, block in enumerate(blocks(text)):
            shown = block.text
            if block.title:
                shown = _file(block, folder / block.title)
            elif block.language == "console":
                shown = _commands(block)
            elif block.language == "text" and raised:
                shown, raised = _unless_same(block.text, raised), None
            elif block.language == "text" and re.match(r"E\d{4} ", block.text):
                raise SystemExit(f"the page says that what stands before fails, and it does not:\n{block.text}")
            elif block.language == "python" and ">>> " in block.text:
                shown = _session(block, names)
            elif block.language == "python":
                raised = _statements(block, folder / place.format(number), names)
            made, end = made + text[end : block.start] + shown, block.start + len(block.text)
        if raised:
            raise SystemExit(f"the page does not say that it fails with\n{raised}")
    return made + text[end:]


@contextlib.contextmanager
def _empty_folder() -> Iterator[Path]:
    known = set(sys.modules)
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        sys.path.insert(0, name)
        try:
            yield Path(name)
        finally:
            sys.path.remove(name)
            os.chdir(ROOT)
            for module in set(sys.modules) - known:
                if (getattr(sys.modules[module], "__file__", None) or "").startswith(name):
                    del sys.modules[module]


def _file(block: Block, path: Path) -> str:
    if not path.exists():
        path.write_text(block.text, encoding="utf-8")
    return path.read_text(encoding="utf-8")


def _commands(block: Block) -> str:
    made = ""
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        line, _, expected = part.partition("\n")
        program, _, rest = line.partition(" ")
        if program in ("srcgrad", "python") and not rest.startswith("-m venv"):
            called = f"{sys.executable} {'-m srcgrad ' if program == 'srcgrad' else ''}{rest}"
            status, printed = _run(called, line)
            if status and not expected:
                raise SystemExit(f"$ {line}\n{printed}")
            if expected:
                expected = _unless_same(expected, printed)
        made += f"$ {line}\n{expected}"
    return made


def _run(called: str, line: str) -> tuple[int, str]:
    """Exit status of a command, and what it prints; at the time limit, all processes that it has started end."""
    pipe = subprocess.PIPE
    with subprocess.Popen(called, shell=True, text=True, stdout=pipe, stderr=pipe, start_new_session=True) as process:
        try:
            printed, told = process.communicate(timeout=LIMIT)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            raise SystemExit(f"$ {line}\nhas not come to an end in {LIMIT} seconds") from None
    return process.returncode, printed + told


@contextlib.contextmanager
def _limit(text: str) -> Iterator[None]:
    """Let statements of a page end in an error at the time limit."""

    def over(*_: object) -> None:
        raise SystemExit(f"{text}\nhas not come to an end in {LIMIT} seconds")

    before = signal.signal(signal.SIGALRM, over)
    signal.alarm(LIMIT)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _session(block: Block, names: dict[str, Any]) -> str:
    made = ""
    for part in re.split(r"^>>> ", block.text, flags=re.MULTILINE)[1:]:
        source, expected = re.fullmatch(r"([^\n]*\n(?:\.\.\. [^\n]*\n)*)(.*)", part, re.DOTALL).groups()
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed), _limit(source):
            exec(compile(source.replace("\n... ", "\n"), "<page>", "single"), names)
        made += f">>> {source}{_unless_same(expected, printed.getvalue())}"
    return made


def _unless_same(shown: str, given: str) -> str:
    """What the page shows if `...` in it can stand for the rest of what was given, else what was given."""
    same = doctest.OutputChecker().check_output(shown, given, doctest.ELLIPSIS | doctest.DONT_ACCEPT_BLANKLINE)
    return shown if same else given.rstrip("\n") + "\n" * bool(given)


def _statements(block: Block, path: Path, names: dict[str, Any]) -> str | None:
    """Run a block; the message of the error of srcgrad in which it ends, if it does."""
    path.parent.mkdir(exist_ok=True)
    path.write_text(block.text, encoding="utf-8")
    try:
        with _limit(block.text):
            exec(compile(block.text, str(path), "exec"), names)
    except DifferentiationError as error:
        return f"{error}\n"
    return None


def main() -> int:
    """Check, or write, the pages named on the command line."""
    write = "--write" in sys.argv
    wrong = 0
    for name in [argument for argument in sys.argv[1:] if argument != "--write"]:
        path = ROOT / name
        text = path.read_text(encoding="utf-8")
        parts = sections(text) if path.name in ("errors.md", "limits.md") else [text]
        made = "".join(true_page(part) for part in parts)
        if made != text and write:
            path.write_text(made, encoding="utf-8")
            if path.name == SHIPPED.name:
                SHIPPED.write_text(made, encoding="utf-8")
        elif made != text:
            shown = difflib.unified_diff(text.splitlines(), made.splitlines(), name, "as it is", lineterm="")
            print("\n".join(shown))
            wrong += 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
