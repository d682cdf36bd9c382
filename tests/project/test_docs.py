"""The pages of the documentation are true: what they show is run, and every error code has its row."""

from __future__ import annotations

import re
import subprocess
import sys

import pytest

from srcgrad.core.errors import CODES
from tests.pages import ROOT, SHIPPED, blocks, sections

DOCS = ROOT / "docs"
EVERY = sorted(path.relative_to(ROOT).as_posix() for path in DOCS.rglob("*.md"))
PAGES = ["README.md", *(page for page in EVERY if blocks((ROOT / page).read_text(encoding="utf-8")))]
ROWS = {
    part.partition("\n")[0][3:]: part
    for part in sections((ROOT / "docs" / "errors.md").read_text(encoding="utf-8"))[1:]
}


@pytest.mark.parametrize("page", PAGES)
def test_page(page):
    """In a process of its own, since a page may add rules; `python -m tests.pages --write` mends a page."""
    command = [sys.executable, "-W", "error", "-m", "tests.pages", page]
    done = subprocess.run(command, cwd=ROOT, text=True, check=False, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_package_has_the_page_of_errors():
    """Not every copy keeps links, so both are files; `python -m tests.pages --write docs/errors.md` writes both."""
    assert SHIPPED.read_text(encoding="utf-8") == (DOCS / "errors.md").read_text(encoding="utf-8")


def test_no_file_is_a_link():
    folders = [ROOT / name for name in ("srcgrad", "docs", "tests", "examples", "benchmarks", ".ci")]
    links = [path for folder in folders for path in folder.rglob("*") if path.is_symlink()]
    assert [path for path in [*links, *ROOT.glob("*")] if path.is_symlink() and path.name[0] != "."] == []


def test_every_code_has_a_row():
    """In the order of the codes, under the title that messages carry."""
    assert list(ROWS) == [f"{code} {title}" for code, title in CODES.items()]


@pytest.mark.parametrize("row", ROWS)
def test_row_fails_and_works(row):
    """A row shows its own code in the message of what fails, and after it a rewrite that is run."""
    code = row.split()[0]
    parts = blocks(ROWS[row])
    title = re.escape(f"{code} {CODES[code]}:")
    [message] = [k for k, part in enumerate(parts) if re.search(rf"^{title}", part.text, re.MULTILINE)]
    assert parts[message].language in ("text", "console")
    assert any(part.language in ("python", "console") for part in parts[message + 1 :])
