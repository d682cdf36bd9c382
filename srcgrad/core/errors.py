"""Errors: codes, places, excerpts, also in notebooks.

Notebooks: which cell a function stands in, and how an error looks there.

The one exception of srcgrad, and the codes that it carries.
"""

from __future__ import annotations

import linecache
import os
import re
import sys
import traceback
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict
from types import TracebackType

from srcgrad.core.identity import record, replace

PACKAGE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def cell_of(filename: str) -> str:
    """How IPython calls the cell that it compiled under a name, as `In[3]`; empty for anything else.

    >>> cell_of("/home/me/model.py")
    ''
    """
    shell = _shell()
    name = getattr(getattr(shell, "compile", None), "format_code_name", None)
    found = name(filename) if name is not None else None
    return str(found[1]) if found and found[0] == "Cell" else ""


def _shell() -> object:
    ipython = sys.modules.get("IPython")
    return ipython.get_ipython() if ipython is not None else None


_MAGIC = re.compile(r"get_ipython\(\)\.run_cell_magic\('(\w+)', '(.*?)', .*")  # what IPython makes of `%%time`


def ipython_lines(text: str, coloured: str, trace: TracebackType | None) -> list[str]:
    """What IPython shows of an error: the line of the user that was running, and the text of the error.

    What lies between the two, inside of srcgrad, is left out.
    """
    plain = bool(os.environ.get("NO_COLOR")) or str(getattr(_shell(), "colors", "")).lower() == "nocolor"
    lines = ["DifferentiationError"]
    for frame, number in traceback.walk_tb(trace):
        file = frame.f_code.co_filename
        if file.startswith(PACKAGE):
            break
        shell_itself = "IPython" in file or os.sep + "ipykernel" + os.sep in file
        if not shell_itself:
            line = _MAGIC.sub(r"%%\1 \2", linecache.getline(file, number).strip()).rstrip()
            lines.append(f"  {cell_of(file) or os.path.basename(file)}, line {number}: {line}")
    return [*lines, "", text if plain else coloured]


CODES: dict[str, str] = {
    "E5001": "operation not differentiable",
    "E5002": "integer or boolean input",
    "E5003": "no rule and no source",
    "E5004": "gradient of a rule has the wrong shape",
    "E5005": "Python outside the subset",
    "E5006": "argument that the rule does not handle",
    "E5007": "output is not a real scalar",
    "E5008": "source not found",
    "E5009": "wrt names no parameter",
    "E5010": "write into an array that cannot be proved safe",
    "E5011": "name may be unbound",
    "E5012": "name cannot be resolved",
    "E5013": "malformed rule",
    "E5014": "seed does not match the output",
    "E5015": "target cannot be read",
    "E5016": "expression nested too deeply",
    "E5017": "kind of value that is not supported",
    "E5018": "no OpenCL device to use",
    "E5019": "no such target",
    "E5020": "arrays on two devices",
    "E5021": "no room on the OpenCL device",
    "E5022": "kernel failed",
    "E5023": "no float64 on the OpenCL device",
    "E5024": "accumulator does not match the gradient",
    "E5025": "checkpoint that no derivative can follow",
    "E5026": "Numba cannot compile this",
    "E5027": "argument unlike its declaration",
    "E5028": "extra not installed",
    "E5029": "not a sum over rows",
    "E5030": "file that would be lost",
    "E5031": "function that only a run knows",
    "E5032": "write by a function that only a run knows",
    "E5033": "value that is not finite",
}

UNNAMED = "of a library"  # a function that its library does not show under a name
OWN_RULE = (  # the way out where an operation has no derivative
    "call it in a function of your own and give that a rule: "
    "`@srcgrad.adjoint(own)` above `def _(y, x): d[x] = d[y] * ...`"
)
LONGEST = 200  # characters of a line that are shown
COLOURS = {"what": "1;31", "where": "36", "remedy": "32"}  # bold red, cyan, green


def near_names(name: str, known: Iterable[str]) -> str:
    """A question after the known names that are spelled nearly as one that nothing has; empty if there are none.

    >>> near_names("sun", ["sum", "sin", "exp"])
    'did you mean sum or sin?'
    """
    import difflib

    near = difflib.get_close_matches(name, sorted(known), n=3, cutoff=0.6)
    return f"did you mean {' or '.join(near)}?" if near else ""


def page_of(code: str) -> str:
    """What docs/errors.md says of a code; E5015 for one that does not exist.

    >>> print(page_of("E5003").partition("\\n")[0])
    ## E5003 no rule and no source
    """
    if code not in CODES:
        raise DifferentiationError("E5015", f"there is no error {code}", f"the codes are: {', '.join(CODES)}")
    with open(os.path.join(PACKAGE, "core", "errors.md"), encoding="utf-8") as file:
        text = file.read()
    start = text.index(f"\n## {code} ") + 1
    end = text.find("\n## ", start)
    return text[start : end + 1 if end >= 0 else None].rstrip() + "\n"


def no_parameter(item: object, known: Sequence[str]) -> DifferentiationError:
    """E5009: `wrt` names none of the parameters.

    >>> print(no_parameter("bases", ["base", "height"]))
    E5009 wrt names no parameter: no parameter is 'bases'
      what to do: did you mean base? the parameters are: base, height
    """
    if not known:
        remedy = "write a function of what is differentiated, as `lambda x: ...`"
        return DifferentiationError("E5009", "the function has no parameters", remedy)
    near = near_names(item, known) if isinstance(item, str) else ""
    remedy = f"{near} the parameters are: {', '.join(known)}".lstrip()
    return DifferentiationError("E5009", f"no parameter is {item!r}", remedy)


@record(frozen=True)
class Place:
    """Where in the user's text an error is: file label, line (from 1), column (from 0), the line itself.

    `call` is where the function of that line is called, where only the caller tells what is wrong.
    """

    file: str
    line: int
    column: int
    text: str
    width: int = 1
    call: Place | None = None
    library: str = ""  # the name of the function of a library, Python's own among them, in whose text it is

    def __str__(self) -> str:
        text, column = self.text, self.column
        if len(text) > LONGEST:  # of a line of any length, what stands around the place
            first = max(0, min(column - LONGEST // 2, len(text) - LONGEST))
            text, column = f"{'...' * (first > 0)}{text[first : first + LONGEST]}", column - first + 3 * (first > 0)
            text += "..." * (first + LONGEST < len(self.text))
        caret = " " * column + "^" * max(1, min(self.width, len(text) - column))
        return f"{self.file}:{self.line}:{self.column + 1}\n    {text}\n    {caret}"

    def outside(self) -> Place:
        """The place itself; the innermost call outside of libraries, where it is in one of them and that is known."""
        found: Place | None = self
        while found is not None and found.library:
            found = found.call
        return found or self

    def entry(self) -> str:
        """The function of a library through which the place is reached; the text of its call where it has no name."""
        outside, found = self.outside(), self
        while found.call is not None and found.call is not outside:
            found = found.call
        called = outside.text[outside.column : outside.column + outside.width].partition("(")[0].split()[-1]
        return called if found.library == UNNAMED else found.library

    def within(self, call: Place) -> Place:
        """The place with a call more, from outside of those that are known."""
        return replace(self, call=call if self.call is None else self.call.within(call))

    def calls(self) -> list[str]:
        """The calls that lead there, the innermost first: place and text of each."""
        if self.call is None:
            return []
        where = f"{self.call.file}:{self.call.line}:{self.call.column + 1}"
        return [
            f"{where}: {self.call.text[self.call.column : self.call.column + self.call.width][:LONGEST]}",
            *self.call.calls(),
        ]


class ConstantOutputWarning(UserWarning):
    """The output of a function is constant to whoever differentiates it: its derivatives are 0 everywhere.

    >>> import warnings
    >>> import numpy as np
    >>> import srcgrad
    >>> with warnings.catch_warnings(record=True) as told:
    ...     warnings.simplefilter("always")
    ...     print(srcgrad.grad(lambda x: np.sum(np.round(x)))(np.array([0.2, 0.7])))
    [0. 0.]
    >>> print(told[0].message)
    no derivative flows from `x` to the output of `lambda_`: it is 0 everywhere
    """


class NoAxisError(Exception):
    """A text that cannot have a leading axis; the message says why, for those who read the text without it."""


class DifferentiationError(Exception):
    """What srcgrad raises for every mistake of a user: a code, a place, what is wrong, what to do.

    Attributes: `code` ("E5001"), `message`, `remedy`, and `place` (None where no source is involved).

    >>> print(DifferentiationError("E5009", "no parameter is called 'z'", "the parameters are: x, y"))
    E5009 wrt names no parameter: no parameter is called 'z'
      what to do: the parameters are: x, y
    """

    def __init__(self, code: str, message: str, remedy: str, place: Place | None = None) -> None:
        super().__init__(code, message, remedy, place)
        self.code = code
        self.message = message
        self.remedy = remedy
        self.place = place

    def outside_of_libraries(self, call: Place | None = None) -> DifferentiationError:
        """The error at the user's call of a library's function, where it is in the text of that; else as it is.

        `call` is a call more that leads there, where that is known by now.
        """
        place = self.place if call is None or self.place is None else self.place.within(call)
        outside = None if place is None else place.outside()
        if place is None or outside is None or outside is place or outside.library:
            return self if place is self.place else DifferentiationError(self.code, self.message, self.remedy, place)
        inner = f"`{place.entry()}`, called here, has no rule, and its source cannot be differentiated: {self.message}"
        remedy = f"{OWN_RULE}; or call it outside of what is differentiated"
        return DifferentiationError(self.code, f"{inner} ({place.file}:{place.line})", remedy, outside)

    def fields(self) -> dict[str, object]:
        """The error for JSON: `code`, `message`, `remedy`, and `place` with its fields, or None."""
        place = None if self.place is None else asdict(self.place)
        return {"code": self.code, "message": self.message, "remedy": self.remedy, "place": place}

    def __str__(self) -> str:
        return self._text(lambda text, _: text)

    def coloured_text(self) -> str:
        """The text of the error with the colours of a terminal."""
        return self._text(lambda text, colour: f"\x1b[{COLOURS[colour]}m{text}\x1b[0m")

    def _render_traceback_(self) -> list[str]:
        """What IPython shows: the user's lines and the error, and no line of srcgrad."""
        return ipython_lines(str(self), self.coloured_text(), self.__traceback__)

    def _text(self, paint: Callable[[str, str], str]) -> str:
        lines = [f"{paint(f'{self.code} {CODES[self.code]}', 'what')}: {self.message}"]
        if self.place is not None:
            where, text, caret = str(self.place).split("\n")
            lines += [f"  at {paint(where, 'where')}", f"  {text}", f"  {paint(caret, 'what')}"]
            lines += [f"  called at {paint(call, 'where')}" for call in self.place.calls()]
        return "\n".join([*lines, f"  {paint('what to do', 'remedy')}: {self.remedy}"])
