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
    if side == "editor":
        text: str = page.input_value("#editor textarea")
        return text
    return "\n".join(page.locator(f"#{side} .line").evaluate_all("all => all.map(line => line.textContent)"))


def point(page: Any, text: str) -> None:
    """Point at a line of the editor, whose text area lies above what is seen."""
    box = page.locator(f"#editor .line:has-text({text!r})").bounding_box()
    page.mouse.move(box["x"] + 120, box["y"] + box["height"] / 2)


def until(page: Any, text: str) -> None:
    """Wait until the derivative is the one of a text."""
    wait(page, f"document.querySelector('#output pre').textContent.includes({text!r})")


def retype(page: Any, text: str) -> None:
    page.click("#editor textarea")
    page.keyboard.press("Control+a")
    page.keyboard.insert_text(text)


def test_it_begins_with_an_example(page: Any) -> None:
    assert shown(page, "output") == dump("-", text=FIRST).text
    assert page.inner_text("#state").startswith("Differentiated in ")


def test_typing_is_answered(page: Any) -> None:
    """Key by key, with the indentation that the editor gives."""
    page.click("#editor textarea")
    page.keyboard.press("Control+a")
    page.keyboard.type("def cube(x: float):\nreturn x * x * x")
    until(page, "def cube_grad(x, y_bar=1.0):")
    assert shown(page, "editor").split("\n")[1] == "    return x * x * x"
    until(page, "x_bar")
    assert "def energy_grad" not in shown(page, "output")


def test_an_error_stands_at_its_line_and_the_derivative_stays(page: Any) -> None:
    before = shown(page, "output")
    retype(page, EXAMPLES["An error"])
    page.wait_for_selector(".wrong")
    assert page.inner_text("#editor .wrong") == "x.astype(int) & 1"
    page.hover("#editor .wrong", force=True)
    assert page.get_attribute("#editor textarea", "title").startswith("E5001 the operator `&` has no derivative")
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

    point(page, "np.tanh")
    assert [line.partition("keeps")[0].strip() for line in lit("editor")] == ["h = np.tanh(h * w + b)"]
    text = dump("-", text=FIRST).text
    below = text.partition("# line 7: ")[2].partition("    # line 5: ")[0].strip().split("\n")
    assert lit("output")[:2] == ["h_stack.append(h)", "h = np.tanh(h * w + b)"]
    assert lit("output")[2:] == [f"# line 7: {below[0]}", *(line.strip() for line in below[1:])]
    page.hover("#output .line:has-text('x_bar = h_bar')")
    assert lit("editor") == ["h = x"]
    page.hover("header h1")
    assert lit("editor") == lit("output") == []
    assert page.inner_text("#editor .inactive") == "    for i in range(n):"
    assert page.inner_text("#editor .kept") == "keeps h, each trip"


def test_with_keys_alone(page: Any) -> None:
    page.focus("#editor textarea")
    page.keyboard.press("Control+Home")
    for _ in range(6):
        page.keyboard.press("ArrowDown")
    wait(page, "document.querySelectorAll('#output .lit').length === 8")
    page.keyboard.press("Escape")
    page.keyboard.press("Tab")  # the editor keeps nobody inside
    assert page.evaluate("document.activeElement.getAttribute('aria-label')") == "The derivative"
    page.keyboard.press("x")
    assert shown(page, "output") == dump("-", text=FIRST).text


def test_keys_indent_and_are_undone(page: Any) -> None:
    def press(*keys: str) -> str:
        for key in keys:
            page.keyboard.press(key)
        return shown(page, "editor")

    retype(page, "")
    page.keyboard.type("def f(x: float):  # one\nif x > 0.0:\nreturn x\nreturn -x")
    text = "def f(x: float):  # one\n    if x > 0.0:\n        return x\n    return -x"
    assert shown(page, "editor") == text
    further = "\n".join(f"    {line}" for line in text.split("\n"))
    assert press("Control+a", "Tab") == further
    assert press("Shift+Tab") == text
    assert press("Shift+Tab").split("\n")[2] == "    return x"
    assert press("Control+z") == text
    assert press("Control+z") == further
    assert press("Control+z", "Control+End", "Enter", "Tab") == f"{text}\n    "
    assert press("Backspace", "Tab", "Tab", "Backspace") == f"{text}\n    "
    page.select_option("#example", "Branches")
    until(page, "def rate_grad")
    page.focus("#editor textarea")
    assert press("Control+z") == f"{text}\n    "


def test_the_copy_is_the_text_area(page: Any) -> None:
    """Line by line and character by character, in a long text."""

    def string(row: int) -> str:
        return "".join(page.locator("#editor .line").nth(row).locator(".s").all_inner_texts())

    lines = "".join(f"    x = np.sin(x) * '{k}' + {k}.5e3  # {'long ' * (k % 20)}\n" for k in range(400))
    whole = f"import numpy as np\n\n\ndef f(x:\n    '''two\n    lines'''\n{lines}    return x"
    page.focus("#editor textarea")
    page.evaluate("text => { const t = document.querySelector('textarea'); t.value = text; t.oninput(); }", whole)
    assert string(5) == "    lines'''"
    page.keyboard.press("Control+Home")
    page.keyboard.insert_text("'''")
    assert (string(3), string(5)) == ("def f(x:", "'''")
    page.keyboard.press("Control+z")
    assert (string(3), string(5)) == ("", "    lines'''")
    copied = "[...document.querySelectorAll('#editor .line')].map((line) => line.textContent).join('\\n')"
    wait(page, f"!document.querySelector('#editor .kept') && {copied} === document.querySelector('textarea').value")
    sizes = page.evaluate(
        """() => {
            const [text, copy] = [document.querySelector('textarea'), document.querySelector('#editor pre')];
            return [text.scrollWidth - text.clientWidth, text.scrollHeight - text.clientHeight,
                    text.offsetWidth - copy.offsetWidth, text.offsetHeight - copy.offsetHeight];
        }"""
    )
    assert all(abs(size) <= 1 for size in sizes), sizes
    page.keyboard.press("Control+End")
    seen = "document.querySelector('#editor')"
    wait(page, f"{seen}.scrollTop + {seen}.clientHeight > {seen}.scrollHeight - 30")


def test_the_derivative_is_copied_as_it_is(page: Any) -> None:
    page.focus("#output pre")
    page.keyboard.press("Control+a")
    page.evaluate(
        "document.addEventListener('copy', (event) => (window.got = event.clipboardData.getData('text/plain')))"
    )
    page.keyboard.press("Control+c")
    wait(page, "window.got")
    assert page.evaluate("window.got") == dump("-", text=FIRST).text


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
        point(page, "np.tanh")
        assert violations(page) == []
        retype(page, EXAMPLES["An error"])
        page.wait_for_selector("#errors li")
        page.wait_for_timeout(400)
        assert violations(page) == []
