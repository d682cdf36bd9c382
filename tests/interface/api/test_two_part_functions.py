"""Functions of users that are classes of two halves: what is kept, outputs, both modes, second order, refusals."""

from __future__ import annotations

import threading

import numpy as np
import pytest

import srcgrad

X, Y = np.array([0.5, 1.0, 2.0]), np.array([1.0, -1.0, 0.5])


class Polynomial(srcgrad.Function):
    """x**2 + 2 x + 1"""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x**2 + 2.0 * x + 1.0

    @staticmethod
    def backward(ctx, y_bar):
        (x,) = ctx.saved_tensors
        return y_bar * (2.0 * x + 2.0)


class Scaled(srcgrad.Function):
    @staticmethod
    def forward(ctx, x, y, power=2, *, shift=0.0):
        ctx.save_for_backward(x, y)
        ctx.power = power
        return x * y**power + shift

    @staticmethod
    def backward(ctx, z_bar):
        x, y = ctx.saved_tensors
        return z_bar * y**ctx.power, z_bar * x * ctx.power * y ** (ctx.power - 1), None

    @staticmethod
    def jvp(ctx, x_dot, y_dot, power_dot):
        x, y = ctx.saved_tensors
        return x_dot * y**ctx.power + x * ctx.power * y ** (ctx.power - 1) * y_dot


class SinCos(srcgrad.Function):
    """Two outputs, whose adjoints come as a tuple."""

    @staticmethod
    def forward(ctx, x):
        s, c = np.sin(x), np.cos(x)
        ctx.save_for_backward(s, c)
        return s, c

    @staticmethod
    def backward(ctx, adjoints):
        s, c = ctx.saved_tensors
        return adjoints[0] * c - adjoints[1] * s


places: list[int] = []


class ByOutput(SinCos):
    """Two outputs, one at a time."""

    @staticmethod
    def backward(ctx, y_bar, index):
        places.append(index)
        s, c = ctx.saved_tensors
        return y_bar * c if index == 0 else -y_bar * s


class StraightThrough(srcgrad.Function):
    @staticmethod
    def forward(ctx, x):
        return np.round(x)

    @staticmethod
    def backward(ctx, y_bar):
        return y_bar


class Exponential(srcgrad.Function):
    """Keeps its result, of which a second derivative must know."""

    @staticmethod
    def forward(ctx, x):
        y = np.exp(x)
        ctx.y = y
        return y

    @staticmethod
    def backward(ctx, y_bar):
        return y_bar * ctx.y


def test_the_value_and_the_gradient():
    """Rows 1.12 and 1.29."""
    assert Polynomial.apply(3.0) == 16.0
    assert srcgrad.grad(lambda x: Polynomial.apply(x))(3.0) == 8.0
    assert srcgrad.grad(Polynomial.apply)(3.0) == 8.0


def test_the_text():
    """One context per call; the adjoints are checked against what it says of the arguments."""

    def f(x, y):
        a = Scaled.apply(x, y)
        return np.sum(Scaled.apply(a, x, power=3))

    text = srcgrad.source(f)
    assert "    ctx = Context(x, y, 2)\n    a = Scaled.forward(ctx, x, y)\n" in text
    assert "Scaled.forward(ctx_1, a, x, power=3)" in text
    assert "x_bar, y_bar, _ = check_adjoints(Scaled.backward(ctx, a_bar), ctx.inputs)" in text or (
        "y_bar, _ = check_adjoints(Scaled.backward(ctx, a_bar), ctx.inputs)" in text
    )


def test_the_forward_half_is_a_statement():
    """It keeps values in the context, which is no part of what it gives: its place is not in an expression."""
    text = srcgrad.source(lambda x: np.sum(Exponential.apply(x)))
    assert "    t = Exponential.forward(ctx, x)\n" in text


def two_calls(x, y):
    a = Scaled.apply(x, y)
    return np.sum(np.sin(Scaled.apply(a, x, power=3, shift=1.0)))


def looped(x, y):
    for _ in range(3):
        x = Scaled.apply(x, 0.5 * y)
    return np.sum(x * y)


def branched(x, y):
    z = Scaled.apply(x, y) if np.sum(x) > 0.0 else x * y
    return np.sum(z * z)


@pytest.mark.parametrize("function", [two_calls, looped, branched])
def test_both_modes_and_second_order(function):
    """Rows 1.13 and 1.16: each call has a context of its own; what is no number is passed on."""
    srcgrad.check_grads(function, (X, Y), order=2)


def test_calls_in_a_comprehension():
    def f(x, y):
        parts = [Scaled.apply(x[k], y[k]) for k in range(3)]
        return parts[0] * parts[1] + parts[2]

    srcgrad.check_grads(f, (X, Y), order=1)


def test_calls_that_overlap_keep_apart():
    """Row 1.13, and row 0.19 for threads."""
    _, pull_one = srcgrad.vjp(Polynomial.apply, X)
    _, pull_two = srcgrad.vjp(Polynomial.apply, 10.0 * X)
    seed = np.ones(3)
    assert pull_one(seed)[0].tolist() == (2.0 * X + 2.0).tolist()
    assert pull_two(seed)[0].tolist() == (20.0 * X + 2.0).tolist()
    found: dict[int, float] = {}
    gradient = srcgrad.grad(lambda x: Polynomial.apply(Polynomial.apply(x)))

    def run(k):
        found[k] = gradient(float(k))

    threads = [threading.Thread(target=run, args=(k,)) for k in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert found == {k: (2.0 * (k + 1.0) ** 2 + 2.0) * (2.0 * k + 2.0) for k in range(8)}


def both(x):
    s, c = SinCos.apply(x)
    return np.sum(s * s * c)


def second_only(x):
    _, c = SinCos.apply(x)
    return np.sum(c)


def by_place(x):
    pair = SinCos.apply(x)
    return np.sum(pair[1] * np.exp(pair[0]))


@pytest.mark.parametrize("function", [both, second_only, by_place])
def test_outputs_as_a_tuple(function):
    """Rows 0.23 and 1.14."""
    srcgrad.check_grads(function, (X,), order=2, modes=("reverse",))


def both_apart(x):
    s, c = ByOutput.apply(x)
    return np.sum(s * s * c)


def first_apart(x):
    s, _ = ByOutput.apply(x)
    return np.sum(s)


def second_apart(x):
    _, c = ByOutput.apply(x)
    return np.sum(c)


def place_apart(x):
    pair = ByOutput.apply(x)
    return np.sum(pair[1] * np.exp(pair[0]))


@pytest.mark.parametrize(
    ("function", "asked"), [(both_apart, [0, 1]), (first_apart, [0]), (second_apart, [1]), (place_apart, [0, 1])]
)
def test_outputs_one_at_a_time(function, asked):
    """Row 1.14: a call for each output that matters, and their sum."""
    srcgrad.check_grads(function, (X,), order=1, modes=("reverse",))
    places.clear()
    srcgrad.grad(function)(X)
    assert places == asked


@pytest.mark.parametrize("function", [lambda x: np.sum(Exponential.apply(x) * x), lambda x: Exponential.apply(x[0])])
def test_what_is_kept_of_the_result(function):
    srcgrad.check_grads(function, (X,), order=2, modes=("reverse",))


def test_second_derivatives_follow_the_rule():
    """The rule says that the derivative is 1, and so it is in the derivative of the gradient."""
    gradient = srcgrad.grad(lambda x: np.sum(StraightThrough.apply(x) ** 2))

    def total(x):
        return np.sum(gradient(x))

    assert gradient(np.array([0.7, 1.2])).tolist() == [2.0, 2.0]
    assert srcgrad.grad(total)(np.array([0.7, 1.2])).tolist() == [2.0, 2.0]


def test_nothing_of_the_data_is_kept_for_the_check():
    """Row 4.17: a call keeps what its author keeps, not the argument of which only the shape is needed."""

    def f(x, n):
        for _ in range(n):
            x = Exponential.apply(-0.1 * x)
        return np.sum(x)

    text = srcgrad.source(f, wrt="x")
    assert "    ctx_stack.append(ctx)\n" in text and ".append(x)" not in text and ".append(t)" not in text


class NoBackward(srcgrad.Function):
    @staticmethod
    def forward(ctx, x):
        return x


class Nothing(srcgrad.Function):
    pass


@pytest.mark.parametrize(("owner", "half"), [(NoBackward, "backward"), (Nothing, "forward")])
def test_a_half_that_is_missing_is_named(owner, half):
    """Row 1.33."""
    with pytest.raises(srcgrad.DifferentiationError, match=f"the class {owner.__name__} has no `{half}`") as caught:
        srcgrad.grad(lambda x: owner.apply(x))(1.0)
    assert caught.value.code == "E5003"


def test_a_call_without_forward():
    with pytest.raises(srcgrad.DifferentiationError, match="the class Nothing has no `forward`"):
        Nothing.apply(1.0)


def test_forward_mode_needs_its_half():
    with pytest.raises(
        srcgrad.DifferentiationError, match=r"write `jvp\(ctx, x_dot\)` in the class Polynomial"
    ) as caught:
        srcgrad.jvp(Polynomial.apply, (1.0,), (1.0,))
    assert caught.value.code == "E5003"


def test_a_wrong_shape_is_found():
    class Wrong(srcgrad.Function):
        @staticmethod
        def forward(ctx, x):
            return np.sum(x)

        @staticmethod
        def backward(ctx, y_bar):
            return y_bar

    with pytest.raises(srcgrad.DifferentiationError) as caught:
        srcgrad.grad(lambda x: Wrong.apply(x))(X)
    assert caught.value.code == "E5004"


def test_another_parameter_of_backward():
    with pytest.raises(srcgrad.DifferentiationError, match=r"`backward\(ctx, y_bar, index\)`") as caught:

        class Wrong(srcgrad.Function):
            @staticmethod
            def forward(ctx, x):
                return x, x

            @staticmethod
            def backward(ctx, first_bar, second_bar):
                return first_bar + second_bar

    assert caught.value.code == "E5013"


def test_a_context_says_what_it_lacks():
    class Forgetful(srcgrad.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, y_bar):
            return y_bar * ctx.scale

    with pytest.raises(AttributeError, match=r"forward has not set ctx\.scale"):
        srcgrad.grad(lambda x: Forgetful.apply(x))(1.0)


def test_second_order_is_refused_where_the_text_does_not_tell():
    class Elsewhere(srcgrad.Function):
        @staticmethod
        def forward(ctx, x):
            vars(ctx).update(x=x)
            return x * x

        @staticmethod
        def backward(ctx, y_bar):
            return 2.0 * ctx.x * y_bar

    gradient = srcgrad.grad(lambda x: Elsewhere.apply(x))
    assert gradient(3.0) == 6.0
    with pytest.raises(srcgrad.DifferentiationError, match=r"the class .*Elsewhere has no second derivative") as caught:
        srcgrad.grad(gradient)(3.0)
    assert caught.value.code == "E5003"


def outer(u, v):
    return np.outer(u, v)


@srcgrad.sensitivity(outer, arg=0)
def outer_u(y, y_bar, u, v):
    return y_bar @ v


@srcgrad.sensitivity(outer, arg=0, accumulate=True)
def outer_add_u(u_bar, y, y_bar, u, v):
    u_bar += y_bar @ v
    return u_bar


@srcgrad.sensitivity(outer, arg=1, accumulate=True)
def outer_add_v(v_bar, y, y_bar, u, v):
    v_bar += u @ y_bar
    return v_bar


def several_uses(u, v):
    y = outer(u, v)
    z = outer(u, y[0])
    return np.sum(y * y) + np.sum(z * z * z) + u[0]


def beside_a_sum(u, v):
    z, w = outer(u, v), u + v
    return np.sum(z * z) + np.sum(w * w * w)


def carried(u, v):
    for _ in range(3):
        u = outer(u, v) @ np.sin(u)
    return np.sum(u)


def chosen(u, v):
    z = outer(u, v) if u[0] > 0.0 else outer(v, u)
    return np.sum(z * z)


@pytest.mark.parametrize("function", [several_uses, beside_a_sum, carried, chosen])
def test_rules_that_add_in_place(function):
    """Row 4.13."""
    srcgrad.check_grads(function, (X, Y), order=1, modes=("reverse",))


def test_both_forms_agree():
    """Row 4.14: the same bits, whether a rule adds or its result is added."""

    def plain(u, v):
        return np.outer(u, v)

    srcgrad.sensitivity(plain, arg=0)(outer_u)
    srcgrad.sensitivity(plain, arg=1)(lambda y, y_bar, u, v: u @ y_bar)

    def added(u, v):
        return np.sum(outer(u, v) ** 2) + np.sum(outer(u, 2.0 * v))

    def summed(u, v):
        return np.sum(plain(u, v) ** 2) + np.sum(plain(u, 2.0 * v))

    made = [srcgrad.grad(function, wrt=(0, 1))(X, Y) for function in (added, summed)]
    for one, two in zip(*made, strict=True):
        assert one.tobytes() == two.tobytes()


def test_seeds_are_not_added_to():
    _, pullback = srcgrad.vjp(lambda u, v: (u, outer(u, v), v), X, Y)
    seeds = (np.ones(3), np.ones((3, 3)), np.ones(3))
    first, second = pullback(seeds), pullback(seeds)
    assert [part.tolist() for part in first] == [part.tolist() for part in second]
    assert seeds[0].tolist() == seeds[2].tolist() == [1.0, 1.0, 1.0]


def test_a_rule_that_adds_gives_its_array_back():
    def double(u):
        return 2.0 * u

    @srcgrad.sensitivity(double, arg=0, accumulate=True)
    def add_u(u_bar, y, y_bar, u):
        u_bar += 2.0 * y_bar

    with pytest.raises(srcgrad.DifferentiationError, match="gave none back") as caught:
        srcgrad.grad(lambda u: np.sum(double(u)))(X)
    assert caught.value.code == "E5004"


def test_what_is_kept_is_not_written_into():
    """A pullback may be called again."""

    class Careless(srcgrad.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(2.0 * x)
            return x * x

        @staticmethod
        def backward(ctx, y_bar):
            (slope,) = ctx.saved_tensors
            slope *= y_bar
            return slope

    with pytest.raises(srcgrad.DifferentiationError, match="`backward` writes into `slope`") as caught:
        srcgrad.vjp(Careless.apply, X)
    assert caught.value.code == "E5010"


@srcgrad.opaque
def compiled_square(x):
    return x * x


class Halves(srcgrad.Function):
    """Its halves have names in common, and its result comes from a function that has no derivative."""

    @staticmethod
    def forward(ctx, x):
        y = compiled_square(x)
        t = 2.0 * x
        ctx.save_for_backward(y, t)
        return y

    @staticmethod
    def backward(ctx, x):
        y, slope = ctx.saved_tensors
        t = x * slope
        return t + 0.0 * y


def test_names_of_the_halves_are_apart():
    """The second derivative reads the result, and not what computed it."""
    gradient = srcgrad.grad(lambda x: np.sum(Halves.apply(x) ** 2))
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(gradient(x)))(X), 12.0 * X**2)


def test_the_plain_rule_makes_the_first_contribution():
    text = srcgrad.source(lambda u, v: np.sum(outer(u, v)), wrt="u")
    assert "outer_u(" in text and "outer_add_u(" not in text
