"""What the documentation refers to is there: pages, headings, files, public names; every page can be reached."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
from pathlib import Path

import pytest

import srcgrad
from tests.pages import ROOT
from tests.project.test_docs import DOCS, EVERY

TEXTS = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md", *EVERY]
_LINK = re.compile(r"!?\[[^\]]*\]\(([^)\s]+)\)")
_FENCED = re.compile(r"^```.*?^```$|`[^`\n]*`", re.MULTILINE | re.DOTALL)
_HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def links(page):
    """The links of a page, those in code apart."""
    return _LINK.findall(_FENCED.sub("", (ROOT / page).read_text(encoding="utf-8")))


def anchors(path):
    """The names under which headings are found, as Python-Markdown spells them."""
    text = re.sub(r"^```.*?^```$", "", path.read_text(encoding="utf-8"), flags=re.MULTILINE | re.DOTALL)
    plain = [re.sub(r"[^\w\s-]", "", _LINK.sub("", heading)).strip().lower() for heading in _HEADING.findall(text)]
    return [re.sub(r"[-\s]+", "-", heading) for heading in plain]


def dead(page):
    """Those links of a page that lead nowhere in the repository."""
    found = []
    for link in links(page):
        file, _, anchor = link.partition("#")
        if "://" in link:
            continue
        target = (ROOT / page).parent / file if file else ROOT / page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


@pytest.mark.parametrize("page", TEXTS)
def test_no_link_is_dead(page):
    assert dead(page) == []


def test_dead_links_are_seen(tmp_path, monkeypatch):
    page = "[a](gone.md) [b](#no-such) [c](there.md#one-two) `[d](code.md)` [e](there.md#three)\n```\n[f](x.md)\n```\n"
    (tmp_path / "page.md").write_text(page, encoding="utf-8")
    (tmp_path / "there.md").write_text("# One: `two`\n", encoding="utf-8")
    monkeypatch.setattr("tests.project.test_links.ROOT", tmp_path)
    assert dead("page.md") == ["gone.md", "#no-such", "there.md#three"]


def test_every_page_is_in_the_navigation():
    nav = (ROOT / "mkdocs.yml").read_text(encoding="utf-8").partition("\nnav:\n")[2]
    listed = re.findall(r"^ +- (?:[^:\n]*: )?(\S+\.md)$", re.split(r"^\S", nav, flags=re.MULTILINE)[0], re.MULTILINE)
    assert sorted(f"docs/{page}" for page in listed) == EVERY
    assert len(set(listed)) == len(listed)


def test_pages_stay_inside_of_the_documentation():
    """A page that is built knows nothing of files beside its folder."""
    for page in EVERY:
        for link in links(page):
            if "://" not in link and not link.startswith("#"):
                there = os.path.normpath((ROOT / page).parent / link.partition("#")[0])
                assert Path(there).is_relative_to(DOCS), (page, link)


def test_every_public_name_is_in_the_reference():
    """And what the page names is there."""
    named = re.findall(r"^::: (\S+)$", (DOCS / "api.md").read_text(encoding="utf-8"), re.MULTILINE)
    public = [name.partition("srcgrad.")[2] for name in named if name != "srcgrad.interface.api.derivative.Derivative"]
    assert sorted(public) == sorted(srcgrad.__all__)
    assert all(getattr(srcgrad, name).__doc__ for name in public)


def test_sessions_of_docstrings_are_code():
    """Markdown would show `>>> x` as a quotation of a quotation; what is fenced already stays."""
    fenced = runpy.run_path(str(DOCS / "sessions.py"))["fenced"]
    lines = ["Squares.", "", ">>> 2 * 2", "4", "", "```python", ">>> 1", "1", "```", "", ">>> 3"]
    assert fenced(lines) == [
        "Squares.", "", "```pycon", ">>> 2 * 2", "4", "```", "",
        "```python", ">>> 1", "1", "```", "", "```pycon", ">>> 3", "```",
    ]  # fmt: skip


def rows_of_glossary():
    """Each term of the glossary with the modules of its row."""
    lines = [
        line.split("|")[1:-1]
        for line in (DOCS / "glossary.md").read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    return {
        term.strip(): re.findall(r"`([^`]+)`", modules)
        for term, _, modules, _ in lines
        if term.strip() not in ("Term", "---")
    }


def test_modules_of_the_glossary_are_there():
    """A term lives in modules that exist, and none is told twice."""
    rows = rows_of_glossary()
    assert len(rows) > 40
    assert [term for term, modules in rows.items() if not modules] == []
    assert [
        one for modules in rows.values() for one in modules if importlib.util.find_spec(f"srcgrad.{one}") is None
    ] == []
