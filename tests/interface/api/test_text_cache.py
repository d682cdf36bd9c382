"""Texts on disk: found again, made again in doubt, never in the way."""

from __future__ import annotations

import collections
import functools
import os
import subprocess
import sys

import numpy as np
import pytest

import srcgrad
from srcgrad.interface.api import execute, text_cache
from srcgrad.interface.cli import main

K = 2.0
TABLE = [np.sin, np.exp]
PAIR = collections.namedtuple("PAIR", "a b")
X = np.arange(1.0, 4.0)


class Layer:
    scale = 0.5

    def act(self, x):
        return np.tanh(x) * self.scale


LAYER = Layer()


def inner(x, p=2):
    return TABLE[0](x) ** p * K


def made(c):
    return lambda x: np.sum(inner(x) * c + LAYER.act(x))


def held(x, h):
    return np.sum(h(x))


def pulled(f, x):
    return srcgrad.vjp(f, x)[1](2.0)


DERIVATIVES = (
    lambda: srcgrad.grad(made(1.5))(X),
    lambda: srcgrad.value_and_grad(made(1.5))(X)[1],
    lambda: srcgrad.hvp(made(1.5))(X, X),
    lambda: srcgrad.jvp(made(1.5), (X,), (X,))[1],
    lambda: pulled(made(2.5), X)[0],
    lambda: srcgrad.jacobian(functools.partial(inner, p=3))(X),
    lambda: srcgrad.grad(lambda x: np.sum(LAYER.act(x)))(X),
    lambda: srcgrad.grad(lambda o, x: np.sum(o.act(x)), 1)(LAYER, X),
    lambda: srcgrad.grad(held)(X, np.cosh),
    lambda: srcgrad.grad(lambda x: x * K)(3.0),
    lambda: srcgrad.grad(lambda p: p.a * p.b**2)(PAIR(2.0, 3.0)),
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv(text_cache.CHOICE, str(tmp_path))
    monkeypatch.setattr(text_cache, "is_known", lambda: True)  # whatever other tests have registered
    return tmp_path / "texts"


@pytest.fixture
def derived(monkeypatch):
    """The modes that were derived, and not read."""
    modes, derive = [], execute._derived
    monkeypatch.setattr(execute, "_derived", lambda *given: modes.append(given[0].mode) or derive(*given))
    return modes


def test_texts_are_found_again(folder, derived, monkeypatch):
    first = [ask() for ask in DERIVATIVES]
    assert len(derived) >= len(DERIVATIVES)
    derived.clear()
    again = [ask() for ask in DERIVATIVES]
    assert derived == []
    monkeypatch.setenv(text_cache.CHOICE, "")
    bare = [ask() for ask in DERIVATIVES]
    assert [k for k, (one, other) in enumerate(zip(first, again, strict=True)) if not np.array_equal(one, other)] == []
    assert [k for k, (one, other) in enumerate(zip(first, bare, strict=True)) if not np.array_equal(one, other)] == []


def test_a_text_that_was_read_goes_out_of_date(folder, derived, monkeypatch):
    asked = (lambda: made(1.5), lambda: lambda x: np.sum(np.sin(x)))
    for ask in asked:
        srcgrad.grad(ask())(X)
    derived.clear()
    g, h = (srcgrad.grad(ask()) for ask in asked)
    before = g(X), h(X)
    assert derived == []
    changes = [
        (sys.modules[__name__], "K", 3.0),
        (sys.modules[__name__], "inner", lambda x: x * x),
        (Layer, "act", lambda self, x: x * x * x),
        (LAYER, "act", lambda x: x * x),
    ]
    for place, name, value in changes:
        monkeypatch.setattr(place, name, value, raising=False)
        last, before = before[0], (g(X), before[1])
        assert not np.array_equal(before[0], last), name
    monkeypatch.setattr(np, "cos", np.exp)
    assert np.array_equal(h(X), before[1])  # the rule of sine means NumPy's own cosine


def test_what_is_damaged_or_of_others_is_made_again(folder, derived, capsys):
    ask = DERIVATIVES[0]
    first = ask()
    (entry,) = folder.iterdir()
    whole = entry.read_bytes()
    assert folder.stat().st_mode & 0o777 == 0o700 and entry.stat().st_mode & 0o777 == 0o600
    damages = (
        lambda: os.truncate(entry, 100),
        lambda: entry.write_bytes(b""),
        lambda: entry.write_bytes(whole.replace(b"return", b"pass; return")),
        lambda: entry.write_bytes(b"\xff" + whole),
        lambda: entry.chmod(0o644),
        lambda: (entry.rename(folder / "real"), entry.symlink_to(folder / "real")),
    )
    for number, damage in enumerate(damages):
        damage()
        derived.clear()
        assert np.array_equal(ask(), first) and derived == ["reverse"], number
        assert entry.read_bytes() == whole and not entry.is_symlink(), number
    (folder / "real").unlink()
    derived.clear()
    folder.chmod(0o755)
    assert np.array_equal(ask(), first) and derived == ["reverse"]
    assert main(["cache"]) == 1 and "not used: others may read it" in capsys.readouterr().out
    folder.chmod(0o700)
    assert main(["cache"]) == 0 and f": 1 texts, {len(whole)} bytes" in capsys.readouterr().out
    assert main(["cache", "clear"]) == 0 and list(folder.iterdir()) == []


def test_a_disk_that_fails_is_no_error(folder, tmp_path, monkeypatch):
    first = DERIVATIVES[0]()
    for entry in folder.iterdir():
        entry.unlink()

    def full(*given):
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as failing:
        failing.setattr(os, "replace", full)
        assert np.array_equal(DERIVATIVES[0](), first) and list(folder.iterdir()) == []
    for place in (os.devnull, f"{os.devnull}/below", str(tmp_path / "file")):
        (tmp_path / "file").write_text("")
        monkeypatch.setenv(text_cache.CHOICE, place)
        assert np.array_equal(DERIVATIVES[0](), first)


def test_the_oldest_go_first(folder, monkeypatch):
    DERIVATIVES[0]()
    (oldest,) = folder.iterdir()
    os.utime(oldest, (1.0, 1.0))
    (folder / "notes.txt").write_text("of the user")
    monkeypatch.setattr(text_cache, "LARGEST", oldest.stat().st_size + 10)
    DERIVATIVES[-1]()
    left = sorted(path.suffix for path in folder.iterdir())
    assert left == [".json", ".txt"] and not oldest.exists()


def test_another_process_loads_no_pass(folder, tmp_path):
    (tmp_path / "model.py").write_text(
        "import sys, numpy as np, srcgrad\n"
        "def f(x): return np.sum(np.sin(x) * x)\n"
        "srcgrad.grad(f)(np.ones(3)), srcgrad.hvp(f)(np.ones(3), np.ones(3))\n"
        "print('srcgrad.pipeline' in sys.modules, 'srcgrad.templates.runtime' in sys.modules)\n"
    )
    asked = [sys.executable, str(tmp_path / "model.py")]
    path = os.pathsep.join([os.path.dirname(text_cache.PACKAGE), os.environ.get("PYTHONPATH", "")])
    run = functools.partial(
        subprocess.run, asked, check=True, capture_output=True, text=True, env={**os.environ, "PYTHONPATH": path}
    )
    assert [run().stdout, run().stdout] == ["True True\n", "False False\n"]
