"""The one list of passes: each may be looked at, and none runs another."""

from __future__ import annotations

import ast
import contextlib
from pathlib import Path

import pytest

from srcgrad import DifferentiationError, pipeline
from srcgrad.interface.cli import main
from srcgrad.pipeline import AGAIN, CALLEE, EFFECTS, MODES, USER
from tests.passes import Watch, records, watched
from tests.texts import texts

SAMPLE = 23  # one of so many texts: of all corpora and modes

ROOT = Path(__file__).resolve().parents[2]
SOURCE = '''\
import numpy as np


def growth(x: np.ndarray, w: float, n: int):
    """It has a loop, a branch, a list, and an array that is written into."""
    seen = []
    y = np.zeros_like(x)
    for k in range(n):
        y[k % 2] += w * x[k % 2]
        seen.append(np.sin(y) * x)
        if k > 1:
            x = x * 0.5
    return np.sum(y * y) + sum(np.sum(each) for each in seen)
'''
NAMES = list(dict.fromkeys(each.name for mode in MODES.values() for each in mode))


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("pipeline") / "model.py"
    path.write_text(SOURCE)
    return f"{path}:growth"


@pytest.mark.parametrize("mode", ["reverse", "forward", "hvp"])
def test_a_function_is_shown_after_each_pass(mode: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    """As Python: the user's function, and, in `hvp`, the text of its gradient, which has passes of its own."""
    for each in dict.fromkeys(MODES[mode]):
        assert main(["explain", model, "--after", each.name, "--mode", mode, "--wrt", "x,w"]) == 0, each.name
        shown = capsys.readouterr().out
        assert shown.startswith(f"# growth, after {each.name}\n")
        ast.parse("\n".join(["def wrapped():", *(f"    {line}" for line in shown.splitlines()), "    pass"]))


def test_a_pass_of_several_places_is_named_with_its_number(model: str, capsys: pytest.CaptureFixture[str]) -> None:
    shown = []
    for which in ("copy_propagation", "copy_propagation:1", "copy_propagation:2"):
        assert main(["explain", model, "--after", which]) == 0
        shown.append(capsys.readouterr().out.partition("\n")[2])
    assert shown[0] == shown[1] != shown[2]


@pytest.mark.parametrize("wrong", ["copy", "copy_propagation:9", "copy_propagation:0", "copy_propagation:x"])
def test_a_pass_that_is_not_there_is_refused(wrong: str, model: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", model, "--after", wrong]) == 1
    assert "the passes are: generators, " in capsys.readouterr().err


def test_no_pass_runs_another() -> None:
    """The list is all that runs passes: a pass calls functions of its own."""
    passes = {(each.run.__module__, each.run.__name__) for mode in MODES.values() for each in mode}
    found = []
    for path in sorted((ROOT / "srcgrad").rglob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(path.read_text())
        names = {name: (module, name) for home, name in passes if home == module}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module:
                names |= {one.asname or one.name: (node.module, one.name) for one in node.names}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
        found += [f"{path.name}:{one.lineno}" for one in calls if names.get(one.func.id) in passes]
    assert found == []


def test_a_name_means_one_pass() -> None:
    runs = {each.run for mode in MODES.values() for each in mode}
    assert len(runs) == len(NAMES)


def test_users_functions_and_texts_of_ours_have_lists_of_their_own() -> None:
    """What is written out, and what is asked for what it changes, has the head of the list."""
    own = [each.name for each in MODES["reverse"] if each.of != AGAIN]
    again = [each.name for each in MODES["reverse"] if each.of != USER]
    assert (
        own[:6] == ["generators", "compound_statements", "known_stars", "item_targets", "checkpoints", "conversions"]
        and "conversions" not in again
    )
    for head in (CALLEE, EFFECTS):
        places = [pipeline.FRONT.index(each) for each in head]
        assert places == sorted(places)


def test_passes_read_and_write_what_they_say() -> None:
    """The records are looked at while passes run on some of the judge's programs."""
    watch = Watch()
    with watched(watch):
        for text in list(texts().values())[::SAMPLE]:
            with contextlib.suppress(DifferentiationError):
                text.make()
    assert sum(watch.ran.values()) > 1000
    wrong = []
    for each in {one.run: one for mode in MODES.values() for one in mode}.values():
        reads, writes = records(watch.reads[each.run]), records(watch.writes[each.run])
        wrong += [f"{each.name} reads {one}" for one in reads if one not in each.reads]
        wrong += [f"{each.name} writes {one}" for one in writes if one not in each.writes]
    assert wrong == []
    assert set(pipeline.FACTS) == {one.run for mode in MODES.values() for one in mode}
