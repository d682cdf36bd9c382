"""What a derivative is where none exists, or where two rules meet: printed on the rules page, and tested row by row.

Each row is a call over x, y, z, the point, the gradients there, and the reason. Calls are read with `np`, `inf`, `nan`
and `array`.
"""

from __future__ import annotations

Row = tuple[str, str, str, str]

KINKS: tuple[Row, ...] = (
    ("np.abs(x)", "0.0", "0.0", "sign(0)"),
    ("np.maximum(x, y)", "1.0, 1.0", "0.5, 0.5", "a tie shares equally"),
    ("np.minimum(x, y)", "1.0, 1.0", "0.5, 0.5", "a tie shares equally"),
    ("np.maximum(x, 0.0)", "0.0", "0.5", "a tie with a constant"),
    ("np.where(x > 0.0, x, 0.0)", "0.0", "0.0", "the side that is taken"),
    ("np.maximum(x, y)", "nan, 1.0", "0.0, 0.0", "neither is the larger"),
    ("np.fmax(x, y)", "1.0, 1.0", "0.5, 0.5", "a tie shares equally"),
    ("np.fmax(x, y)", "nan, 1.0", "0.0, 1.0", "nan is passed by"),
    ("np.max(x)", "array([2.0, 2.0, 1.0])", "array([0.5, 0.5, 0.0])", "ties share evenly"),
    ("np.max(x)", "array([1.0, nan])", "array([nan, nan])", "as the value"),
    ("np.maximum.accumulate(x)", "array([1.0, 1.0])", "array([2.0, 0.0])", "the first of equals gets all"),
    ("np.clip(x, 0.0, 1.0)", "0.0", "1.0", "passes on its edges"),
    ("np.clip(x, 0.0, 1.0)", "1.0", "1.0", "passes on its edges"),
    ("np.clip(x, y, z)", "-1.0, 0.0, 1.0", "0.0, 1.0, 0.0", "outside, the bound that holds"),
    ("np.sort(x) * np.array([1.0, 2.0])", "array([1.0, 1.0])", "array([1.0, 2.0])", "equal elements keep their order"),
    ("np.median(x)", "array([4.0, 1.0, 2.0, 9.0])", "array([0.5, 0.0, 0.5, 0.0])", "both in the middle get half"),
    ("np.quantile(x, 0.5)", "array([4.0, 1.0, 2.0, 9.0])", "array([0.5, 0.0, 0.5, 0.0])", "by their distance"),
    ("np.ptp(x)", "array([2.0, 2.0])", "array([0.0, 0.0])", "largest and smallest cancel"),
    ("np.linalg.norm(x, np.inf)", "array([2.0, -2.0])", "array([0.5, -0.5])", "ties share evenly"),
    ("np.linalg.norm(x, 1)", "array([0.0, -2.0])", "array([0.0, -1.0])", "sign(0)"),
    ("np.mod(x, y)", "-5.5, 2.0", "1.0, 3.0", "the quotient is a step"),
    ("np.fmod(x, y)", "-5.5, 2.0", "1.0, 2.0", "the quotient is a step"),
    ("np.divmod(x, y)[1]", "-5.5, 2.0", "1.0, 3.0", "as np.mod"),
    ("np.modf(x)[0]", "2.0", "1.0", "the whole part is a step"),
    ("np.floor(x) + 0.0 * x", "2.0", "0.0", "a step"),
    ("np.heaviside(x, y)", "0.0, 0.5", "0.0, 1.0", "a step, whose value at 0 is y"),
    ("np.copysign(x, y)", "0.0, -1.0", "0.0, 0.0", "sign(0)"),
    ("np.interp(x, np.arange(3.0), np.array([0.0, 1.0, 4.0]))", "1.0", "3.0", "the slope on the right"),
    ("np.interp(x, np.arange(3.0), np.array([0.0, 1.0, 4.0]))", "-1.0", "0.0", "constant outside"),
)

ZEROS: tuple[Row, ...] = (
    ("np.sqrt(x)", "0.0", "inf", "never an exception, also for a Python float"),
    ("np.log(x)", "0.0", "inf", "never an exception"),
    ("np.cbrt(x)", "0.0", "inf", "never an exception"),
    ("np.arcsin(x)", "1.0", "inf", "never an exception"),
    ("x ** 0.5", "0.0", "inf", "never an exception"),
    ("x ** 0", "0.0", "0.0", "a constant"),
    ("x ** y", "0.0, 0.0", "0.0, 0.0", "0 ** y is 0 on one side, 1 at 0"),
    ("x ** y", "0.0, 2.0", "0.0, 0.0", "strong zero"),
    ("x ** y", "-2.0, 2.0", "-4.0, nan", "no real power nearby"),
    ("np.sqrt(x ** 2)", "0.0", "nan", "honest 0 * inf"),
    ("np.linalg.norm(x)", "array([0.0, 0.0])", "array([0.0, 0.0])", "the smallest subgradient"),
    ("np.hypot(x, y)", "0.0, 0.0", "0.0, 0.0", "as the norm"),
    ("np.hypot.reduce(x)", "array([0.0, 0.0])", "array([0.0, 0.0])", "as the norm"),
    ("np.arctan2(y, x)", "0.0, 0.0", "0.0, 0.0", "no angle"),
    ("np.std(x)", "array([3.0, 3.0])", "array([0.0, 0.0])", "as the norm of what is left"),
    ("np.nanstd(x)", "array([3.0, nan, 3.0])", "array([0.0, 0.0, 0.0])", "as np.std"),
    ("np.var(x)", "array([3.0, 3.0])", "array([0.0, 0.0])", "a square"),
    ("np.sinc(x)", "0.0", "0.0", "the limit"),
    ("np.prod(x)", "array([2.0, 0.0, 3.0])", "array([0.0, 6.0, 0.0])", "exact"),
    ("np.prod(x)", "array([2.0, 0.0, 0.0])", "array([0.0, 0.0, 0.0])", "exact"),
    ("np.cumprod(x)", "array([2.0, 0.0, 3.0])", "array([1.0, 8.0, 0.0])", "exact"),
    ("np.nanprod(x)", "array([2.0, nan, 0.0])", "array([0.0, 0.0, 2.0])", "exact; nan counts as 1"),
    ("np.nansum(x)", "array([2.0, nan])", "array([1.0, 0.0])", "nan counts as 0"),
    ("np.nan_to_num(x)", "nan", "0.0", "a constant"),
    ("np.nan_to_num(x)", "inf", "0.0", "a constant"),
    ("np.logaddexp(x, y)", "-inf, -inf", "0.0, 0.0", "strong zero"),
    ("np.logaddexp(x, y)", "-inf, 0.0", "0.0, 1.0", "the limit"),
    ("np.logaddexp.reduce(x)", "array([-inf, -inf])", "array([0.0, 0.0])", "as np.logaddexp"),
    ("np.tanh(x)", "800.0", "0.0", "1 - tanh(x) ** 2, which does not overflow"),
    ("1.0 / (1.0 + np.exp(-x))", "-800.0", "0.0", "y * (1 - y) of the result y, also where np.exp overflows"),
    ("np.linalg.det(x)", "array([[1.0, 2.0], [2.0, 4.0]])", "array([[4.0, -2.0], [-2.0, 1.0]])", "cofactors"),
    ("np.where(x > 0.0, np.sqrt(x), 0.0)", "0.0", "0.0", "what is not taken contributes nothing, 0 * inf included"),
    ("np.sqrt(x) ** 2", "0.0", "nan", "0 * inf: the adjoint is 0 as a number, not by structure"),
    ("np.sqrt(x[x > 0.0])", "array([0.0, 4.0])", "array([0.0, 0.25])", "what is left out has no influence"),
    ("np.polyval(x, 0.0)", "array([3.0, 2.0, 1.0])", "array([0.0, 0.0, 1.0])", "Horner's scheme"),
)

SHAPES: tuple[Row, ...] = (
    ("np.sum(x)", "array([])", "array([])", "empty as its argument"),
    ("np.mean(x) * 0.0", "array([])", "array([])", "empty as its argument"),
    ("np.prod(x)", "array([])", "array([])", "empty as its argument"),
    ("np.sum(x[[0, 0, 1]])", "array([1.0, 2.0])", "array([2.0, 1.0])", "repeated indices add up"),
    ("np.sum(np.take(x, [0, 0]))", "array([1.0, 2.0])", "array([2.0, 0.0])", "repeated indices add up"),
    ("np.repeat(x, 2)", "array([1.0, 2.0])", "array([2.0, 2.0])", "copies add up"),
    ("np.full_like(np.ones(3), x)", "2.0", "3.0", "copies add up"),
    ("x.astype(int) * 1.0", "array([1.5])", "array([0.0])", "a conversion to integers is a step"),
)

ROWS = (*KINKS, *ZEROS, *SHAPES)
