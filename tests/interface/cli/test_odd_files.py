"""What the command line meets in the wild: odd files, full disks, readers that leave, files that vanish."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from srcgrad.interface.cli import main

F = b"def f(x):\n    y = x * x\n    return y\n"
READ = {
    "a byte order mark": b"\xef\xbb\xbf" + F,
    "lines of Windows": F.replace(b"\n", b"\r\n"),
    "lines of an old Macintosh": F.replace(b"\n", b"\r"),
    "tabs": F.replace(b"    ", b"\t"),
    "form feeds": b"\x0c\n" + F.replace(b"    y", b"\x0c\n    y"),
    "no last line break": F.rstrip(b"\n"),
    "another encoding": b"# -*- coding: latin-1 -*-\n# caf\xe9\n" + F,
}
REFUSED = {
    "no UTF-8": (b"def f(x):\n    return x * '\xff'\n", "model.py cannot be decoded"),
    "no such encoding": (b"# -*- coding: nonsense -*-\n" + F, "model.py cannot be decoded"),
    "nothing": (b"", "model.py defines no function"),
    "Python 2": (b"def f(x):\n    print 'x'\n    return x\n", "at model.py:2:5"),
    "a null byte": (F + b"\x00\n", "null bytes"),
    "parentheses without end": (b"def f(x):\n    return " + b"(" * 1000 + b"x" + b")" * 1000, "E5016"),
}


@pytest.fixture
def model(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path / "model.py"


@pytest.mark.parametrize("name", READ)
def test_any_text_that_python_reads_is_read(name, model, capfd):
    """The gradient is that of the plain file, but for the line on which the function stands."""
    texts = []
    for content in (F, READ[name]):
        model.write_bytes(content)
        assert main(["dump", "model.py"]) == 0
        texts.append(capfd.readouterr().out.split("\n"))
    assert [line for line in texts[1] if not line.startswith(("#", "    #"))] == [
        line for line in texts[0] if not line.startswith(("#", "    #"))
    ]
    assert not any("\r" in line or "\x0c" in line or "\ufeff" in line for line in texts[1])


@pytest.mark.parametrize("name", REFUSED)
def test_what_python_does_not_read_is_refused_with_a_code(name, model, capfd):
    content, told = REFUSED[name]
    model.write_bytes(content)
    assert main(["dump", "model.py", "-o", "out.py"]) == 1
    error = capfd.readouterr().err
    assert error.startswith("E50") and told in error
    assert max(map(len, error.split("\n"))) < 300
    assert not Path("out.py").exists()


def test_a_folder_and_a_link_to_nowhere(model, capfd):
    model.mkdir()
    Path("gone.py").symlink_to("nowhere.py")
    assert main(["dump", "model.py"]) == main(["dump", "gone.py"]) == 1
    error = capfd.readouterr().err
    assert "the file model.py is a folder" in error and "the file gone.py does not exist" in error
    assert "did you mean" not in error


def run(*words: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "srcgrad", *words], stderr=subprocess.PIPE, check=False, **options)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no /dev/full here")
@pytest.mark.parametrize("words", [("dump", "model.py"), ("rules", "np.sin")], ids=" ".join)
def test_a_full_disk_is_told_of(words, model):
    model.write_bytes(F)
    with open("/dev/full", "wb") as full:
        done = run(*words, stdout=full)
    assert done.returncode == 1
    assert done.stderr.startswith(b"E5015 target cannot be read: standard output cannot be written: No space left")


@pytest.mark.skipif(sys.platform == "win32", reason="there is no sh")
def test_a_closed_output_is_told_of_and_a_reader_may_leave(model):
    model.write_bytes(F)
    python = f'"{sys.executable}" -m srcgrad'
    done = subprocess.run(f"{python} dump model.py >&-", shell=True, stderr=subprocess.PIPE, check=False, timeout=600)
    assert done.returncode == 1 and b"standard output is closed" in done.stderr
    done = subprocess.run(
        f"{python} rules --json | head -c 10", shell=True, capture_output=True, check=False, timeout=600
    )
    assert (len(done.stdout), done.stderr) == (10, b"")


def test_a_watched_file_may_vanish_and_come_back(model):
    model.write_bytes(F)
    command = [sys.executable, "-m", "srcgrad", "dump", "model.py", "-o", "out.py", "--watch"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        try:
            assert process.stderr.readline() == "out.py is written\n"
            model.unlink()
            assert "the file model.py does not exist" in process.stderr.readline()
            assert "x * x" in Path("out.py").read_text()
            model.write_bytes(F.replace(b"x * x", b"x * 3.0"))
            end = time.monotonic() + 30
            while "x * 3.0" not in Path("out.py").read_text():
                assert time.monotonic() < end and process.poll() is None
                time.sleep(0.05)
        finally:
            process.kill()
