"""`python -m srcgrad` and the processes of srcgrad: no file of the user's stands in place of Python's or NumPy's.

Python puts the working folder first on the path of `python -m` and `python -c`, and a user may have an `ast.py` or a
`numpy.py` there. What is imported here Python has imported already.
"""

from __future__ import annotations

import os
import sys

_FLAGS = "bBdEhiIOPqsSuvVx"  # what may stand before the m of `python -Im srcgrad`


def asked_for() -> str:
    """The module that this process runs, if `python -m` is just looking for it; empty otherwise.

    >>> asked_for()
    ''
    """
    if sys.argv[:1] != ["-m"]:  # so it is until the module is found
        return ""
    for place, word in enumerate(sys.orig_argv[1:], 1):
        flags, found, module = word.partition("m")
        if found and flags[:1] == "-" and not flags[1:].strip(_FLAGS):
            return module or sys.orig_argv[place + 1]
    return ""


def working_folder_last() -> None:
    """Move the working folder from the beginning of the path to its end, where `python -m` runs a module of srcgrad."""
    if asked_for().partition(".")[0] == "srcgrad" and sys.path[:1] in ([""], [os.getcwd()]):
        sys.path.append(sys.path.pop(0))


def command(module: str, *arguments: str) -> list[str]:
    """The command that runs a module as `python -m` does, and finds what this process finds.

    >>> command("srcgrad.opencl.devices.self_test", "0")[1:4]
    ['-W', 'ignore', '-c']
    """
    path = [entry for entry in sys.path if entry]
    program = f"import sys; sys.path[:] = {path!r}; import runpy; runpy.run_module({module!r}, None, '__main__', True)"
    return [sys.executable, "-W", "ignore", "-c", program, *arguments]


class BesidePython:
    """A context in the folder of Python's own modules: what `multiprocessing` starts looks there first."""

    def __enter__(self) -> None:
        self.before = os.getcwd()
        os.chdir(os.path.dirname(os.__file__))

    def __exit__(self, *raised: object) -> None:
        os.chdir(self.before)
