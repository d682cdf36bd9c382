"""The source of a function is its own text, or an error."""

from __future__ import annotations

import ast
import functools
import inspect
import itertools
import linecache
import math
import operator
import sys
import types

import gast
import numpy as np
import pytest

from srcgrad import grad
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.source_text import label_of, source_of

_counter = itertools.count()


def run(text, filename=None):
    """The namespace of a text that is executed with an entry in linecache, as a notebook does."""
    filename = filename or f"<cell {next(_counter)}>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {"__name__": "cell"}
    exec(compile(text, filename, "exec"), namespace)
    return namespace


def text_of(function):
    """The text that `source_of` gives to the body's last statement."""
    return gast.unparse(source_of(function).tree.body[-1]).strip()


def refusal(function):
    with pytest.raises(DifferentiationError) as caught:
        source_of(function)
    return caught.value


def plain(x, n=2):
    # doubled before it is raised
    y = 2 * x  # '#' in a comment
    return y**n


def test_def():
    source = source_of(plain)
    assert (source.file, source.name) == ("test_source.py", "plain")
    assert source.lines[source.first - 1] == "def plain(x, n=2):"
    assert source.tree.lineno == source.first
    assert source.tree.body[0].lineno == source.first + 2
    remarks = {1: "# doubled before it is raised", 2: "# '#' in a comment"}
    assert source.comments == {source.first + line: text for line, text in remarks.items()}


def test_each_call_gives_a_tree_of_its_own():
    assert source_of(plain).tree is not source_of(plain).tree


def test_nested_functions_with_closures():
    def make(scale):
        def inner(x):
            return x * scale

        return inner

    source = source_of(make(3.0))
    assert source.name == "inner"
    assert source.lines[source.first - 1] == "        def inner(x):"
    assert source.tree.col_offset == 8


class Model:
    def step(self, x):
        return x + self.__size()

    def __size(self):
        return 1

    @classmethod
    def make(cls, x):
        return x - 1.0

    @staticmethod
    def double(x):
        return x + x


def test_methods():
    assert text_of(Model.step) == text_of(Model().step) == "return x + self.__size()"
    assert text_of(Model.make) == "return x - 1.0"
    assert text_of(Model.double) == text_of(vars(Model)["double"]) == "return x + x"
    assert text_of(Model._Model__size) == "return 1"


def test_lambdas_in_one_line():
    first, second, third = (lambda x: x + 1), (lambda x: x + 2.0), (lambda x: x + 2)
    assert [text_of(f) for f in (first, second, third)] == [
        "return x + 1",
        "return x + 2.0",
        "return x + 2",
    ]


def named(**functions):
    return functions


def test_two_lambdas_in_one_call():
    pair = named(up=lambda x: pow(x, 2.0), down=lambda x: pow(x, -0.0), same=lambda x: pow(x, 0.0))
    assert text_of(pair["up"]) == "return pow(x, 2.0)"
    assert text_of(pair["down"]) == "return pow(x, -0.0)"
    assert text_of(pair["same"]) == "return pow(x, 0.0)"


def test_equal_lambdas_in_one_line_keep_their_columns():
    pair = [lambda x: x * x, lambda x: x * x]
    columns = [source_of(f).tree.col_offset for f in pair]
    assert columns[0] == 12
    if sys.version_info >= (3, 11):  # before, code has no columns; either text will do
        assert columns[1] == 29


def test_lambdas_within_lambdas():
    outer = lambda x: lambda y: x + y  # noqa: E731
    assert text_of(outer(1.0)) == "return x + y"
    assert source_of(outer).tree.name == "lambda_"
    assert isinstance(source_of(outer).tree.body[0].value, gast.Lambda)


def test_lambda_over_several_lines_keeps_positions_and_comments():
    function = operator.itemgetter(0)(
        [
            lambda x, y=2.0: (
                x  # the base
                + y
            ),  # after it
        ]
    )
    source = source_of(function)
    assert source.lines[source.first - 1].strip() == "lambda x, y=2.0: ("
    assert source.comments == {source.first + 1: "# the base", source.first + 3: "# after it"}
    assert [argument.id for argument in source.tree.args.args] == ["x", "y"]


def test_exec_with_linecache():
    assert text_of(run("def f(x):\n    return x + 1\n")["f"]) == "return x + 1"


def test_exec_without_linecache_is_refused():
    namespace = {}
    exec("def f(x):\n    return x + 1\n", namespace)
    error = refusal(namespace["f"])
    assert error.code == "E5008"
    assert "the text of f is not known" in error.message


@pytest.mark.parametrize("name", ["/tmp/ipykernel_12345/3874.py", "<ipython-input-3-0abc>"])
def test_notebook_cells(name):
    source = source_of(run("import numpy as np\nf = lambda x: np.sin(x)  # wave\n", name)["f"])
    assert (source.file, source.first) == ("notebook", 2)


def test_cell_that_awaits_at_its_top_level():
    text = "def f(x):\n    return x - 1\nawait_later = None\nif False:\n    await f(1)\n"
    filename = "<awaiting cell>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {}
    code = compile(text, filename, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    function = types.FunctionType(next(c for c in code.co_consts if hasattr(c, "co_code")), namespace)
    assert text_of(function) == "return x - 1"


def test_cell_that_inherits_future_imports():
    text = "def f(x: float, y: int = 2) -> float:\n    def g(z: float): return z\n    return g(x) * y\n"
    filename = "<annotated cell>"
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    namespace = {}
    exec(compile("from __future__ import annotations\n" + text, filename, "exec"), namespace)
    assert text_of(namespace["f"]) == "return g(x) * y"  # and found one line above


def test_label_never_is_a_path():
    assert label_of("C:\\models\\heat.py") == "heat.py"
    assert label_of("<stdin>") == "<stdin>"


def doubled(function):
    @functools.wraps(function)
    def wrapper(*args):
        return 2 * function(*args)

    return wrapper


def test_wrapper_that_hands_all_on_has_the_parameters_of_what_it_wraps():
    tree = source_of(doubled(plain)).tree
    assert gast.unparse(tree.args).strip() == "x, n=2"
    assert gast.unparse(tree.body[0]).strip() == "return 2 * function(x, n)"
    assert text_of(doubled(plain).__wrapped__) == "return y ** n"


def counting(function):
    @functools.wraps(function)
    def wrapper(*args):
        return len(args) * function(*args)

    return wrapper


def asking_another(function):
    @functools.wraps(function)
    def wrapper(*args, **words):
        return max(*args, **words) * function(*args, **words)

    return wrapper


def taking_out(function):
    @functools.wraps(function)
    def wrapper(*args, **words):
        scale = words.pop("scale", 1.0)
        return scale * function(*args, **words)

    return wrapper


def handing_on_behind_another(function):
    @functools.wraps(function)
    def wrapper(x, *args):
        return function(*args, x)

    return wrapper


def required(y, n):
    return y**n


@pytest.mark.parametrize(
    "wrapped",
    [
        counting(plain),
        asking_another(plain),
        asking_another(required),
        taking_out(plain),
        handing_on_behind_another(plain),
    ],
)
def test_wrapper_that_tells_how_it_is_called_is_called_by_position(wrapped):
    assert source_of(wrapped).tree.args.vararg is not None
    slope = (wrapped(1.501, 2) - wrapped(1.499, 2)) / 0.002
    assert np.isclose(grad(wrapped)(1.5, 2.0), slope)
    with pytest.raises((DifferentiationError, TypeError), match=r"E5009|unexpected keyword"):
        grad(wrapped)(**dict.fromkeys(inspect.signature(wrapped).parameters, 2.0))


def test_wrapper_may_count_arguments_that_all_calls_give():
    tree = source_of(counting(required)).tree
    assert gast.unparse(tree.body[0]).strip() == "return len((y, n)) * function(y, n)"


def test_decorator_that_returns_the_function_itself():
    registry = []

    def mark(function):
        registry.append(function)
        return function

    @mark
    @mark
    def marked(x):
        return -x

    source = source_of(marked)
    assert source.lines[source.first - 1] == "    def marked(x):"
    assert registry == [marked, marked]


def test_cached_function_and_own_wrappers():
    assert text_of(functools.lru_cache(plain)) == "return y ** n"
    wrapper = types.SimpleNamespace(__srcgrad_primal__=plain)
    assert text_of(wrapper) == "return y ** n"


class Callable:
    def __call__(self, x):
        return x


@pytest.mark.parametrize(
    ("thing", "said"),
    [
        (np.sin, "sin has no Python source"),
        (np.mean, "mean has no Python source"),
        (math.sin, "sin has no Python source"),
        (Model, "Model has no Python source"),
        (Callable(), "Callable has no Python source"),
        (functools.partial(plain, n=3), "partial has no Python source"),
        (np.vectorize(plain), "vectorize has no Python source"),
        (3.0, "float has no Python source"),
    ],
)
def test_no_source(thing, said):
    error = refusal(thing)
    assert error.code == "E5008"
    assert error.message == said


def test_an_object_that_answers_to_every_attribute():
    class Proxy:
        def __getattr__(self, name):
            return self

    assert refusal(Proxy()).code == "E5008"


def test_source_has_places():
    source = source_of(run("def f(é):\n    return 'ü' + é\n", "<place>")["f"])
    where = source.place(source.tree.body[0].value.right)
    assert str(where).splitlines() == ["<place>:2:18", "        return 'ü' + é", "                     ^"]
