"""A process that answers the explorer's questions, one line of JSON each; it is killed where it takes too long.

The answer is the derivative of a text that nobody has run, with what belongs to which line.
"""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any  # what JSON holds

from srcgrad.backend.targets import target_named
from srcgrad.core.errors import DifferentiationError, page_of
from srcgrad.core.processes import command
from srcgrad.interface.dump import dump
from srcgrad.interface.show.side_by_side import Line, Sides, sides

MODES = ("reverse", "forward", "value-and-grad", "vjp", "hvp", "elementwise")
LONGEST = 50_000  # characters of a text: some 1,200 lines
MOST = 50  # parameters that may be named


@dataclass(frozen=True)
class Question:
    """What is asked: a text, and the options of `srcgrad dump`."""

    text: str
    mode: str = "reverse"
    wrt: tuple[str, ...] = ()
    target: str = "numpy"


def question(given: object) -> Question:
    """A question from JSON; E5015 if it is none, or if its text is too long.

    >>> question({"text": "def f(x): return x", "wrt": "x, w"}).wrt
    ('x', 'w')
    """
    if not isinstance(given, dict) or not all(isinstance(value, str) for value in given.values()):
        raise DifferentiationError("E5015", "the question is no object of strings", "give text, mode, wrt, target")
    text, mode, target = given.get("text", ""), given.get("mode", "reverse"), given.get("target", "numpy")
    names = tuple(name.strip() for name in given.get("wrt", "").split(",") if name.strip())
    if len(text) > LONGEST:
        message = f"the text has {len(text):,} characters, and the explorer takes {LONGEST:,}"
        raise DifferentiationError("E5015", message, "use `srcgrad dump`, which takes a text of any length")
    target_named(target)  # refused, if there is none
    if mode not in MODES or len(names) > MOST:
        raise DifferentiationError("E5015", "mode or wrt is not known", f"use {', '.join(MODES)}")
    wrong = next((name for name in names if not name.isidentifier()), None)
    if wrong is not None:
        raise DifferentiationError("E5009", f"{wrong!r} is no name", "write names of parameters, as x, w, b")
    return Question(text, mode, names, target)


def answer(asked: Question) -> dict[str, object]:
    """The text of the derivatives, its lines, and the errors with their places; nothing of the question is run.

    `made` has, for each line of the text, the line of the question that it belongs to, or 0; `source` what is told of
    lines of the question: `inactive` with the reason, and what they record.

    >>> found = answer(Question("def f(x: float):\\n    return x * x\\n"))
    >>> found["text"].split("\\n")[2], found["made"][-3:], found["errors"]
    ('', [2, 2, 0], [])
    """
    try:
        found = dump("-", text=asked.text, wrt=asked.wrt or None, mode=asked.mode, target=asked.target)
    except DifferentiationError as error:
        return {"text": "", "made": [], "source": {}, "errors": [error_as_json(error)]}
    both = sides(found.text, found.parts)
    written = asked.text.split("\n")
    refused = [error_as_json(item.error, item.function.node.lineno, item.function.qualname) for item in found.refused]
    return {
        "text": both.text,
        "made": _lines_of_question(both, written),
        "source": _source(both, written),
        "errors": refused,
    }


def error_as_json(error: DifferentiationError, line: int = 0, name: str = "") -> dict[str, object]:
    """An error as JSON: its place is in the question, if it has one there."""
    place = error.place if error.place is not None and error.place.file == "<stdin>" else None
    return {
        "code": error.code,
        "message": error.message,
        "remedy": error.remedy,
        "about": page_of(error.code),
        "function": name,
        "line": line if place is None else place.line,
        "column": 0 if place is None else place.column,
        "width": 0 if place is None else place.width,
    }


def _is_of(source: Sequence[Line], written: Sequence[str]) -> bool:
    """Whether lines are those of the question, not of a module that it imports or of a generated text."""
    return all(line.number <= len(written) and written[line.number - 1].rstrip() == line.text for line in source)


def _lines_of_question(both: Sides, written: Sequence[str]) -> list[int]:
    """For each line of the derivatives the line of the question that it belongs to."""
    groups: dict[int, int] = {}
    for pair in both.pairs:
        own = _is_of(pair.source, written)
        kernels = [line for made in pair.made for name in made.kernels for line in both.kernels.get(name, ())]
        groups |= {line.number: line.group if own else 0 for line in (*pair.made, *kernels)}
    return [groups.get(number, 0) for number in range(1, both.text.count("\n") + 1)]


def _source(both: Sides, written: Sequence[str]) -> Mapping[str, dict[str, object]]:
    found: dict[str, dict[str, Any]] = {}
    for line in (line for pair in both.pairs if _is_of(pair.source, written) for line in pair.source):
        kept = [f"{one.value}{f', {one.size}' if one.size else ''}" for one in line.kept]
        found[str(line.number)] = {"group": line.group, "why": line.why, "keeps": kept}
    return found


EXAMPLES = {
    "A layer, applied n times": """\
import numpy as np


def energy(x, w, b, n):
    h = x
    for i in range(n):
        h = np.tanh(h * w + b)
    return np.sum(h * h)
""",
    "The heat equation": """\
import numpy as np


def misfit(start, conductivity, source, measured, dt, steps):
    u = start.copy()
    for step in range(steps):
        flux = conductivity[1:-1] * (u[1:] - u[:-1])
        heating = source * np.exp(-0.5 * step * dt)
        u[1:-1] += dt * (flux[1:] - flux[:-1])
        u += dt * heating
        u[0] = u[1]
        u[-1] = u[-2]
    return np.sum((u - measured) ** 2)
""",
    "A mixture of normal distributions": '''\
import numpy as np


def log_sum_exp(a):
    """log(sum(exp(a))) over the last axis, without overflow."""
    top = np.max(a, axis=-1)
    return top + np.log(np.sum(np.exp(a - top[..., None]), axis=-1))


def log_likelihood(logits, means, log_scales, points):
    n, d = points.shape
    distances = (points[:, None, :] - means) * np.exp(-log_scales)
    constants = logits - np.sum(log_scales, axis=1)
    scores = constants - 0.5 * np.sum(distances**2, axis=2)
    log_norm = 0.5 * d * np.log(2.0 * np.pi) + log_sum_exp(logits)
    return np.sum(log_sum_exp(scores)) - n * log_norm
''',
    "Newton's square root": """\
def newton_sqrt(a: float, tolerance=1e-12):
    x = a
    while abs(x * x - a) > tolerance * a:
        x = 0.5 * (x + a / x)
    return x
""",
    "Branches": """\
import numpy as np


def rate(temperature: float, a: float, b: float):
    if temperature > 300.0:
        k = a * np.exp(-b / temperature)
    elif temperature > 200.0:
        k = a * temperature**0.5
    else:
        k = 0.0
    return k * temperature
""",
    "An error": """\
import numpy as np


def alternating(x):
    odd = x.astype(int) & 1
    return np.sum(np.where(odd, x, -x))
""",
}


MEMORY = 4 * 1024**3  # bytes of addresses that a worker may have
WIDEST = 2**26  # bytes of an answer
EXAMPLE = "import numpy as np\ndef f(x, n):\n    for _ in range(n):\n        x = np.sin(x)\n    return np.sum(x)\n"


def main() -> None:
    """Answer questions from standard input until it ends."""
    replies = os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())  # what anything prints is no answer
    _limit()
    answer(Question(EXAMPLE))  # what is imported late is imported now
    gc.disable()
    gc.freeze()
    print("ready", file=replies, flush=True)
    for line in sys.stdin:
        print(json.dumps(_answer_line(line)), file=replies, flush=True)
        gc.collect()  # while nobody waits


def _limit() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answer_line(line: str) -> dict[str, object]:
    try:
        return answer(question(json.loads(line)))
    except DifferentiationError as error:
        return failure_answer(error)
    except (RecursionError, MemoryError):
        return failure_answer(TOO_MUCH)


TOO_MUCH = DifferentiationError("E5016", "the text takes more memory than the explorer has", "try a smaller part of it")
STOPPED = DifferentiationError("E5016", "the text ended the process that reads it", "try a smaller part of it")
TOO_LONG = DifferentiationError(
    "E5016", "the answer takes too long", "use `srcgrad dump`, which takes the time that it needs"
)


def failure_answer(error: DifferentiationError) -> dict[str, object]:
    """The answer that is an error and nothing else."""
    return {"text": "", "made": [], "source": {}, "errors": [error_as_json(error)]}


class Worker:
    """A process that is there for one question at a time, and anew after one that it did not survive."""

    def __init__(self, limit: float) -> None:
        self.limit = limit
        self.process: asyncio.subprocess.Process | None = None

    async def start(self) -> None:
        """Start the process if it does not run, and wait until it can answer at once."""
        if self.process is not None and self.process.returncode is None:
            return
        self.process = await asyncio.create_subprocess_exec(
            *command("srcgrad.interface.explorer.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=WIDEST,
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers
        )
        assert self.process.stdout is not None, "a pipe was asked for"
        if await self.process.stdout.readline() != b"ready\n":
            raise DifferentiationError("E5015", "no worker starts", "see what stands above on standard error")

    async def ask(self, given: dict[str, object]) -> dict[str, object]:
        """The answer to a question, or an error within the time limit."""
        await self.start()
        process = self.process
        assert process is not None, "it was started"
        assert process.stdin is not None, "a pipe was asked for"
        assert process.stdout is not None, "a pipe was asked for"
        try:
            process.stdin.write(json.dumps(given).encode() + b"\n")
            line = await asyncio.wait_for(process.stdout.readline(), self.limit)
            if line:
                found: dict[str, Any] = json.loads(line)
                return found
            await self.stop()
            return failure_answer(STOPPED)
        except asyncio.TimeoutError:  # another class than TimeoutError in Python 3.10
            await self.stop()
            return failure_answer(TOO_LONG)
        except (OSError, ValueError):
            await self.stop()
            return failure_answer(STOPPED)
        except BaseException:  # cancelled: the answer that is on its way must not be that of the next question
            await self.stop()
            raise

    async def stop(self) -> None:
        """End the process at once."""
        process, self.process = self.process, None
        if process is not None:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            await process.wait()


if __name__ == "__main__":
    main()
