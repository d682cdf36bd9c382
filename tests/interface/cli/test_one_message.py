"""Rows 3.19 to 3.22: a mistake has one message, from the library and from the command line."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad

ROOT = Path(__file__).resolve().parents[3]
TEXT = """import numpy as np
import srcgrad


def parity(x):
    odd = x.astype(int) & 1
    return np.sum(np.where(odd, x, -x))


def square(x):
    return x * x


@srcgrad.opaque
def window(x):
    return x


def windowed(x):
    return np.sum(window(x))


def total(x):
    return np.sum(x * x)


@srcgrad.register_vjp(total)
def total_vjp(primals, cotangent, output):
    return (2.0 * cotangent,)


def doubled(x):
    return 2.0 * total(x)
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    made = tmp_path_factory.mktemp("messages")
    (made / "messages_model.py").write_text(TEXT)
    return made


@pytest.fixture
def model(folder, monkeypatch):
    monkeypatch.syspath_prepend(str(folder))
    yield importlib.import_module("messages_model")
    sys.modules.pop("messages_model")


def of_command(folder, *words):
    """What a command prints on standard error; it fails."""
    command = [sys.executable, "-m", "srcgrad", *words]
    done = subprocess.run(
        command,
        cwd=folder,
        text=True,
        check=False,
        capture_output=True,
        env={"PYTHONPATH": str(ROOT)},
        timeout=600,
    )
    assert done.returncode != 0
    return done.stderr


@pytest.mark.parametrize(("name", "code"), [("parity", "E5001"), ("windowed", "E5003")])
def test_dump_says_what_the_library_says(folder, model, name, code):
    """Code, place, excerpt and remedy."""
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(getattr(model, name))(np.ones(2))
    assert caught.value.code == code and caught.value.place is not None
    assert of_command(folder, "dump", f"messages_model.py:{name}").strip() == str(caught.value)


def test_check_says_what_the_library_says(folder, model):
    """A rule's shape is known when it runs, in the text that runs."""
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.vjp(model.doubled, np.ones(2))[1](1.0)
    assert caught.value.code == "E5004"
    given = of_command(folder, "check", "messages_model.py:doubled", "--args", "np.ones(2)")
    assert given.split("\n  at ")[0] == str(caught.value).split("\n  at ")[0]
    assert given.rstrip().endswith(f"what to do: {caught.value.remedy}")


def test_an_integer(folder, model):
    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(model.square)(3)
    assert caught.value.code == "E5002"
    given = of_command(folder, "check", "messages_model.py:square", "--args", "3")
    assert given.startswith("E5002 integer or boolean input: ")
