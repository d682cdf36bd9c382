"""What the command line names is found, or refused with the reason."""

from __future__ import annotations

import pytest

from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.targets import find_target

MODEL = """import numpy as np
raise SystemExit("this file was run")

def energy(x):  # joules
    def inner(y):
        return y
    return np.sum(inner(x) ** 2)

class Model:
    def loss(self, x):
        return x

half = lambda x: 0.5 * x

def energy_of(x): return energy(x)
"""


@pytest.fixture
def model(tmp_path):
    path = tmp_path / "model.py"
    path.write_text(MODEL)
    return str(path)


def names(target, **options):
    return [found.qualname for found in find_target(target, **options)]


def refusal(target, **options):
    with pytest.raises(DifferentiationError) as caught:
        find_target(target, **options)
    return caught.value


def test_functions_of_a_file(model):
    assert names(model) == ["energy", "Model.loss", "half", "energy_of"]
    assert names(model + ":") == names(model)
    assert names(model + ":half,energy") == ["half", "energy"]
    assert names(model + ":Model.loss") == ["Model.loss"]


def test_source_has_no_path(model):
    [found] = find_target(model + ":energy")
    assert (found.source.file, found.source.first, found.source.name) == ("model.py", 4, "energy")
    assert found.source.comments == {4: "# joules"}
    assert found.module.lookup("energy").static.qualname == "energy"


def test_modules(model, tmp_path, monkeypatch):
    package = tmp_path / "pack" / "below"
    package.mkdir(parents=True)
    (tmp_path / "pack" / "__init__.py").write_text("from .below.model import energy\n")
    (package / "__init__.py").write_text("")
    (package / "model.py").write_text(MODEL.replace("import numpy as np", "from .. import energy as up"))
    monkeypatch.chdir(tmp_path)
    assert names("model:half") == ["half"]
    assert names("pack.below.model:half") == ["half"]
    assert find_target("pack:energy")[0].module.name == "pack.below.model"
    [found] = find_target(str(package / "model.py") + ":half")
    assert found.module.name == "pack.below.model"
    assert found.module.lookup("up").static.qualname == "energy"


def test_installed_module():
    [found] = find_target("scipy.optimize._optimize:rosen")
    assert found.source.lines[found.source.first - 1] == "def rosen(x):"


def test_standard_input():
    [found] = find_target("-:f", text="def g(x): return x\ndef f(x): return g(x)\n")
    assert found.source.file == "<stdin>"
    assert found.module.lookup("g").static.qualname == "g"
    assert refusal("-").message == "standard input was not read"


@pytest.mark.parametrize(
    ("target", "message", "remedy"),
    [
        (":enrgy", "model.py has no function enrgy", "did you mean energy or energy_of?"),
        (":zzz", "model.py has no function zzz", "its functions are: energy, Model.loss, half, energy_of"),
        (":np", "np in model.py is no function with Python text", None),
        (":inner", "model.py has no function inner", None),
        (":a b", "'a b' is no list of functions", None),
        (":Model", "Model is a class, known only as text", None),
    ],
)
def test_no_such_function(model, target, message, remedy):
    error = refusal(model + target)
    assert (error.code, error.message) == ("E5015", message)
    assert remedy in (None, error.remedy)


def test_no_such_file(model, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert refusal("modle.py").remedy == "did you mean model.py?"
    assert refusal("modle.py:f").message == "the file modle.py does not exist"
    assert refusal("no_such_module:f").code == "E5015"
    assert refusal("math:sin").message == "math has no Python text"
    assert refusal(str(tmp_path)).message.endswith("is a folder")


def test_files_that_cannot_be_read(tmp_path):
    path = tmp_path / "odd.py"
    path.write_bytes(b"x = '\xff'\n")
    assert refusal(str(path)).message.startswith("odd.py cannot be decoded")
    path.write_text("x = 1\ny = = 2\n")
    error = refusal(str(path))
    assert (error.code, error.place.line, error.place.column) == ("E5015", 2, 4)
    path.write_text("x = 1\n")
    assert refusal(str(path)).message == "odd.py defines no function"


def test_definition_that_depends_on_a_condition():
    text = "if x:\n    def f(x): return x\nelse:\n    def f(x): return -x\n"
    assert refusal("-:f", text=text).message == "f depends on what runs in <stdin> (lines 2, 4)"


def test_deep_nesting():
    text = "def f(x):\n    return " + "(" * 100_000 + "x" + ")" * 100_000 + "\n"
    assert refusal("-:f", text=text).code in ("E5015", "E5016")
