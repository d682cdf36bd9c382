"""`srcgrad dump` at work: stale files, files that are watched, Ctrl-C; and what shells complete."""

from __future__ import annotations

import io
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

import pytest

from srcgrad.interface.cli import main
from srcgrad.interface.cli.listings import LINES, complete
from tests.pages import ROOT

MODEL = "import numpy as np\n\n\ndef f(x, w):\n    return np.sum(np.tanh(x * w))\n"
REFUSED = "def g(x):\n    return eval('2.0 * x')\n"


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "model.py"
    path.write_text(MODEL, encoding="utf-8")
    return path


def test_check_tells_a_stale_file_and_writes_nothing(model, tmp_path, capfd):
    command = ["dump", "model.py", "--wrt", "w", "-o", "grad.py"]
    assert main([*command, "--check"]) == 1
    assert capfd.readouterr().err.startswith("grad.py does not exist\n")
    assert main(command) == 0
    assert main([*command, "--check"]) == 0
    assert capfd.readouterr() == ("", "")
    model.write_text(MODEL.replace("tanh", "sinh"), encoding="utf-8")
    before = (tmp_path / "grad.py").read_bytes()
    assert main([*command, "--check"]) == 1
    errors = capfd.readouterr().err
    assert errors.startswith("grad.py is stale\n") and "+    # line 5: return np.sum(np.sinh(x * w))" in errors
    assert (tmp_path / "grad.py").read_bytes() == before


def test_check_of_files_that_say_how_they_were_made(model, tmp_path, capfd):
    (tmp_path / "made").mkdir()
    assert main(["dump", "model.py:f", "--standalone", "-o", "made/one_grad.py"]) == 0
    assert main(["dump", "model.py:f", "--standalone", "--mode", "vjp", "-o", "made/two_grad.py"]) == 0
    assert main(["dump", "--check", "**/*_grad.py"]) == 0
    two = tmp_path / "made" / "two_grad.py"
    two.write_text(two.read_text(encoding="utf-8").replace("np.tanh", "np.cosh"), encoding="utf-8")
    assert main(["dump", "--check", "**/*_grad.py"]) == 1
    assert capfd.readouterr().err.startswith("made/two_grad.py is stale\n")
    assert main(["dump", "--check", "model.py"]) == 1
    assert "model.py does not say how it was made" in capfd.readouterr().err
    assert pathlib.Path.cwd() == tmp_path


def test_the_hook_for_pre_commit_is_this_command(model, tmp_path, capfd):
    """As pre-commit runs it: the entry and its arguments, without names of files."""
    lines = (ROOT / ".pre-commit-hooks.yaml").read_text(encoding="utf-8").splitlines()
    fields = {key.strip(" -"): value.strip() for key, _, value in (line.partition(":") for line in lines)}
    assert fields["pass_filenames"] == "false"
    command = [*fields["entry"].split()[1:], fields["args"].strip('[]"')]
    assert main(command) == 1
    assert "no file matches **/*_grad.py" in capfd.readouterr().err
    assert main(["dump", "model.py", "--standalone", "-o", "model_grad.py"]) == 0
    assert main(command) == 0
    model.write_text(MODEL + "\n# more\n", encoding="utf-8")
    assert main(command) == 1


def wait_for(condition, process):
    """Whether something comes true within half a minute, while a process runs."""
    for _ in range(600):
        if condition():
            return True
        assert process.poll() is None, process.stderr.read()
        time.sleep(0.05)
    return False


def test_watch_writes_again_when_a_file_is_saved_and_ends_with_ctrl_c(model, tmp_path):
    """A file that is imported counts; an error leaves the output as it was; nothing is left behind."""
    model.write_text(MODEL.replace("import numpy", "from other import k\nimport numpy").replace("x * w", "x * w * k"))
    (tmp_path / "other.py").write_text("k = 2.0\n")
    out = tmp_path / "grad.py"
    command = [sys.executable, "-m", "srcgrad", "dump", "model.py", "-o", "grad.py", "--watch"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert wait_for(lambda: out.exists(), process)
            assert "k = 2.0\n" in out.read_text()
            (tmp_path / "other.py").write_text("k = 30.0\n")
            assert wait_for(lambda: "k = 30.0\n" in out.read_text(), process)
            model.write_text(REFUSED)
            told = [process.stderr.readline() for _ in range(3)]
            assert told[:2] == ["grad.py is written\n"] * 2 and told[2].startswith("E5005")
            assert "k = 30.0\n" in out.read_text()
            model.write_text(MODEL)
            assert wait_for(lambda: "k = 30.0\n" not in out.read_text(), process)
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 130
        finally:
            process.kill()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["grad.py", "model.py", "other.py"]


def test_standard_input_cannot_be_watched(capfd, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.StringIO(MODEL))
    assert main(["dump", "-", "--watch", "-o", "grad.py"]) == 1
    assert "standard input cannot be watched" in capfd.readouterr().err


def test_completion_of_targets_and_operations(model, tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "notes.txt").write_text("")
    model.write_text(MODEL + "\n\ndef other(x):\n    return x\n", encoding="utf-8")
    assert complete(["dump", ""]) == ["folder/", "model.py"]
    assert complete(["dump", "mo"]) == ["model.py"]
    assert complete(["dump", "model.py:"]) == ["model.py:f", "model.py:other"]
    assert complete(["check", "model.py:f,o"]) == ["model.py:f,other"]
    assert complete(["dump", "model.py", "--mode", "f"]) == ["forward"]
    assert complete(["dump", "-o", "mo"]) == ["model.py"]
    assert complete(["rules", "np.tan"]) == ["np.tan", "np.tanh", "np.tan.at", "np.tanh.at"]
    assert complete([""])[0] == "dump" and "--version" not in complete([""])
    assert complete(["--v"]) == ["--version"]
    assert complete(["nonsense", ""]) == []


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
def test_bash_completes(model, tmp_path):
    """As readline calls it: `:` breaks words, and what stands before it must not come back."""
    (tmp_path / "srcgrad").write_text(f'#!/bin/sh\nexec {sys.executable} -m srcgrad "$@"\n')
    (tmp_path / "srcgrad").chmod(0o755)
    script = LINES["bash"] + (
        'try() { COMP_LINE="$*"; COMP_POINT=${#COMP_LINE}; _srcgrad 2>/dev/null; printf "%s\\n" "${COMPREPLY[@]}"; }\n'
        "COMP_WORDS=(srcgrad du); COMP_CWORD=1; try srcgrad du\n"
        "COMP_WORDS=(srcgrad dump model.py : ''); COMP_CWORD=4; try srcgrad dump model.py:\n"
    )
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
        check=False,
        timeout=600,
    )
    assert done.stdout.splitlines() == ["dump", "f"], done.stderr


def test_each_shell_has_its_lines(capfd):
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        assert f"srcgrad completion {shell}" in capfd.readouterr().out
    assert main(["completion", "fish", "--", "du"]) == 0
    assert capfd.readouterr().out == "dump\n"
