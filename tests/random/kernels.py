"""Programs drawn at random of what kernels are made of: elementwise work, sums along axes, slices, loops, softmax rows.

`python -m tests.random.kernels FIRST COUNT` draws so many. Shapes have axes of length 0, 1 and more, memory is turned,
sliced or reversed, every third program is float32, every other one is derived for examples (`like=`) or annotations.
"""

from __future__ import annotations

import collections
import copy
import linecache
import random
import sys
import warnings
from typing import Any  # arguments and results of arbitrary functions

import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.check.finite_differences import vector
from tests.agree import differences
from tests.random import functions as random_programs
from tests.random.targets import compared, counted, form, refused

# Statements over m (n, k), r (k,), c (n, 1), s (a number), q (n,): {m} and the others are expressions of that shape.
STATEMENTS = (
    "m = {m}",
    "m = {m}",
    "m = {m} * {r}",
    "m = {m} + {c}",
    "m = {m} * {s}",
    "m = np.where({m} > {s}, {m}, {m})",
    "m = {m} / (1.0 + {m} ** 2)",
    "e = np.exp(m - np.max(m, axis=1, keepdims=True))\nm = e / np.sum(e, axis=1, keepdims=True)",
    "d = m - np.mean(m, axis=-1, keepdims=True)\nm = d / np.sqrt(np.mean(d * d, axis=-1)[:, None] + 0.1)",
    "m = m - m.mean(axis=0)",
    "m -= 0.1 * {m}",
    "m *= {r}",
    "m += {s}",
    "r = np.sum({m}, axis=0) * 0.1",
    "r = {r}",
    "r = np.mean({m}, axis=0) + {r}",
    "r = np.max({m}, axis=0)",
    "c = np.sum({m}, axis=1, keepdims=True)",
    "c = {c}",
    "c = np.min({m}, axis=1)[:, None] * {c}",
    "q = np.sum({m}, axis=1)",
    "q = np.tanh(q) * {s}",
    "m = m + q[:, None]",
    "s = s + 0.1 * np.sum({m})",
    "s = np.tanh({s}) + np.mean({m})",
    "s = 0.3 * s + np.sum({r} * {r}) * 0.1",
    "s = s * np.max({m})",
    "m = np.maximum({m}, {r})",
    "m = np.clip({m}, -0.7, 0.8)",
    "m = np.minimum({m}, {s})",
    "m = np.abs({m}) ** 1.5",
    "m = 0.3 * np.cumsum({m}, axis=1)",
    "m = 0.3 * np.cumsum({m}, axis=0) * {r}",
    "q = 0.2 * np.cumsum(q * {s})",
    "m = 0.3 * np.cumprod(1.2 * np.cos({m}), axis=1)",
    "c = np.prod(0.6 + np.tanh({m}), axis=1, keepdims=True) * {c}",
    "r = np.prod(np.cos({m}), axis=0) * {r}",
    "m = np.fmod({m}, 1.7) * {r}",
    "m = np.cumprod(np.where({m} > {s}, 0.0, 0.9), axis=0) * {m}",
    "q = 0.2 * np.cumprod(np.sin(q) * {s})",
    "t = np.cumsum({m}, axis=-1)\nm = 0.2 * t + np.tanh(np.cumsum(np.tanh(t), axis=0))",
    "m = {m} * m.shape[0]",
    "t = np.broadcast_to({r}, np.shape(m))\nm = m * t",
    "m = m * np.expand_dims(q, 1)",
    "m[{p}] = {s} * m[{p}]",
    "m[{p}] += 0.3 * np.sin(m[{p}])",
    "m[1:-1] = m[1:-1] + {s} * (m[:-2] - 2.0 * m[1:-1] + m[2:])",
    "m[:, 1:] += 0.2 * m[:, :-1] * {s}",
    "m[:, 1:-1] -= 0.1 * (m[:, 2:] - m[:, :-2])",
    "q[1:] = q[1:] * q[:-1]",
    "r[::2] *= 0.7",
    "v = m[:, 0]\nv[...] = v * {s}",
    "z = np.zeros_like(m)\nz[1:] = {m}[:-1]\nm = z + m",
    "z = m.copy()\nz[0] = r\nm = z * m",
    "m = m.T.copy().T * {r}",
    "m = helper(m, s)",
    "m = helper(m, r)",
    "u = helper(q, s)\nq = u + q",
    "m = np.concatenate([m[:1], 0.5 * m[1:]])",
    "r = m.T @ q",
    "w = m[:1] * {r}\nm = m + w",
    "w = m[:, :, None] * {r}\nm = m + np.sum(np.sin(w), axis=2)",
    "w = np.tanh(m[None, :, :] - 0.5 * m[:, None, :])\nq = q + np.sum(np.max(w, axis=2), axis=0)",
    "w = m[:, None, :] * np.exp(-m)[None]\nt = r[0] - np.sum(w * w, axis=2)\nc = c + np.max(t, axis=1, keepdims=True)",
    "w = m[:, None, :] - np.cos(m)[None, :, :]\nt = 0.5 * np.sum(w * w, axis=2) - q[None, :]\n"
    "v = np.max(t, axis=1, keepdims=True)\nq = v[:, 0] + np.log(np.sum(np.exp(t - v), axis=1))",
)
EXPRESSIONS = {
    "m": (
        "m",
        "x",
        "np.sin({m})",
        "np.tanh({m}) * {m}",
        "{m} * {r}",
        "({m} - {c})",
        "np.exp(-{m} * {m})",
        "0.5 * {m}",
        "np.sqrt({m} * {m} + 0.5)",
        "np.log1p(np.abs({m}))",
        "(m + {s})",
        "-{m}",
        "x * q[:, None]",
    ),
    "r": (
        "r",
        "y",
        "np.cos({r})",
        "0.7 * {r}",
        "(r + {s})",
        "{r} * {r}",
        "m[0]",
        "np.arctan({r})",
        "0.2 * np.cumsum({r})",
    ),
    "c": ("c", "np.tanh({c})", "(c + 0.3)", "{c} * {s}", "m[:, :1]", "np.exp(-{c} ** 2)"),
    "s": ("s", "a", "0.5", "np.sin({s})", "{s} * {s}", "m[0, 0]", "np.float64(0.7)", "1", "np.sqrt(s * s + 1)"),
}
PARTS = ("0", "1:", ":-1", "::2", "-1", ":, 0", "1:, :-1", ":, ::2", "..., 1:", "1:2")
HELPER = "def helper(u, k):\n    w = u * k\n    return np.tanh(w) + 0.1 * w / (1.0 + w * w)\n\n\n"
SIZES = (0, 1, 1, 2, 3, 4, 5, 7, 17, 33)


def program(seed: int) -> str:
    """The text of a function of x (n, k), y (k,), z (n, 1) or a number, a (a number)."""
    draw = random.Random(seed)
    lines = ["m = x * 1.0", "r = 0.5 * y", "c = np.cos(z) + 0.0 * x[:, :1]", "s = 0.7 * a", "q = np.sin(x[:, 0])"]
    lines += _block(draw, draw.randint(3, 8), 0)
    ends = ("np.sum(m * m)", "np.sum(np.sin(m) * r)", "np.mean(m * c)", "np.sum(m, axis=0)", "m", "np.max(m)")
    lines.append(f"return {draw.choice(ends)} + 0.1 * s + np.sum(r) + np.sum(q) * np.sum(c)")
    note = draw.random() < 0.2
    given = 'x: "n k", y: "k", z: "n 1", a' if note else "x, y, z, a"
    return f"{HELPER}def f({given}):\n" + "\n".join(f"    {line}" for line in lines) + "\n"


def _block(draw: random.Random, size: int, depth: int) -> list[str]:
    made: list[str] = []
    for _ in range(size):
        kind = draw.random()
        if depth < 2 and kind < 0.12:
            made.append(f"for _ in range({draw.choice((0, 1, 2, 3))}):")
            made += [f"    {line}" for line in _block(draw, draw.randint(1, 3), depth + 1)]
        elif depth < 2 and kind < 0.18:
            made.append(draw.choice(("if a > 0.5:", "if np.sum(x) > 0.0:", "if m.shape[0] > 3:")))
            made += [f"    {line}" for line in _block(draw, draw.randint(1, 2), depth + 1)]
            if draw.random() < 0.5:
                made += ["else:", *(f"    {line}" for line in _block(draw, 1, depth + 1))]
        else:
            made += _filled(draw, draw.choice(STATEMENTS), 0).split("\n")
    return made


def _filled(draw: random.Random, text: str, depth: int) -> str:
    made, rest = "", text
    while "{" in rest:
        before, _, rest = rest.partition("{")
        kind, _, rest = rest.partition("}")
        if kind == "p":
            made += before + "PART"
            continue
        chosen = draw.choice(EXPRESSIONS[kind][:2] if depth > 2 else EXPRESSIONS[kind])
        made += before + _filled(draw, chosen, depth + 1)
    return (made + rest).replace("PART", draw.choice(PARTS))


def arguments(seed: int) -> tuple[Any, ...]:
    """Arguments, some of them turned, reversed, or every other element of larger ones."""
    draw, numbers = random.Random(seed + 1), np.random.default_rng(seed)
    real = np.float32 if seed % 3 == 0 else np.float64
    n, k = draw.choice(SIZES[1:]) if draw.random() < 0.95 else 0, draw.choice(SIZES[1:])
    x = _laid(numbers.standard_normal((n, k)).astype(real), draw)
    y = _laid(numbers.standard_normal(k).astype(real), draw)
    z = numbers.standard_normal((n, 1)).astype(real)
    kinds: tuple[Any, ...] = (0.8, real(0.8), np.array(0.8, real), 1, np.float64(0.8))
    return x, y, z, draw.choice(kinds[:1] * 4 + kinds)


def _laid(value: Any, draw: random.Random) -> Any:
    kind = draw.randrange(6)
    if kind == 0:
        return np.asfortranarray(value)
    if kind == 1:
        return np.ascontiguousarray(value[::-1])[::-1]
    if kind == 2:
        wide = np.full((*value.shape[:-1], 2 * value.shape[-1]), 7.0, value.dtype)
        wide[..., ::2] = value
        return wide[..., ::2]
    return value


def outcome(seed: int) -> str:
    """`right N kernels`, `refused CODE`, `skipped` (the program itself fails), or `wrong: why`."""
    f, args = random_programs.define(program(seed), seed), arguments(seed)
    try:
        with np.errstate(over="raise", invalid="raise", divide="raise"):
            value = vector(f(*copy.deepcopy(args)))
    except Exception:
        return "skipped"
    if not np.all(np.isfinite(value)) or np.max(np.abs(value), initial=0.0) > 1e4:
        return "skipped"
    rtol = 1e-9 if seed % 3 else 2e-3
    with form(seed % 4 == 1), counted() as names, np.errstate(all="ignore"):
        wrong = compared(f, args, rtol) if seed % 2 else ""
        if not wrong or wrong.startswith("refused"):
            wrong = _made_for(f, args, rtol, seed) or wrong
    linecache.cache.pop(f.__code__.co_filename, None)
    return wrong or f"right {len(names)} kernels"


def _made_for(f: Any, args: tuple[Any, ...], rtol: float, seed: int) -> str:
    """The same for a text made for such arguments, and for the second derivative of every eighth one."""
    before = copy.deepcopy(args)
    found: list[Any] = []
    wrt = tuple(k for k, a in enumerate(args) if vector((a,)).size)
    total = f if np.ndim(f(*copy.deepcopy(args))) == 0 else _summed(f, seed)
    like = args if seed % 5 < 3 else None
    for target in ("numpy", "opencl"):
        try:
            found.append(srcgrad.value_and_grad(total, wrt=wrt, target=target, like=like)(*args))
        except DifferentiationError as error:
            found.append(refused(error, total))
        except Exception as error:
            found.append(f"{type(error).__name__}: {error}")
    if isinstance(found[0], str) and found[0] == found[1]:
        return f"refused {found[0]}" if found[0].startswith("E5") else f"wrong: uncoded {found[0]}"
    wrong = differences(found[1], found[0], rtol) + differences(args, before, 0.0, "arguments")
    return f"wrong: {'; '.join(wrong)[:300]} | {str(found)[:300]}" if wrong else ""


def _summed(f: Any, seed: int) -> Any:
    body, value = program(seed).rsplit("    return ", 1)  # functions that it calls return, too
    text = f"{body}    y_sum = {value}    return np.sum(y_sum * y_sum)\n"
    return random_programs.define(text, seed + 10_000_000)


def main(first: int, count: int) -> int:
    """Draw programs, print the counts; the number that were wrong."""
    counts: collections.Counter[str] = collections.Counter()
    for seed in range(first, first + count):
        found = outcome(seed)
        counts[found.split()[0].rstrip(":")] += 1
        if found.startswith("right"):
            counts["launches"] += int(found.split()[1])
        elif found.startswith("refused"):
            counts[found] += 1
        elif found.startswith("wrong"):
            print(f"{seed}: {found[:600]}".replace("\n", " | "), flush=True)
    print(dict(counts), flush=True)
    return counts["wrong"]


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    sys.exit(min(main(int(sys.argv[1]), int(sys.argv[2])), 1))
