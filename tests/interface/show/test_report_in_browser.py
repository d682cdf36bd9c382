"""The report in Chromium: what lights up, keys, colours, print; no request leaves it and nothing in it runs."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Playwright is optional

import pytest

import srcgrad
from srcgrad.interface.cli import main
from tests.browser import browser, opened, violations
from tests.interface.show.test_side_by_side import HEAT

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("browser")]

ROOT = Path(__file__).resolve().parents[3]
LIT = "[...document.querySelectorAll('.lit')].map(l => [l.closest('.side').classList[1], Number(l.dataset.n)])"
COPIED = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"


@pytest.fixture(scope="module")
def chromium() -> Iterator[Any]:
    with browser() as context:
        yield context


@pytest.fixture(scope="module")
def reports(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """Reports of the heat equation, also as kernels, and of the mixture, with the texts beside them."""
    folder = tmp_path_factory.mktemp("reports")
    (folder / "heat.py").write_text(HEAT, encoding="utf-8")
    mixture = ROOT / "examples" / "mixture" / "model.py"
    asked = {
        "heat": [f"{folder / 'heat.py'}:misfit", "--args", "np.ones(6), np.ones(4), np.ones(6), 0.1, 5"],
        "kernels": [str(folder / "heat.py"), "--target", "opencl"],
        "mixture": [str(mixture)],
    }
    for name, options in asked.items():
        where = ["--html", str(folder / f"{name}.html"), "-o", str(folder / f"{name}_grad.py")]
        assert main(["dump", *options, *where]) == 0
    return {name: folder / f"{name}.html" for name in asked}


def text_of(report: Path) -> list[str]:
    return report.with_name(f"{report.stem}_grad.py").read_text(encoding="utf-8").split("\n")


def cited(lines: list[str], first: str, number: int) -> set[int]:
    """Lines of a text that stand below a comment which cites a line of the source, until the next one or a block."""
    found, inside = set[int](), False
    start = next(k for k, line in enumerate(lines) if line.startswith(first))
    for k, line in enumerate(lines[start:], start + 1):
        if line.startswith("def ") and k > start + 1:
            break
        if re.match(r"\s*# line \d+: ", line):
            inside = f"# line {number}: " in line
        elif not line.strip() or line.strip().startswith(("return", "for ", "while ", "if ", "elif ")):
            inside = False
        if inside:
            found.add(k)
    return found


@pytest.mark.parametrize("name", ["heat", "mixture"])
def test_what_is_pointed_at_lights_its_partners(chromium: Any, reports: dict[str, Path], name: str) -> None:
    """Against what the text says itself: the lines below the comment that cites the line."""
    text = text_of(reports[name])
    with opened(chromium, reports[name].as_uri()) as (page, seen):
        section = page.locator(".pair").last
        made = f"def {section.locator('h2').last.inner_text().split()[0]}("
        told = 0
        for line in section.locator(".source .line[data-g]").all():
            number, group = int(line.get_attribute("data-n")), int(line.get_attribute("data-g"))
            line.hover()
            lit = {(side, n) for side, n in page.evaluate(LIT)}
            assert ("source", number) in lit
            expected = {n for n in cited(text, made, group) if "_bar = np.zeros" not in text[n - 1]}
            assert expected <= {n for side, n in lit if side == "made"}
            told += bool(expected)
            for back in expected:
                section.locator(f".made .line[data-n='{back}']").hover()
                assert {(side, n) for side, n in page.evaluate(LIT)} == lit
        assert told > 3
        page.mouse.move(1, 1)
        assert page.evaluate(LIT) == []
        assert seen.errors == seen.console == []
        assert seen.requests == [reports[name].as_uri()]


def test_lines_apart_are_not_lit(chromium: Any, reports: dict[str, Path]) -> None:
    with opened(chromium, reports["heat"].as_uri()) as (page, _):
        page.hover(".source .line[data-n='8']")
        text = text_of(reports["heat"])
        assert [text[n - 1].strip() for side, n in page.evaluate(LIT) if side == "made"] == []
        page.hover(".source .line[data-n='9']")
        lit = [text[n - 1].strip() for side, n in page.evaluate(LIT) if side == "made"]
        assert "for step in range(steps):" in lit
        assert "for step in reversed(range(steps)):" in lit
        assert not any("np.sin" in line for line in lit)


def test_keys_move_pin_and_go_over(chromium: Any, reports: dict[str, Path]) -> None:
    active = "[document.activeElement.closest('.side')?.classList[1], document.activeElement.innerText]"
    with opened(chromium, reports["heat"].as_uri()) as (page, seen):
        for _ in range(3):  # two buttons, then the source
            page.keyboard.press("Tab")
        assert page.evaluate(active) == ["source", "7"]
        page.keyboard.press("ArrowDown")
        assert page.evaluate(active) == ["source", "8"]
        assert (
            page.inner_text(".status") == "Line 8: carries no derivative: depends on none of start, flow, measured, dt"
        )
        page.keyboard.press("ArrowDown")
        page.keyboard.press("ArrowDown")
        page.keyboard.press("Enter")
        lit = page.evaluate(LIT)
        assert len(lit) > 5
        page.mouse.move(1, 1)
        assert page.evaluate(LIT) == lit
        assert page.get_attribute(".no[aria-pressed=true]", "aria-label") == page.inner_text(".status")
        page.keyboard.press("ArrowRight")
        side, number = page.evaluate(active)
        assert side == "made"
        assert ["made", int(number)] in lit
        page.keyboard.press("End")
        page.keyboard.press("Home")
        page.keyboard.press("Tab")
        assert page.evaluate("document.activeElement === document.body")
        page.keyboard.press("Shift+Tab")
        page.keyboard.press("Escape")
        page.evaluate("document.activeElement.blur()")
        page.mouse.move(2, 2)
        assert page.locator(".no[aria-pressed=true]").count() == 0
        assert seen.errors == []


@pytest.mark.parametrize(("name", "scheme"), [("heat", "light"), ("kernels", "dark"), ("mixture", "light")])
def test_accessible(chromium: Any, reports: dict[str, Path], name: str, scheme: str) -> None:
    with opened(chromium, reports[name].as_uri(), scheme) as (page, _):
        page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true")
        page.hover(".source .line[data-n='16'], .source .line[data-n='9']")
        assert violations(page) == []


def test_kernels_are_folded_below_their_line_and_copied_in_their_place(chromium: Any, reports: dict[str, Path]) -> None:
    with opened(chromium, reports["kernels"].as_uri(), before=COPIED) as (page, _):
        fold = page.locator(".made .line > details").first
        assert "launch(misfit_kernel" in fold.locator("xpath=..").inner_text()
        assert not fold.locator("ol").is_visible()
        fold.locator("summary").click()
        assert "STORE(" in fold.locator("ol").inner_text()
        page.click(".copy")
        page.wait_for_function("window.copied")
        assert page.evaluate("window.copied").split("\n") == text_of(reports["kernels"])


def test_dark_and_light(chromium: Any, reports: dict[str, Path]) -> None:
    both = "[document.querySelector('.srcgrad-report'), document.body]"
    paper = f"{both}.map(e => getComputedStyle(e).backgroundColor)"
    light, dark = ["rgb(255, 255, 255)"] * 2, ["rgb(13, 17, 23)"] * 2
    for scheme, first, second in (("light", light, dark), ("dark", dark, light)):
        with opened(chromium, reports["heat"].as_uri(), scheme) as (page, _):
            assert page.evaluate(paper) == first
            assert page.get_attribute(".theme", "aria-pressed") == str(first == dark).lower()
            page.click(".theme")
            assert page.evaluate(paper) == second


def test_print(chromium: Any, reports: dict[str, Path], tmp_path: Path) -> None:
    """On paper: light, without controls, kernels unfolded, no line cut off."""
    with opened(chromium, reports["kernels"].as_uri(), "dark") as (page, _):
        page.emulate_media(media="print", color_scheme="dark")
        page.set_viewport_size({"width": 720, "height": 1000})
        page.evaluate("dispatchEvent(new Event('beforeprint'))")
        assert not page.locator(".tools").is_visible()
        assert page.locator("details:not([open])").count() == 0
        assert page.evaluate("getComputedStyle(document.querySelector('.made code')).color") == "rgb(31, 35, 40)"
        right = "[...document.querySelectorAll('.line > code')].map(c => c.getBoundingClientRect().right)"
        assert max(page.evaluate(right)) <= 720
        page.evaluate("dispatchEvent(new Event('afterprint'))")
        assert page.locator("details[open]").count() == 0
        page.pdf(path=str(tmp_path / "report.pdf"), format="A4")
        assert (tmp_path / "report.pdf").stat().st_size > 10_000


HOSTILE = '''
import numpy as np


def f(x: float, y: float = 1.0):
    """</script><script>window.ran = 1</script><img src=x onerror="window.ran = 2">"""
    # </style><script>window.ran = 3</script>
    label = "</code></li>\\"><svg onload=window.ran=4>&lt;"
    print(label)
    return x * y  # ]]> <!-- "'
'''


def test_what_looks_like_html_stays_text(chromium: Any, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text(HOSTILE, encoding="utf-8")
    (tmp_path / "b.py").write_text("def g(x):\n    return x & 1, '<script>window.ran = 5</script>'\n", encoding="utf-8")
    main(["dump", str(tmp_path / "a.py"), str(tmp_path / "b.py"), "--html", str(tmp_path / "r.html")])
    with opened(chromium, (tmp_path / "r.html").as_uri()) as (page, seen):
        assert page.evaluate("window.ran") is None
        shown = page.locator(".source").first.inner_text()
        assert "</script><script>window.ran = 1</script><img src=x onerror=" in shown
        assert "<svg onload=window.ran=4>&lt;" in shown
        assert page.locator(".refused").inner_text().startswith("Not differentiated\ng\nE5")
        assert seen.errors == seen.console == []
        assert seen.requests == [(tmp_path / "r.html").as_uri()]
        assert violations(page) == []


PLACES = "[...document.querySelectorAll('.srcgrad-report')].map(e => [e.offsetTop, e.offsetHeight])"


def test_two_reports_in_a_notebook_leave_each_other_and_the_page_alone(chromium: Any, tmp_path: Path) -> None:
    first = srcgrad.grad(lambda x: x * x)._repr_html_()
    second = srcgrad.hvp(lambda x, w: w * x**3)._repr_html_()
    failed = srcgrad.grad(lambda x: x.nothing())._repr_html_()
    around = "<p>text</p><pre>one</pre><ol><li>item</li></ol><code>c</code><button>b</button>"
    style = (
        "[...document.querySelectorAll('body > *:not(.srcgrad-report)')].map(e => JSON.stringify(getComputedStyle(e)))"
    )
    texts = {"plain": around, "with": around + first + second + failed + first}
    for name, text in texts.items():
        (tmp_path / f"{name}.html").write_text(f"<!doctype html><meta charset=utf-8>{text}", encoding="utf-8")
    with opened(chromium, (tmp_path / "plain.html").as_uri()) as (page, _):
        expected = page.evaluate(style)
    with opened(chromium, (tmp_path / "with.html").as_uri()) as (page, seen):
        assert page.evaluate(style) == expected
        for k in (0, 1, 3):
            report = page.locator(".srcgrad-report").nth(k)
            page.mouse.move(0, 0)
            places = page.evaluate(PLACES)
            report.locator(".source button.no").last.hover()
            assert report.locator(".lit").count() > 1
            assert page.evaluate(PLACES) == places, "what is pointed at stays under the pointer"
            assert page.locator(".lit").count() == report.locator(".lit").count()
        assert "E5" in page.locator(".srcgrad-report pre").inner_text()
        assert seen.errors == seen.console == []
