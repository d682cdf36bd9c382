"""The command line: `run_dump(asked)` runs the command `dump`; `options` holds the options of all.

A command is imported when it is given, so that the others cost nothing.
"""

from __future__ import annotations

import errno
import importlib
import os
import sys
from collections.abc import Sequence

from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import output_closed
from srcgrad.interface.cli.options import MODES, parser, report

__all__ = ["MODES", "main"]

COMMANDS = {  # the module in which each is
    "cache": "listings",
    "check": "explain",
    "completion": "listings",
    "devices": "listings",
    "dump": "dump",
    "explain": "explain",
    "explore": "listings",
    "rules": "listings",
    "show": "explain",
    "trace": "explain",
}
FULL = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EIO)  # of what standard output is led to
INTERRUPTED = 130  # what shells give for a command that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 only if all that was asked was done.

    >>> main(["rules", "np.cosh"])
    np.cosh: elementwise
    <BLANKLINE>
    reverse:
        @adjoint.elementwise(
            np.cosh, cl="cosh(x)", overflows=True, aliases=(math.cosh,), numba="math.cosh(x)", complex="conjugated"
        )
        def cosh(z, x):
            d[x] = d[z] * np.sinh(x)
    <BLANKLINE>
    forward: the same lines
    domain: -2.0 to 2.0
    also: math.cosh
    0
    """
    given = sys.argv[1:] if arguments is None else arguments
    asked = parser().parse_args([f" {item}" if item.startswith("-:") else item for item in given])  # no option
    try:
        module = importlib.import_module(f"srcgrad.interface.cli.{COMMANDS[asked.command]}")
        status = int(getattr(module, f"run_{asked.command}")(asked))
        if sys.stdout is not None:
            sys.stdout.flush()
        return status
    except DifferentiationError as error:
        report(error)
        return 1
    except OSError as error:
        if not isinstance(error, BrokenPipeError):  # whoever reads has seen enough
            if error.errno not in FULL:
                raise
            report(output_closed(error))
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED
