"""The explorer in Chromium, end to end: typing, choices, errors at their line, links, downloads."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any  # Playwright is optional

import pytest

from srcgrad.interface.dump import dump
from srcgrad.interface.explorer.worker import EXAMPLES
from tests.browser import Seen, browser, opened, violations, wait
from tests.interface.explorer.server import Explorer, explorer

pytestmark = [pytest.mark.browser, pytest.mark.xdist_group("explorer")]

FIRST = next(iter(EXAMPLES.values()))
COPIED = "navigator.clipboard.writeText = async (text) => { window.copied = text; };"


@pytest.fixture(scope="module")
def both() -> Iterator[tuple[Any, Explorer]]:
    with browser() as context, explorer() as running:
        yield context, running


@pytest.fixture
def page(both: tuple[Any, Explorer]) -> Iterator[Any]:
    """The explorer's page with the first example; afterwards nothing may have gone wrong in it."""
    context, running = both
    with opened(context, running.address, before=COPIED) as (found, seen):
        wait(found, "document.body.dataset.answers")
        yield found
        check(seen, running)


def check(seen: Seen, running: Explorer) -> None:
    assert seen.errors == seen.console == []
    outside = [address for address in seen.requests if not address.startswith((running.address, "data:", "blob:"))]
    assert outside == []


def shown(page: Any, side: str) -> str:
    return "\n".join(page.locator(f"#{side} .cm-line").evaluate_all("all => all.map(line => line.textContent)"))


def until(page: Any, text: str) -> None:
    """Wait until the derivative is the one of a text."""
    wait(page, f"document.querySelector('#output .cm-content').textContent.includes({text!r})")


def retype(page: Any, text: str) -> None:
    page.click("#editor .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_it_begins_with_an_example(page: Any) -> None:
    assert shown(page, "output") == dump("-", text=FIRST).text
    assert page.inner_text("#state").startswith("Differentiated in ")


def test_typing_is_answered(page: Any) -> None:
    """Key by key, with the indentation that the editor gives."""
    page.click("#editor .cm-content")
    page.keyboard.press("Control+a")
    page.keyboard.type("def cube(x: float):\nreturn x * x * x")
    until(page, "def cube_grad(x, y_bar=1.0):")
    assert page.inner_text("#editor .cm-content").split("\n")[1] == "    return x * x * x"
    until(page, "x_bar")
    assert "def energy_grad" not in shown(page, "output")


def test_an_error_stands_at_its_line_and_the_derivative_stays(page: Any) -> None:
    before = shown(page, "output")
    retype(page, EXAMPLES["An error"])
    page.wait_for_selector(".wrong")
    assert page.inner_text("#editor .wrong") == "x.astype(int) & 1"
    assert page.inner_text("#errors button").startswith("E5001 (line 5): the operator `&` has no derivative")
    assert "What to do: use srcgrad.stop_gradient" in page.inner_text("#errors")
    page.click("#errors summary")
    assert page.inner_text("#errors pre").startswith("## E5001 operation not differentiable")
    assert shown(page, "output") == before
    assert "stale" in page.get_attribute("body", "class")
    page.click("#errors button")
    assert page.evaluate("getSelection().toString()") == "x.astype(int) & 1"
    retype(page, "def f(x:\n")
    wait(page, "document.querySelector('#errors').textContent.includes('E5015')")
    retype(page, "def good(x: float):\n    return x\n\n\ndef bad(x):\n    return x & 1\n")
    until(page, "def good_grad")
    assert page.inner_text("#errors button").startswith("E5001 (bad, line 6)")
    assert "stale" not in (page.get_attribute("body", "class") or "")


def test_a_place_behind_characters_of_two_units(page: Any) -> None:
    retype(page, "def f(x):\n    return x * len('\U0001d465\U0001d465') + (x & 1)\n")
    page.wait_for_selector(".wrong")
    assert page.inner_text("#editor .wrong") == "x & 1"


def test_choices(page: Any) -> None:
    page.select_option("#mode", "vjp")
    until(page, "def energy_vjp")
    page.fill("#wrt", "w, b")
    until(page, "with respect to w, b.")
    page.select_option("#target", "opencl")
    until(page, "energy_kernel_1")
    assert shown(page, "output") == dump("-", text=FIRST, mode="vjp", wrt=("w", "b"), target="opencl").text
    page.fill("#wrt", "w, nothing")
    page.wait_for_selector("#errors li")
    assert "E5009" in page.inner_text("#errors")
    page.fill("#wrt", "")
    page.select_option("#example", "Newton's square root")
    until(page, "def newton_sqrt_vjp")


def test_what_is_pointed_at_lights_its_partners(page: Any) -> None:
    def lit(side: str) -> list[str]:
        return [line.strip() for line in page.locator(f"#{side} .lit").all_inner_texts()]

    page.hover("#editor .cm-line:has-text('np.tanh')")
    assert [line.partition("keeps")[0].strip() for line in lit("editor")] == ["h = np.tanh(h * w + b)"]
    text = dump("-", text=FIRST).text
    below = text.partition("# line 7: ")[2].partition("    # line 5: ")[0].strip().split("\n")
    assert lit("output")[:2] == ["h_stack.append(h)", "h = np.tanh(h * w + b)"]
    assert lit("output")[2:] == [f"# line 7: {below[0]}", *(line.strip() for line in below[1:])]
    page.hover("#output .cm-line:has-text('x_bar = h_bar')")
    assert lit("editor") == ["h = x"]
    page.hover("header h1")
    assert lit("editor") == lit("output") == []
    assert page.inner_text("#editor .inactive") == "    for i in range(n):"
    assert page.inner_text("#editor .kept") == "keeps h, each trip"


def test_with_keys_alone(page: Any) -> None:
    page.focus("#editor .cm-content")
    page.keyboard.press("Control+Home")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    assert page.locator("#output .lit").count() == 8
    page.keyboard.press("Tab")  # the editor keeps nobody inside
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "The derivative"
    page.keyboard.press("x")
    assert shown(page, "output") == dump("-", text=FIRST).text


def test_a_link_holds_text_and_choices(page: Any, both: tuple[Any, Explorer]) -> None:
    context, running = both
    text = "def p(x: float):\n    '''\u00e9 \U0001d465 \"'''\n    return x**3.0\n"
    retype(page, text)
    page.select_option("#mode", "forward")
    page.click("#link")
    wait(page, "window.copied")
    link = page.evaluate("window.copied")
    assert link.startswith(f"{running.address}#")
    with opened(context, link) as (other, seen):
        until(other, "def p_jvp")
        assert shown(other, "editor") == text
        retype(other, text.replace("p(", "again("))
        until(other, "def again_jvp")
        wait(other, f"location.href !== {link!r}")
        other.reload()
        until(other, "def again_jvp")
        assert shown(other, "editor") == text.replace("p(", "again(")
        check(seen, running)
    with opened(context, f"{running.address}#nonsense") as (other, _):
        until(other, "def energy_grad")


def test_download(page: Any, tmp_path: Path) -> None:
    with page.expect_download() as waiting:
        page.click("#download")
    waiting.value.save_as(tmp_path / "made.py")
    assert waiting.value.suggested_filename == "model_grad.py"
    assert (tmp_path / "made.py").read_text(encoding="utf-8") == dump("-", text=FIRST).text


def test_text_that_looks_like_html_is_text(page: Any) -> None:
    retype(page, "def f(x: float):\n    '''<img src=x onerror=\"window.ran = 1\">'''\n    return x & '</script>'\n")
    page.wait_for_selector("#errors li")
    assert page.get_attribute(".wrong", "title").startswith("E5001 ")
    assert page.evaluate("window.ran") is None


def test_another_origin_gets_nothing(both: tuple[Any, Explorer], tmp_path: Path) -> None:
    """A page of another origin that knows the whole address, token and all: no answer, no frame, no script."""
    context, running = both
    (tmp_path / "attack.html").write_text(
        f"""<!doctype html><iframe src="{running.address}"></iframe><script>
        window.found = [];
        const note = (name) => (error) => window.found.push(name + (error instanceof Error ? ' failed' : ' worked'));
        const options = {{method: 'POST', body: '{{"text": ""}}', headers: {{'content-type': 'application/json'}}}};
        fetch('{running.address}ask', options).then(note('json'), note('json'));
        fetch('{running.address}examples').then(note('read'), note('read'));
        const size = (reply) => reply.blob().then((data) => data.size || Promise.reject(Error()));
        fetch('{running.address}examples', {{mode: 'no-cors'}}).then(size).then(note('blind'), note('blind'));
        </script>""",
        encoding="utf-8",
    )
    with opened(context, (tmp_path / "attack.html").as_uri()) as (page, _):
        wait(page, "window.found.length === 3")
        assert sorted(page.evaluate("window.found")) == ["blind failed", "json failed", "read failed"]
        assert page.frames[1].locator("#editor").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_accessible(both: tuple[Any, Explorer], scheme: str) -> None:
    context, running = both
    with opened(context, running.address, scheme) as (page, _):
        wait(page, "document.body.dataset.answers")
        page.hover("#editor .cm-line:has-text('np.tanh')")
        assert violations(page) == []
        retype(page, EXAMPLES["An error"])
        page.wait_for_selector("#errors li")
        page.wait_for_timeout(400)
        assert violations(page) == []
