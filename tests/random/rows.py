"""Programs of rows: what each row gives, totals of rows, and rows that read totals; right in all chunks, or refused."""

from __future__ import annotations

import linecache
import random
import textwrap
import warnings
from typing import Any

import dask
import dask.array as da
import numpy as np

import srcgrad
from srcgrad.core.errors import DifferentiationError

N, D = 6, 3
SHARD = dict.fromkeys("xyk", 0)
CHUNKS = ((6,), (1,) * 6, (0, 2, 4), (3, 0, 1, 2), (5, 1))

# Of each kind of value what makes one: m a matrix of rows, r a number for each row, v a vector, s a number.
FORMS = {
    "m": (
        "np.tanh({m})", "{m} * {v}", "{m} - {v}", "{m} + {s}", "{m} * {r}[:, None]", "{m} / (1.0 + {m} ** 2)",
        "{m} @ np.outer({v}, {v})", "{r}[:, None] - {v}", "np.where({m} > 0.1, {m}, 0.5 * {m})", "np.maximum({m}, {s})",
        "np.exp({m} - np.max({m}, axis=1, keepdims=True))", "{m} - np.mean({m}, axis=0)", "np.cumsum({m}, axis=1)",
        "np.stack(({r}, {r}), axis=1) @ np.ones((2, 3))", "{m} if {s} > 0.0 else -{m}", "{m}.T.T", "shifted({m}, {v})",
        "normalised({m})", "np.linalg.solve(4.0 * np.eye(3) + np.outer({v}, {v}), {m}.T).T", "np.column_stack(({r}, {r}, y))",
        "np.hstack(({m}[:, :2], np.ones((len({m}), 1))))", "np.reshape({m}, (x.shape[0], -1))", "np.sort({m}, axis=1)",
        "np.eye(3)[k] * {m}", "np.zeros((len(x), 3)) + {v}", "np.outer({v}, {v})[k]", "np.take({m}, np.argsort({v}), axis=1)",
    ),
    "r": (
        "{m} @ {v}", "np.sum({m}, axis=1)", "{m}[:, 1]", "np.sin({r})", "{r} * {r}", "{r} - {s}", "{r} / (1.5 + np.cos({s}))",
        "np.einsum('nd,d->n', {m}, {v})", "np.max({m}, axis=1)", "np.log1p({r} ** 2)", "{r} - np.mean({r})", "{v} @ {m}.T",
        "{r} * len(x) / 6.0", "np.sqrt(np.sum({m} * {m}, axis=-1) + 0.1)", "{v}[k] * {r}", "{m}[np.arange(len({r})), k]",
        "np.take_along_axis({m}, k[:, None], axis=1)[:, 0]", "np.linalg.norm({m}, axis=1)", "np.inner({m}, {v})",
        "{r} / {r}.shape[0]", "np.exp({r} - np.max({r}))", "np.interp({r}, np.linspace(-3.0, 3.0, 3), {v})", "spread({r})",
        "np.var({m}, axis=1)", "{r} + np.sin(np.arange(len({r})))",
    ),
    "v": (
        "np.sum({m}, axis=0)", "np.mean({m}, axis=0)", "{r} @ {m}", "{m}.T @ {r}", "np.mean({m} * {m}, axis=0)", "np.tanh({v})",
        "{v} * {s}", "{v} + {v}", "np.sqrt(np.mean(({m} - {v}) ** 2, axis=0) + 0.5)", "np.sum({m} * {v}, axis=0) / x.shape[0]",
        "np.linalg.solve({m}.T @ {m} + 9.0 * np.eye(3), {v})", "np.max({m}, axis=0)", "np.min(np.floor({m}) * {v}, axis=0)",
        "np.var({m}, axis=0)", "np.std({m}, axis=0, ddof=1)", "np.linalg.cholesky({m}.T @ {m} + np.eye(3))[2]",
        "np.sum({m}[{r} > 0.0], axis=0)", "np.mean({m}[({r} > 0.0) | ~(k == 1)], axis=0)", "{r}[k < 2] @ {m}[k < 2]",
        "np.linalg.norm({m}, axis=0)", "np.ptp({m}, axis=0)", "np.bincount(k, weights={r}, minlength=3)",
    ),
    "s": (
        "np.sum({r})", "np.mean({r})", "np.sum({m})", "np.mean({m} ** 2)", "{r} @ {r}", "{v} @ {v}", "np.tanh({s})", "{s} + {s}",
        "np.sum({v})", "np.log(np.sum(np.exp(np.tanh({r}))))", "np.sum({r} * {r}) / len(x)", "0.5 * {s}",
        "np.linalg.slogdet({m}.T @ {m} + 9.0 * np.eye(3))[1]", "np.max({r})", "np.var({r})", "np.linalg.norm({m})",
        "np.sum({r}[{r} > 0.1])", "np.mean({m}[{r} > 0.1])", "np.mean({r}[k == 1] * {r}[k == 1])", "np.sum({m}[{m} > 0.1])",
        "np.average({r}, weights=1.0 + {r} ** 2)", "np.nanmean(np.where({r} > 0.9, np.nan, {r}))", "np.sum({r}) / len({r})",
        "np.max(np.round({r}))", "np.sum(np.std({m}))", "np.inner({r}, {r})",
    ),
}  # fmt: skip
BLOCKS = {  # statements that hold others, of a new name h
    "m": ("{h} = {m}\nfor i in range(2):\n    {h} = np.tanh({h} * {v}) + {s}",
          "if {s} > 0.2:\n    {h} = {m} * {s}\nelse:\n    {h} = {m} - {v}", "{h} = np.array([np.sort(row) * {v} for row in {m}])",
          "{h} = np.zeros_like({m})\n{h}[:, 0] = {r}\n{h}[:, 1:] = {m}[:, :2] * {v}[1:]", "{h} = {m} * 1.0\n{h}[{m} < 0.0] = {s}",
          "{h} = np.zeros((len(x), 3))\nfor i in range(len(x)):\n    {h}[i, 0] = {r}[i]\n    {h}[i, 1:] = {m}[i, :2] * {v}[:2]"),
    "r": ("if {s} > 0.2:\n    {h} = {r}\nelse:\n    {h} = {r} * {r}", "{h} = {r}\nfor i in range(3):\n    {h} = {h} + {m}[:, i] * {v}[i]",
          "{h} = np.array([np.tanh(row @ {v}) for row in {m}])", "{h} = {r} + 0.0\n{h}q = k > 0\n{h}[{h}q] *= {r}[{h}q]",
          "{h} = np.zeros(len(x))\nfor i in range(len(x)):\n    {h}[i] = np.sin({r}[i]) * {s}",
          "{h}s = []\nfor i in range(x.shape[0]):\n    {h}s.append({m}[i] @ {v})\n{h} = np.array({h}s)"),
    "v": ("{h} = {v} * 1.0\nnp.add.at({h}, k, {r})\nnp.subtract.at({h}, k, {m}[:, 0])", "if {v}[0] > 0.0:\n    {h} = {v} * {v}\nelse:\n    {h} = np.sin({v})", "{h} = {v}\n{h} = {h} * {s}\n{h} = {h} - {v}",
          "{h} = np.zeros(3)\nfor row in {m}:\n    {h} += row * {v}",
          "{h} = 0.0\nfor i, row in enumerate({m}):\n    part = np.zeros(3)\n    for j in range(3):\n"
          "        part[j] = row[j] * {v}[j]\n    {h} = {h} + part * {r}[i]"),
    "s": ("{h}q = {r} > 0.0\n{h} = np.sum({m}[{h}q] @ {v} * {r}[{h}q]) / (1.0 + len({r}[{h}q]))",
          "{h} = 0.0\nfor i in range(3):\n    {h} = {h} + {v}[i] * {s}", "{h} = np.mean({r})\n{h} = {h} + np.sum({r} * {h})",
          "{h} = 0.0\nfor i in range(len(x)):\n    {h} += {m}[i] @ {v} * {r}[i]",
          "{h} = 0.0\nfor i in range(len(x)):\n    if {r}[i] > 0.0:\n        {h} += i * {r}[i]\n    else:\n        {h} -= {s}",
          "{h} = {s}\nfor row in {m}:\n    {h} = {h} + np.max(np.cumsum(row) * {v})",
          "{h} = 0.0\nfor a, b in zip({m}, {r}):\n    if b < 0.0:\n        continue\n    {h} -= np.tanh(a @ {v}) * b",
          "{h} = sum([np.tanh(a @ {v}) - b for a, b in zip({m}, {r})]) / len(x)", "{h} = sum(q * q for q in {r})",
          "{h}a, {h} = 0.0, 0.0\nfor i, q in enumerate({r}):\n    {h}a += {s} * q\n    {h} += q * {m}[i, k[i]]\n{h} = {h} - {h}a"),
}  # fmt: skip
STRAY = {  # loops over rows in which one needs another, or its number
    "s": ("{h} = 0.0\nfor i in range(len(x)):\n    {h} = {h} * 0.5 + {r}[i]", "{h} = 0.0\nfor row in {m}:\n    {h} = row @ {v}",
          "{h} = 0.0\nfor i in range(1, len(x)):\n    {h} += {r}[i] * {r}[i - 1]",
          "{h} = 0.0\nfor q in {r}:\n    {h} += q\n    if {h} > 0.5:\n        break", "{h} = 0.0\nfor q in {r}:\n    {h} += q * np.sum({r})",
          "{h} = 0.0\n{h}c = {h}\nfor q in {r}:\n    {h} += q\n{h} = {h} * 2.0 + {h}c",
          "{h} = np.sum(np.outer({r}[{r} > 0.0], {r}[{r} > 0.0]))", "{h} = np.sum({r}[{r} > 0.0] * {r}[{r} <= 0.0])",
          "{h} = np.max({r}[{r} > 0.0])", "{h} = np.sum(np.cumsum({r}[{r} > 0.0]))", "{h} = np.sum({m}[{r} > 0.0][0])",
          "{h}q = {r} > 0.0\n{h} = np.sum({r}[{h}q])\n{h}q = {r} < 0.0\n{h} += np.sum({r}[{h}q] * 2.0)",
          "{h}t = {r} * 1.0\n{h}u = {h}t\n{h}t[k == 0] = 0.0\n{h} = np.sum({h}u)", "{h}t = {r}[k > 0]\n{h}t[:1] = 0.0\n{h} = np.sum({h}t)",
          "{h} = np.sum({r})\nfor q in {r}:\n    {h} += q", "{h} = [0.0]\nfor q in {r}:\n    {h}.append(q)\n{h} = sum({h})",
          "{h} = 0.0\nfor q in {r}:\n    {h} += q\nfor q in {m}:\n    {h} += np.sum(q)"),
}  # fmt: skip
WRONG = {  # what mixes rows, asks for the rows of a block, or is refused for another reason
    "m": ("np.sort({m}, axis=0)", "{m}[::-1]", "np.cumsum({m}, axis=0)", "np.roll({m}, 1, axis=0)", "{m} + {m}[0]",
          "np.reshape({m}, (3, -1)).T"),
    "r": ("{r}[np.argsort({r})]", "{r}[k]", "{m}[k, np.arange(len(x)) % 3]", "np.cumsum({r})", "{r} - {r}[0]",
          "({m} @ {m}.T) @ {r}", "{r} * np.ones(6)", "np.diff({r}, prepend=0.0)"),
    "v": ("{m}[0]", "np.median({m}, axis=0)", "np.sum({m}[1:], axis=0)", "np.prod({m}, axis=0)"),
    "s": ("np.median({r})", "{r}[1]", "np.sum({m}[1:] * {m}[:-1])", "np.prod({r})", "np.max({r}[1:])", "np.sum({m}[k])"),
}  # fmt: skip
HEAD = "import numpy as np\n\n\ndef shifted(a, b):\n    c = a * a\n    return c - b\n\n\n"
HEAD += "def normalised(z):\n    return (z - z.mean(axis=0)) / np.sqrt(z.var(axis=0) + 0.1)\n\n\n"
HEAD += "def spread(z):\n    return z * len(z) / (1.0 + np.std(z))\n\n\ndef loss(w, x, y, k):\n"


def program(seed: int) -> str:
    """The text of a function of a vector w, rows x, and a number y for each row."""
    draw = random.Random(seed)
    known = {"m": ["x"], "r": ["y"], "v": ["w"], "s": ["0.7"]}
    lines: list[str] = []
    for k in range(draw.randint(3, 8)):
        kind = draw.choice("mmrrvvs")
        forms = WRONG[kind] if draw.random() < 0.04 else FORMS[kind]
        again = known[kind][-1]
        held = again if again.isidentifier() and draw.random() < 0.15 else f"{kind}{k}"
        form = "{h} = " + draw.choice(forms) if draw.random() < 0.75 else draw.choice(BLOCKS[kind])
        form = draw.choice(STRAY["s"]) if kind == "s" and draw.random() < 0.06 else form
        held = f"{kind}{k}" if "\n" in form else held
        lines.append(textwrap.indent(_filled(form.replace("{h}", held), known, draw), "    "))
        known[kind] += [held] if held != again else []
    ends = [_filled(draw.choice(FORMS["s"]), known, draw) for _ in range(draw.randint(1, 2))]
    return HEAD + "\n".join(lines) + f"\n    return {' + '.join(ends)}\n"


def _filled(form: str, known: dict[str, list[str]], draw: random.Random) -> str:
    """A form with names: the newest twice as often."""
    made = form
    for kind, names in known.items():
        while f"{{{kind}}}" in made:
            made = made.replace(f"{{{kind}}}", draw.choice([*names, names[-1]]), 1)
    return made


def outcome(seed: int) -> str:
    """right, refused, or what is wrong: value and gradients by all, in blocks and spread, beside one machine's."""
    text, place = program(seed), f"<rows {seed}>"
    linecache.cache[place] = (len(text), None, text.splitlines(True), place)
    space: dict[str, Any] = {}
    exec(compile(text, place, "exec"), space)
    given = np.random.default_rng(seed)
    w, x, y = given.standard_normal(D), given.standard_normal((N, D)), given.standard_normal(N)
    k = given.integers(0, D, N)
    names, draw = ("w", "x", "y"), random.Random(seed)
    with warnings.catch_warnings(), np.errstate(all="ignore"), dask.config.set(scheduler="synchronous"):
        warnings.simplefilter("ignore")
        try:
            due = _flat(srcgrad.value_and_grad(space["loss"], names)(w, x, y, k))
        except np.linalg.LinAlgError:
            return "unfit"
        if not all(np.all(np.isfinite(one)) for one in due) or max(np.max(np.abs(one)) for one in due) > 1e6:
            return "unfit"
        lengths = draw.choice(CHUNKS)
        try:
            spread = srcgrad.value_and_grad(space["loss"], names, target="dask", shard=SHARD)
            found = _flat(
                spread(w, da.from_array(x, (lengths, (D,))), da.from_array(y, (lengths,)), da.from_array(k, (lengths,)))
            )
            blocked = srcgrad.blocked(space["loss"], over=("x", "y", "k"), rows=draw.choice((1, 2, 4, 6, 9)))
            again = _flat(srcgrad.value_and_grad(blocked, names)(w, x, y, k))
        except DifferentiationError as error:
            return "refused" if error.code == "E5029" else f"{error.code} {error}"
        except TypeError as error:
            return "refused" if "E5029" in str(error) else f"{error}"
        close = [_far(one, other) < 1e-9 for each in (found, again) for one, other in zip(each, due, strict=True)]
    return "right" if all(close) else f"wrong {close} in {lengths}"


def _flat(found: Any) -> list[Any]:
    return [np.asarray(found[0]), *map(np.asarray, found[1])]


def _far(one: Any, other: Any) -> float:
    return float(np.max(np.abs(one - other)) / max(1.0, np.max(np.abs(other)))) if one.shape == other.shape else 1.0
