"""The lines of `srcgrad completion`, in the shells themselves."""

from __future__ import annotations

import os
import pty
import select
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from srcgrad.interface.cli.listings import LINES

START = {"bash": ["bash", "--norc", "--noprofile", "-i"], "zsh": ["zsh", "-f", "-i"]}
READY = {"bash": "", "zsh": "autoload -Uz compinit; compinit -D; "}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where the shell stands: a module whose name has a space, and the command as it is installed."""
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "srcgrad").write_text(f'#!/bin/sh\nexec "{sys.executable}" -m srcgrad "$@"\n')
    (tmp_path / "bin" / "srcgrad").chmod(0o755)
    (tmp_path / "model.py").write_text("def loss(x):\n    return x * x\n\n\ndef local(x):\n    return x\n")
    (tmp_path / "the net.py").write_text("def loss(x):\n    return x * x\n")
    root = Path(__file__).resolve().parents[3]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}")
    monkeypatch.setenv("PYTHONPATH", str(root))
    monkeypatch.setenv("TERM", "dumb")
    return tmp_path


def typed(shell: str, folder: Path, keys: list[tuple[str, str]]) -> str:
    """What an interactive shell shows for keys; after each it is waited for what should come."""
    (folder / "lines").write_text(LINES[shell])
    keys = [(f"{READY[shell]}source bin/../lines; echo rea''dy\n", "ready"), *keys]
    master, slave = pty.openpty()
    with subprocess.Popen(START[shell], stdin=slave, stdout=slave, stderr=slave, start_new_session=True) as process:
        os.close(slave)
        shown = b""
        try:
            for each, expected in keys:
                os.write(master, each.encode())
                seen, end = len(shown), time.monotonic() + 30
                while expected.encode() not in shown[seen:]:
                    assert time.monotonic() < end, f"{expected!r} does not come: {shown.decode()!r}"
                    if select.select([master], [], [], 0.1)[0]:
                        shown += os.read(master, 4096)
        finally:
            process.kill()
            os.close(master)
    return shown.decode()


@pytest.mark.parametrize("shell", ["bash", "zsh"])
def test_a_line_is_completed_and_runs(shell, folder):
    """A command, a file, a function of it, the value of an option behind `=`; Enter runs what stands there."""
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    several = "\t" if shell == "zsh" else "\t\t"
    keys = [
        ("srcgrad du\t", "mp "),
        ("mod\t", "py "),
        (f"\b:lo{several}", "local"),
        ("s\t", "s "),
        ("--mode=vj\t", "p"),
    ]
    shown = typed(shell, folder, [*keys, ("\n", "def loss_vjp(x):")])
    assert "value and pullback with respect to x" in shown


@pytest.mark.skipif(shutil.which("zsh") is None, reason="zsh is not installed")
def test_zsh_quotes_a_space(folder):
    assert typed("zsh", folder, [("srcgrad dump the\t", r"the\ net.py "), ("\n", "def loss_grad(x, y_bar=1.0):")])


@pytest.mark.skipif(shutil.which("fish") is None, reason="fish is not installed")
def test_fish_completes(folder):
    lines = [
        "srcgrad du",
        "srcgrad dump mod",
        "srcgrad dump model.py:lo",
        r"srcgrad dump the\ ",
        "srcgrad dump --mode=v",
    ]
    asked = "".join(f"complete -C '{line}'; echo; " for line in lines)
    done = subprocess.run(
        ["fish", "--no-config", "-c", f"{LINES['fish']}{asked}"],
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    found = [group.split("\n") for group in done.stdout.strip("\n").split("\n\n")]
    both = ["--mode=value-and-grad", "--mode=vjp"]
    assert found == [["dump"], ["model.py"], ["model.py:local", "model.py:loss"], ["the net.py"], both], done.stderr
