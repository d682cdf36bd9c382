"""The HTML of a report: it is one file, says the same each time, and does without Pygments."""

from __future__ import annotations

import html.parser
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli import main
from srcgrad.interface.show.side_by_side import PLAIN, colour_lines
from tests.interface.show.test_side_by_side import HEAT

VOID = {"meta", "link", "img", "br"}


class Tags(html.parser.HTMLParser):
    """Whether each element that is opened is closed, and what the code says."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.code: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in VOID:
            self.open.append(tag)
        if tag == "code":
            self.code.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "code" in self.open:
            self.code[-1] += data


def layer(x, w, n):
    h = x
    for _ in range(n):
        h = np.tanh(w * h)
    return np.sum(h)


@pytest.mark.parametrize("target", ["numpy", "opencl"])
def test_a_document_that_is_well_formed_and_holds_all_lines(target: str) -> None:
    report = srcgrad.report(layer, wrt="x", target=target)
    tags = Tags()
    tags.feed(report.html())
    assert tags.open == []
    for line in report.sides.text.split("\n"):
        assert line in tags.code
    assert report.html() == srcgrad.report(layer, wrt="x", target=target).html()
    assert not re.search(r"(src|href)=\"(?!data:)|@import|url\(|https?:", report.html())


def test_colours_change_no_text() -> None:
    lines = ['x = """a', "", "  <b>", '""" # c', "", "y = 1"]
    for language in ("python", "c"):
        tags = Tags()
        tags.feed("".join(f"<code>{line}</code>" for line in colour_lines(lines, language)))
        assert tags.code == lines


def test_without_pygments_it_is_plain_and_says_so(tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def f(x):\n    return x * x < 3 and x\n\n\ndef g(x):\n    return x * x\n")
    command = "import sys; sys.modules['pygments'] = None; from srcgrad.interface.cli import main; "
    command += "sys.exit(main(sys.argv[1:]))"
    given = ["dump", str(tmp_path / "model.py:g"), "--html", "-"]
    done = subprocess.run(
        [sys.executable, "-c", command, *given], capture_output=True, text=True, check=True, timeout=600
    )
    assert html.escape(PLAIN) in done.stdout
    assert '<span class="k">' not in done.stdout
    assert "<code>def g(x):</code>" in done.stdout


def test_the_command_writes_report_and_text(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "heat.py").write_text(HEAT)
    (tmp_path / "other.py").write_text("def good(x):\n    return x * x\n\n\ndef bad(x):\n    return x & 1\n")
    files = [str(tmp_path / "heat.py"), str(tmp_path / "other.py")]
    page, text = tmp_path / "r.html", tmp_path / "grad.py"
    assert main(["dump", *files, "--html", str(page), "-o", str(text)]) == 0
    assert "bad has no derivative: E50" in capsys.readouterr().err
    assert "<h3>bad</h3>" in page.read_text(encoding="utf-8")
    alone = tmp_path / "alone.py"
    assert main(["dump", *files, "-o", str(alone)]) == 0
    assert alone.read_text() == text.read_text()
    assert main(["dump", files[0], "--html", str(page)]) == 0
    assert capsys.readouterr().out == ""


def test_arguments_that_do_not_suit(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "two.py").write_text("def a(x):\n    return x * x\n\n\ndef b(x):\n    return x\n")
    both, one = str(tmp_path / "two.py"), f"{tmp_path / 'two.py'}:a"
    page = tmp_path / "r.html"
    for options, code in (
        ([both, "--html", str(page), "--args", "1.0"], "E5015"),
        ([one, "--args", "1.0"], "E5015"),
        ([one, "--html", str(page), "--args", "1"], "E5002"),
        ([one, "--html", str(page), "--check", "-o", str(page)], "E5015"),
        ([one, "--html", str(tmp_path / "no" / "r.html")], "E5015"),
    ):
        assert main(["dump", *options]) == 1
        assert capsys.readouterr().err.startswith(code)
        assert not page.exists()


def test_derivatives_show_themselves_in_notebooks() -> None:
    marked = srcgrad.differentiate(layer, wrt="w")
    for made in (marked, marked.grad, srcgrad.hvp(layer), srcgrad.jacobian(layer), srcgrad.hessian(layer)):
        assert '<section class="pair"' in made._repr_html_()
    slope = srcgrad.grad(layer, wrt="w")
    slope(np.ones(3), np.ones(3), 2)
    assert slope.report().sides.text == slope.source
    refused = srcgrad.grad(lambda x: x & 1)._repr_html_()
    assert "E5001" in refused
    with pytest.raises(DifferentiationError, match="E5006"):
        srcgrad.report(layer, mode="backwards")
