"""The page of the measurements, docs/benchmarks.md, from what was measured and from the texts."""

from __future__ import annotations

from pathlib import Path
from statistics import median
from typing import Any  # what JSON holds

from benchmarks import plot, texts
from benchmarks.contenders import generated
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

DOCS = Path(__file__).resolve().parent.parent / "docs"
COLUMNS = {
    "text": "text",
    "declared": "declared",
    "call": "`srcgrad`",
    "blocks": "in blocks",
    "numba": "Numba",
    "kernels": "OpenCL",
    "autograd": "autograd",
    "jax": "JAX jit",
    "torch": "PyTorch",
}

HEAD = """# Benchmarks

Derivatives by srcgrad, by a careful person, and by others, measured by `make bench`. A number is a ratio to the
**hand-written NumPy gradient** in `benchmarks/workloads/`, so 1.00 is as fast as that, and 2.00 takes twice as long.
In each process all contenders take turns; a cell has the median over processes and, where they differ by more than a
tenth, the least and the most. *text* is what `srcgrad dump` writes for arguments of any shape, *declared* what it
writes where the function says for which shapes it is (`x: "n d"`), which the hand-written text takes for granted;
*`srcgrad`* is the text for any through `value_and_grad` (`vjp`, `jacobian`, `hvp`), which looks at its arguments first;
*in blocks* is the text of [`srcgrad.blocked`](memory.md#rows-in-blocks), where the function is a sum over rows; *Numba*
and *OpenCL* are the other targets, called likewise; Numba's for bundle adjustment is
[`srcgrad.each`](numba.md#many-items-in-parallel) of the function of one observation, which gives all blocks of the
Jacobian at once. Before the slash stands the allocator of the C library as it is, behind it one that keeps freed memory
(`srcgrad.keep_memory()`, for all contenders): fresh pages cost more than arithmetic for arrays from 128 KiB on, whoever
asks for them.

{plot}

{machine}

| workload | hand-written, ms | {columns} |
|---|---:|{rules}|
{times}

## Texts, memory, first calls

*value and gradient / value* is the time of the generated text over that of the function itself, with both allocators as
above, behind the semicolon that of the text in blocks. *tokens* and *lines* are those of the generated functions over
those of the hand-written ones, without comments, docstrings and imports; *declared* are the tokens of the text for
declared shapes, its test of the arguments among them; *recorded* is how many values each trip of a loop keeps for the
backward half, generated and by hand. *peak memory* is what Python and NumPy ask for, over that of the hand-written
gradient. *generation* is the time from the function to a text that can be called, in a process where srcgrad has been
used before; in brackets, what `jax.jit` takes for its first call.

| workload | value and gradient / value | tokens | declared | lines | recorded | peak memory | generation, ms (JAX) |
|---|---:|---:|---:|---:|---:|---:|---:|
{others}

## What the hand-written text knows

Where a generated text is longer, slower or larger than the hand-written one, most of the difference is one of these.

- **Black-Scholes.** `spot * density(d1)` equals `strike * exp(-rate * time) * density(d2)`, so what the price gains
  through `d1` it loses through `d2`: three of five Greeks have no term by either, the other two share one density.
  The generated text has both densities, `d1_bar + d2_bar`, and what follows from them: ten of its lines compute
  rounding errors, which no exact fold may drop. It says `sum_to` for each argument that may have been broadcast; the
  hand-written text takes five arrays of one length. Where that is declared, almost a fifth of the tokens is gone.
- **Hand tracking.** By hand, a rotation is differentiated as a matrix: the columns by one angle are others of its
  columns, and `R = I + s K + (1 - c) K K`. The user's function writes nine entries, and so do its tangents.
- **Lotka-Volterra.** `(d * v_bar - b * u_bar) * y` is two products less than `d * v_bar * y - b * u_bar * y`, and
  rounds otherwise.
- **LSTM.** The hand-written text knows that nothing is broadcast, where the generated one says `sum_to`, and which
  parts of an adjoint are whose, where the generated one asks `split_like`.
- **Networks of `np.maximum`.** By hand a unit at exactly 0 has the derivative 0. Here a tie is shared, as documented,
  and so what `maximum` was given is kept beside what it gave, until its adjoint takes its memory.
- **Mixture.** By hand softmax and the logarithm of its denominator come from one function. The generated text has the
  lines of `log_sum_exp` twice, for arrays of one and of two axes.
- **Bundle adjustment.** The hand-written text knows that no argument is broadcast, and how many columns each has: so
  does that for declared shapes. It also knows that all columns of `cameras_bar` are written, when it says
  `np.empty_like`.
"""


def ratios(row: dict[str, Any], setting: str, column: str, base: str = "hand") -> list[float]:
    """Those of the processes; empty where the contender did not run."""
    times = [run["times"] for run in row[setting]]
    return [each[column] / each[base] for each in times if column in each]


def spread(found: list[float]) -> str:
    """The median, and the range if it matters.

    >>> spread([1.0, 1.01, 1.02]), spread([1.0, 1.5, 2.0])
    ('1.01', '1.50 (1.00 to 2.00)')
    """
    if not found:
        return ""
    middle = f"{short(median(found))}"
    return middle if max(found) <= 1.1 * min(found) else f"{middle} ({short(min(found))} to {short(max(found))})"


def short(number: float) -> str:
    """Three digits.

    >>> short(0.98765), short(12.345), short(1234.5)
    ('0.99', '12.3', '1234')
    """
    return f"{number:.2f}" if number < 10 else f"{number:.1f}" if number < 100 else f"{number:.0f}"


def measured(rows: list[dict[str, Any]]) -> list[str]:
    """The columns of which something was measured."""
    return [column for column in COLUMNS if any(ratios(row, "default", column) for row in rows)]


def row_of_times(workload: Workload, row: dict[str, Any], shown: list[str]) -> str:
    """A row of the first table."""
    base = [median(run["times"]["hand"] for run in row[setting]) for setting in ("default", "kept")]
    cells = []
    for column in shown:
        both = [spread(ratios(row, setting, column)) for setting in ("default", "kept")]
        cells.append(" / ".join(both) if any(both) else "")
    return f"| {workload.title} | {' / '.join(milliseconds(t) for t in base)} | {' | '.join(cells)} |"


def milliseconds(seconds: float) -> str:
    """With three digits.

    >>> milliseconds(1.5e-6), milliseconds(0.25)
    ('0.0015', '250')
    """
    return f"{1e3 * seconds:.3g}" if seconds < 1.0 else f"{1e3 * seconds:.0f}"


def row_of_text(workload: Workload, row: dict[str, Any]) -> str:
    """A row of the second table."""
    text, hand = generated(workload), workload.hand_text
    peaks = row["default"][0]["peaks"]
    first = {c: median(run["first"][c] for run in row["default"]) for c in row["default"][0]["first"]}
    jax = f" ({1e3 * first['jax']:.0f})" if "jax" in first else ""
    over_value = [
        " / ".join(spread(ratios(row, setting, column, "value")) for setting in ("default", "kept"))
        for column in ("text", "blocks")
    ]
    return (
        f"| {workload.title} | {'; '.join(ratio for ratio in over_value if ratio.strip(' /'))} "
        f"| {_tokens(text, hand)} | {_tokens(generated(workload, declared=True), hand) if workload.shapes else ''} "
        f"| {texts.lines(text)} / {texts.lines(hand)} | {texts.records(text)} / {texts.records(hand)} "
        f"| {peaks['text'] / peaks['hand']:.2f} | {1e3 * first['text']:.0f}{jax} |"
    )


def _tokens(text: str, hand: str) -> str:
    """Those of two texts, and their ratio."""
    found, by_hand = texts.tokens(text), texts.tokens(hand)
    return f"{found} / {by_hand} = {found / by_hand:.2f}"


def where(results: dict[str, Any]) -> str:
    """The versions, and how many threads."""
    row = next(iter(results.values()))
    versions = ", ".join(f"{name} {version}" for name, version in row["versions"].items())
    return f"Python {row['python']}, {versions}; threads: {row['threads']}."


def write(results: dict[str, Any]) -> None:
    """Write the page and its plot."""
    rows = [(workload, results[workload.title]) for workload in WORKLOADS if workload.title in results]
    if not rows:
        return
    shown = measured([row for _, row in rows])
    (DOCS / "benchmarks.svg").write_text(plot.plot(points(rows)), encoding="utf-8")
    text = HEAD.format(
        plot="![Times relative to the hand-written gradient](benchmarks.svg)",
        machine=where(results),
        columns=" | ".join(COLUMNS[column] for column in shown),
        rules="|".join(["---:"] * len(shown)),
        times="\n".join(row_of_times(*row, shown) for row in rows),
        others="\n".join(row_of_text(*row) for row in rows),
    )
    (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")


def points(rows: list[tuple[Workload, dict[str, Any]]]) -> list[tuple[str, dict[str, float]]]:
    """For each workload the ratios that the plot shows: with memory kept, which is what compilers are best at."""
    found = []
    for workload, row in rows:
        each = {column: ratios(row, "kept", column) for column in COLUMNS if column != "call"}
        found.append((workload.title, {COLUMNS[c]: median(values) for c, values in each.items() if values}))
    return found
