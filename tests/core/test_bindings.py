"""Names of modules that are read and never run."""

from __future__ import annotations

import math
import sys
from pathlib import Path

import numpy as np
import pytest

from srcgrad.core.bindings import Program, StaticModule, attribute
from srcgrad.interface.dump import dump

BOMB = "raise SystemExit('this module was run')\n"

MAIN = """
import functools
import math as m
import numpy as np
import missing
import tools.deep as deep
import tools
from numpy import sqrt, linalg
from numpy.linalg import *
from . import sibling
from .sibling import f as g, SIZE
from .. import above
from .parts import inner
from .wide import *
from .circle import round_trip
from _heapq import heappush
import time
from decorated import kept, replaced, cached, listed

EPS = 1e-9
PAIR = (1,
        2)
root = np.sqrt
square = lambda x: x * x
low, high = 0, 1
first, second = divmod(7, 2)
class Box:
    def size(self): return 1
    if EPS:
        def odd(self): return 2
def own(x): return g(x)
if EPS > 0:
    def shaky(x): return x
"""

FILES = {
    "pkg/__init__.py": BOMB,
    "pkg/main.py": BOMB + MAIN,
    "pkg/sibling.py": BOMB + "SIZE = 3\ndef f(x): return x + SIZE\n",
    "pkg/circle.py": "from .main import round_trip\n",
    "pkg/wide.py": "__all__ = ['given']\ndef given(x): return x\ndef kept_back(x): return x\n",
    "pkg/parts/__init__.py": "from .inner import *\nfrom . import inner\n",
    "pkg/parts/inner.py": "def deepest(x): return x\n",
    "tools/deep.py": BOMB + "def h(x): return x\n",
    "tools/broken.py": "def (:\n",
    "decorated.py": BOMB
    + """
import functools
from register import mark, marker, wrap

@mark
@marker("tag")
def kept(x): return x

@wrap
def replaced(x): return x

@functools.lru_cache(maxsize=None)
def cached(x): return x

@functools.partial
def listed(x): return x
""",
    "register.py": """
def mark(f):
    seen[f] = 1
    return f

def marker(tag):
    def decorator(f):
        f.tag = tag
        return f
    return decorator

def wrap(f):
    def inner(x): return f(x)
    return inner
""",
}


@pytest.fixture
def program(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return Program((tmp_path,), (tmp_path,))


@pytest.fixture
def main(program):
    before = set(sys.modules)
    yield program.module("pkg.main").module
    assert not {name for name in set(sys.modules) - before if name.startswith(("pkg", "tools", "decorated"))}


def test_trusted_modules_are_real(main):
    assert main.lookup("np").object is np
    assert main.lookup("m").object is math
    assert main.lookup("sqrt").object is np.sqrt
    assert attribute(main.lookup("linalg"), "norm").object is np.linalg.norm
    assert main.lookup("root").object is np.sqrt
    assert main.lookup("solve").object is np.linalg.solve
    assert main.lookup("abs").object is abs


def test_functions_of_other_modules_keep_their_namespace(main):
    found = main.lookup("g").static
    assert (found.qualname, found.module.name) == ("f", "pkg.sibling")
    assert found.source.first == 3
    assert found.module.lookup("SIZE").expression == "3"
    assert found.module.lookup("g") is None


def test_modules_known_as_text(main):
    assert attribute(main.lookup("deep"), "h").static.qualname == "h"
    assert attribute(attribute(main.lookup("tools"), "deep"), "h").static.module.name == "tools.deep"
    assert attribute(main.lookup("sibling"), "SIZE").expression == "3"
    assert attribute(main.lookup("sibling"), "nothing").kind == "unknown"
    assert attribute(attribute(main.lookup("tools"), "broken"), "f").kind == "unknown"


def test_values_are_spelled(main):
    assert main.lookup("EPS").expression == "1e-9"
    assert main.lookup("PAIR").expression == "((1,\n        2)\n)"
    assert main.lookup("low").kind == "value"
    assert main.lookup("low").expression == "0"
    assert main.lookup("first").kind == "value"
    assert main.lookup("first").expression is None
    assert main.lookup("square").static.source.tree.name == "lambda_"


@pytest.mark.parametrize("name", ["missing", "above", "round_trip", "heappush", "shaky", "Box", "__name__"])
def test_what_cannot_be_told_is_unknown(main, name):
    found = main.lookup(name)
    assert found.kind == "unknown"
    assert found.reason


def test_star_imports(main):
    assert main.lookup("given").static.qualname == "given"
    assert main.lookup("kept_back") is None
    assert main.lookup("nothing") is None


def test_star_import_of_a_package_with_stars(main):
    assert attribute(main.lookup("inner"), "deepest").static.qualname == "deepest"
    assert main.program.module("pkg.parts").module.lookup("deepest").static.module.name == "pkg.parts.inner"


def test_star_import_that_cannot_be_read_hides_builtins(program):
    module = StaticModule(program, "m", "m.py", "from missing import *\nimport numpy as np\nsize = 1\n", False)
    assert module.lookup("np").object is np
    assert module.lookup("size").expression == "1"
    found = module.lookup("abs")
    assert found.reason == "abs may come from `from missing import *`, line 1 of m.py"


def test_definition_before_a_star_may_be_replaced(program):
    text = "def sin(x): return x\nfrom numpy import *\ndef cos(x): return x\n"
    module = StaticModule(program, "m", "m.py", text, False)
    assert module.lookup("sin").object is np.sin
    assert module.lookup("cos").static.qualname == "cos"
    assert module.lookup("sum").object is np.sum


def test_decorators(main):
    assert main.lookup("kept").static.decorators == ()
    assert main.lookup("cached").static.qualname == "cached"
    assert main.lookup("replaced").reason == "replaced is replaced by what @wrap returns"
    assert main.lookup("listed").kind == "unknown"
    decorated = main.program.module("decorated").module
    assert decorated.function("replaced").static.decorators == ("wrap",)


def test_methods(main):
    assert main.names() == ["square", "Box.size", "Box.odd", "own", "shaky"]
    assert main.function("Box.size").static.qualname == "Box.size"
    assert main.function("Box.odd").kind == "unknown"
    assert main.function("Box.none") is None
    assert main.function("Nothing.none") is None


def test_a_users_own_scipy_is_not_run(program, tmp_path, monkeypatch):
    (tmp_path / "scipy.py").write_text(BOMB)
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.syspath_prepend(tmp_path)
    module = StaticModule(program, "m", "m.py", "from scipy.special import erf\n", False)
    assert module.lookup("erf").kind == "unknown"
    assert "scipy" not in sys.modules


def test_scipy_is_read_and_scipy_special_is_real():
    import scipy.special

    folders = tuple(Path(entry) for entry in sys.path if entry)
    text = "import scipy\nfrom scipy import io, special\nfrom scipy.special import erf\n"
    module = StaticModule(Program((), folders), "m", "m.py", text, False)
    assert module.lookup("erf").object is scipy.special.erf
    assert attribute(module.lookup("special"), "erf").object is scipy.special.erf
    assert attribute(attribute(module.lookup("scipy"), "special"), "erf").object is scipy.special.erf
    assert attribute(module.lookup("io"), "hb_read").static.module.name == "scipy.io._harwell_boeing.hb"
    files = module.program.module("scipy.io._harwell_boeing.hb").module
    assert files.lookup("np").object is np
    assert files.function("hb_read").static.decorators == ()


@pytest.mark.parametrize(
    "binding",
    [
        "import importlib\nxp = importlib.import_module('numpy')",
        "import importlib as loader\nxp = loader.import_module('numpy')",
        "from importlib import import_module\nxp = import_module('numpy')",
        "from importlib import import_module as load\nxp: object = load('numpy')",
        "import importlib\nmade = importlib.import_module('numpy')\nxp = made",
    ],
)
def test_a_module_by_importlib_is_that_module(binding: str) -> None:
    text = f"{binding}\n\n\ndef f(x):\n    return xp.sum(xp.tanh(x) * x)\n"
    made = dump("-:f", text=text).text
    space: dict[str, object] = {}
    exec(compile(made, "<made>", "exec"), space)
    x = np.array([0.3, -0.7])
    found = space["f_grad"](x)
    step = np.array([1e-6, 0.0])
    value = lambda v: np.sum(np.tanh(v) * v)  # noqa: E731
    assert abs(found[0] - (value(x + step) - value(x - step)) / 2e-6) < 1e-8


def test_a_function_of_that_name_is_no_import() -> None:
    text = (
        "def import_module(name):\n    return 3.0\n\n\nxp = import_module('numpy')\n\n\ndef f(x):\n    return xp * x\n"
    )
    assert "numpy" not in dump("-:f", text=text).text.partition("\n")[2].replace("import_module('numpy')", "")
