"""The explorer's server: what it answers, whom it answers, and what attacks do to it."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

import srcgrad.explore
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.cli import main
from srcgrad.interface.dump import dump
from srcgrad.interface.explorer.worker import EXAMPLES, LONGEST, Question, answer, question
from tests.interface.explorer.server import Explorer, explorer

pytestmark = pytest.mark.xdist_group("explorer")

SQUARE = "def square(x: float):\n    return x * x\n"


@pytest.fixture(scope="module")
def running() -> Iterator[Explorer]:
    with explorer() as found:
        found.ask(SQUARE)  # its workers are there
        yield found


@pytest.mark.parametrize("name", EXAMPLES)
def test_examples_are_what_dump_gives(name: str) -> None:
    found = answer(Question(EXAMPLES[name]))
    if name == "An error":
        assert [(error["code"], error["line"], error["column"]) for error in found["errors"]] == [("E5001", 5, 10)]
        return
    assert found["errors"] == []
    assert found["text"] == dump("-", text=EXAMPLES[name]).text
    lines = found["text"].split("\n")
    assert len(found["made"]) == len(lines) - 1
    source = EXAMPLES[name].split("\n")
    for line, group in zip(lines[:-1], found["made"], strict=True):
        if line.strip().startswith("# line "):
            assert line.strip().startswith(f"# line {group}: {source[group - 1].strip()[:20]}")


def test_options_and_what_is_told_of_lines() -> None:
    text = EXAMPLES["A layer, applied n times"]
    found = answer(Question(text, mode="vjp", wrt=("x",), target="opencl"))
    assert found["text"] == dump("-", text=text, mode="vjp", wrt=("x",), target="opencl").text
    assert found["source"]["6"] == {"group": 6, "why": "depends on none of x", "keeps": []}
    assert found["source"]["7"]["keeps"] == ["h, each trip"]
    kernel = found["text"].split("\n").index("    h = np.tanh(h * w + b)")
    assert found["made"][kernel] == 7


def test_lines_of_another_text_are_no_lines_of_the_question() -> None:
    """The source of a second derivative is the text of the first, whose lines have other numbers."""
    found = answer(Question("import numpy as np\ndef f(x):\n    return np.sum(np.sin(x) * x)\n", mode="hvp"))
    assert found["errors"] == []
    assert set(found["made"]) == {0}
    assert found["source"] == {}


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ([], "E5015"),
        ({"text": 1}, "E5015"),
        ({"text": "", "mode": "backwards"}, "E5015"),
        ({"text": "", "target": "cuda"}, "E5019"),
        ({"text": "", "wrt": "x, 1"}, "E5009"),
        ({"text": "x" * (LONGEST + 1)}, "E5015"),
    ],
)
def test_a_question_that_is_none(given: object, code: str) -> None:
    with pytest.raises(DifferentiationError) as caught:
        question(given)
    assert caught.value.code == code


def test_the_page_and_what_it_may_do(running: Explorer) -> None:
    status, headers, body = running.request()
    assert (status, headers["content-type"]) == (200, "text/html; charset=utf-8")
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    nonce = policy.partition("'nonce-")[2].partition("'")[0]
    assert f'content="{nonce}"'.encode() in body
    assert headers["cache-control"] == "no-store"
    assert headers["referrer-policy"] == "no-referrer"
    assert "access-control-allow-origin" not in headers
    assert nonce not in running.request()[2].decode()
    for file, kind in (("editor.js", "javascript"), ("explore.css", "css")):
        status, headers, _ = running.request(path=f"{running.path}static/{file}")
        assert (status, headers["content-type"]) == (200, f"text/{kind}; charset=utf-8")


def test_who_is_turned_away(running: Explorer) -> None:
    """No token, another host (a name that was made to point here), another origin, another site."""
    local = f"127.0.0.1:{running.port}"
    body = json.dumps({"text": SQUARE})
    ask, json_ = f"{running.path}ask", {"content_type": "application/json"}
    assert running.request(path="/")[0] == 403
    assert running.request(path="/" + "x" * 32 + "/")[0] == 403
    assert running.request(path=running.path[:-2] + "/")[0] == 403
    assert running.request(path="//" + running.path)[0] == 403
    assert running.request(host="attacker.example")[0] == 403
    assert running.request(host="attacker.example:" + str(running.port))[0] == 403
    for origin in ("https://attacker.example", "null", f"http://127.0.0.1:{running.port + 1}", f"https://{local}"):
        status, headers, found = running.request("POST", ask, body, origin=origin, **json_)
        assert (status, b"x_bar" in found) == (403, False)
        assert "access-control-allow-origin" not in headers
    assert running.request("POST", ask, body, sec_fetch_site="cross-site", **json_)[0] == 403
    assert running.request("POST", ask, body, sec_fetch_site="same-site", **json_)[0] == 403
    assert running.request("OPTIONS", ask, origin="https://attacker.example", **json_)[0] == 403
    assert running.request("POST", ask, body, content_type="text/plain")[0] == 415
    assert running.request("POST", ask, "{", **json_)[0] == 400
    assert running.request("POST", ask, "[" * 100_000, **json_)[0] == 400
    assert running.request("GET", ask)[0] == 405
    for path in ("static/../server.py", "static/..%2fserver.py", "static/%2e%2e/answer.py"):
        assert running.request(path=running.path + path)[0] in (403, 404)
    assert running.request("POST", ask, body, origin=f"http://{local}", sec_fetch_site="same-origin", **json_)[0] == 200
    assert running.request("POST", ask, body, origin=f"http://localhost:{running.port}", **json_)[0] == 200


@pytest.mark.skipif(sys.platform == "win32", reason="all addresses of 127.0.0.0/8 are one machine's on Linux alone")
def test_only_this_machine_is_served(running: Explorer) -> None:
    with pytest.raises(OSError), socket.create_connection(("127.0.0.2", running.port), timeout=2):
        pass


RUN = """
import os
open({file!r}, "w")
os.system("touch " + {file!r})
__import__("pathlib").Path({file!r}).touch()


class Trap:
    open({file!r}, "w")


@open({file!r}, "w")
def decorated(x):
    return x


def f(x: float, y: open({file!r}, "w") = open({file!r}, "w")):
    return x * x * Trap.value


def g(x: float):
    return eval("open({file!r}, 'w')") * x + exec("1") * x
"""


def test_nothing_that_is_typed_is_run(running: Explorer, tmp_path: Path) -> None:
    file = str(tmp_path / "ran")
    running.ask(RUN.format(file=file))
    running.ask(
        f"import srcgrad\n{SQUARE}@srcgrad.adjoint(square)\ndef r(z, x=open({file!r}, 'w')):\n    d[x] = d[z]\n"
    )
    running.ask(SQUARE, wrt=f"__import__('os').system('touch {file}')")
    assert not os.path.exists(file)


DEEP = 100_000
LONG = "    x = np.sin(x) * x\n"
ATTACKS = {
    "a long text": "x = 1\n" * 1_000_000,
    "parentheses": f"def f(x):\n    return {'(' * DEEP}x{')' * DEEP}\n",
    "brackets within the limit": f"def f(x):\n    return {'[' * 20_000}x{']' * 20_000}\n",
    "minus signs": f"def f(x):\n    return {'-' * 45_000}x\n",
    "a long sum": f"def f(x):\n    return {'x+' * 20_000}x\n",
    "attributes": f"def f(x):\n    return x{'.T' * 20_000}\n",
    "a long function": f"import numpy as np\ndef f(x):\n{LONG * 2_000}    return np.sum(x)\n",
    "a null": "def f(x):\n    return x\0\n",
    "half a character": "def f(x):\n    return x # \ud800\n",
    "a large power": "def f(x):\n    return x * 9**9**9**9\n",
    "a long name": f"def f({'x' * 40_000}):\n    return {'x' * 5}\n",
}


@pytest.mark.parametrize("name", ATTACKS)
def test_attacks_are_answered_within_the_limit(running: Explorer, name: str) -> None:
    """And the next question is answered as if nothing had been."""
    found, _ = running.timed(ATTACKS[name])
    assert name in ("a large power", "half a character") or found["errors"][0]["code"].startswith("E50")
    assert running.ask(SQUARE)["errors"] == []
    assert running.process.poll() is None


def test_what_takes_too_long_is_ended(running: Explorer) -> None:
    [error] = running.ask(ATTACKS["a long function"])["errors"]
    assert (error["code"], error["message"]) == ("E5016", "the answer takes too long")


def test_fifty_at_once(running: Explorer) -> None:
    """Each is answered, with its own answer."""
    texts = [f"def f{k}(x: float):\n    return x * {k}.0\n" for k in range(50)]
    with ThreadPoolExecutor(50) as pool:
        found = list(pool.map(running.ask, texts))
    for k, one in enumerate(found):
        assert f"def f{k}_grad(x" in one["text"]


def test_a_port_that_is_taken(running: Explorer, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explore", "--no-browser", "--port", str(running.port)]) == 1
    assert capsys.readouterr().err.startswith(f"E5015 target cannot be read: port {running.port} cannot be used")


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    with pytest.raises(DifferentiationError, match="the explorer needs uvicorn") as caught:
        srcgrad.explore.serve()
    assert caught.value.code == "E5028"
