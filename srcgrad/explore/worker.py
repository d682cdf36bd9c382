"""A process that answers questions, one line of JSON each; it is killed where it takes too long."""

from __future__ import annotations

import asyncio
import contextlib
import gc
import json
import os
import sys
from typing import Any  # what JSON holds

from srcgrad.child import command
from srcgrad.errors import DifferentiationError
from srcgrad.explore.answer import Question, answer, question, told

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
        print(json.dumps(_answered(line)), file=replies, flush=True)
        gc.collect()  # while nobody waits


def _limit() -> None:
    with contextlib.suppress(ImportError, ValueError, OSError):
        import resource  # not on Windows

        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))


def _answered(line: str) -> dict[str, Any]:
    try:
        return answer(question(json.loads(line)))
    except DifferentiationError as error:
        return failed(error)
    except (RecursionError, MemoryError):
        return failed(TOO_MUCH)


TOO_MUCH = DifferentiationError("E5016", "the text takes more memory than the explorer has", "try a smaller part of it")
STOPPED = DifferentiationError("E5016", "the text ended the process that reads it", "try a smaller part of it")
TOO_LONG = DifferentiationError(
    "E5016", "the answer takes too long", "use `srcgrad dump`, which takes the time that it needs"
)


def failed(error: DifferentiationError) -> dict[str, Any]:
    """The answer that is an error and nothing else."""
    return {"text": "", "made": [], "source": {}, "errors": [told(error)]}


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
            *command("srcgrad.explore.worker"),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            limit=WIDEST,
            start_new_session=True,  # Ctrl-C is for the server, which ends its workers
        )
        assert self.process.stdout is not None, "a pipe was asked for"
        if await self.process.stdout.readline() != b"ready\n":
            raise DifferentiationError("E5015", "no worker starts", "see what stands above on standard error")

    async def ask(self, given: dict[str, Any]) -> dict[str, Any]:
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
            return failed(STOPPED)
        except asyncio.TimeoutError:  # another class than TimeoutError in Python 3.10
            await self.stop()
            return failed(TOO_LONG)
        except (OSError, ValueError):
            await self.stop()
            return failed(STOPPED)
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
