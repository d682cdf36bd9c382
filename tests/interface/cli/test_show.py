"""`srcgrad show`: what belongs together has one number, and one colour on a terminal."""

from __future__ import annotations

import json
import re

import pytest

from srcgrad.interface.cli import main

MODEL = (
    "import numpy as np\n\n\ndef f(x, n):\n    k = 2.0 * n\n    lost = n + 1\n    for _ in range(n):\n"
    "        x = np.sin(x * x)\n    return np.sum(x) * k\n"
)


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def sides(text):
    """The two columns of what was printed."""
    rows = [line.split(" | ") if " | " in line else [line.removesuffix(" |"), ""] for line in text.splitlines()]
    return [row[0] for row in rows], [row[1] for row in rows]


def test_source_left_and_gradient_right_with_the_users_numbers(model, capfd):
    assert main(["show", "model.py", "--wrt", "x", "--width", "120"]) == 0
    left, right = sides(capfd.readouterr().out)
    assert left[0].rstrip() == "model.py:4 f" and right[0] == "f_grad"
    assert [line[0] for line in left[1:7]] == list("456789")
    numbered = {line[0] for line in right[1:] if line[:1].isdigit()}
    assert numbered == {"5", "7", "8", "9"}  # what is lost has no partner
    assert "8         # line 8: x = np.sin(x * x)" in [line.rstrip() for line in right]


def test_lines_that_belong_together_have_one_colour(model, monkeypatch, capfd):
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["show", "model.py", "--wrt", "x", "--width", "120"]) == 0
    text = capfd.readouterr().out
    colours = {}
    for style, number in re.findall(r"\x1b\[([\d;]+)m(\d) ", text):
        colours.setdefault(number, set()).add(style.removeprefix("2;"))
    assert set(colours) == set("456789")
    assert all(len(styles) == 1 for styles in colours.values())
    assert len({min(styles) for styles in colours.values()}) == 6
    assert re.search(r"\x1b\[2;\d+m6     lost", text)  # inactive lines are faint


def test_no_line_is_wider_than_the_terminal(model, capfd):
    assert main(["show", "model.py", "--width", "64", "--wrt", "x"]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert max(map(len, lines)) <= 64
    _, right = sides("\n".join(lines))
    assert "".join("".join(right).split()).count("x_bar=") >= 2


def test_json_tells_what_belongs_together(model, capfd):
    assert main(["show", "model.py", "--wrt", "x", "--json"]) == 0
    [pair] = json.loads(capfd.readouterr().out)
    assert (pair["function"], pair["origin"], pair["name"]) == ("f", "model.py:4", "f_grad")
    made = {line["group"] for line in pair["made"] if "np.cos" in line["text"]}
    assert made == {8}
    assert [line["role"] for line in pair["source"] if "lost" in line["text"]] == ["inactive"]


def test_several_targets_and_one_that_fails(model, capfd):
    (model.parent / "bad.py").write_text("def g(x):\n    yield x\n", encoding="utf-8")
    assert main(["show", "bad.py", "model.py", "--wrt", "x"]) == 1
    text, errors = capfd.readouterr()
    assert text.startswith("model.py:4 f")
    assert errors.startswith("1 of 2 targets failed:\nbad.py: E5005")
