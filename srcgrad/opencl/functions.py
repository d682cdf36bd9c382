"""Our own mathematical functions in OpenCL C, for `REAL`: branch-free, `a * b + c` only, so that loops vectorise.

A kernel is given those that its text calls, and those that they need: the fewer lines, the sooner it is built.
The names of all of them begin with `sg_`; a kernel calls them by the usual names.
"""

from __future__ import annotations

import re
from functools import cache

from srcgrad.opencl import (
    functions_angles,
    functions_exponential,
    functions_logarithms,
    functions_powers,
    functions_quotients,
    functions_special,
)
from srcgrad.opencl.functions_numbers import filled

_CALLED = """acos acosh asin asinh atan atan2 atanh cbrt copysign cos cosh digamma erf erfc exp exp2 expm1 fabs floor
floor_divide fmod ceil trunc fmax fmin hypot isnan lgamma log log10 log1p log2 logaddexp maximum minimum pow remainder
sign sin sinh sqrt tan tanh tgamma"""
FUNCTIONS = frozenset(_CALLED.split())  # what a kernel may call: others of the runtimes are slower than NumPy's
FLAGGED = {"sin": "x", "cos": "x", "tan": "x", "fmod": "x, y", "remainder": "x, y", "floor_divide": "x, y"}
# they note in `sg_far` what is too large for them; what they are given

_HEAD = """
#define OWN static inline __attribute__((always_inline)) REAL
#if defined(__clang__) && defined(__x86_64__)
#define sqrt __builtin_sqrt<F>
#define floor __builtin_floor<F>
#define ceil __builtin_ceil<F>
#define trunc __builtin_trunc<F>
#define fmax __builtin_fmax<F>
#define fmin __builtin_fmin<F>
#if __clang_major__ >= 11
#define SG_ANY_ORDER _Pragma("clang fp reassociate(on)")
#endif
#define SG_ASK(at, bytes) sg_ask((__global const char*)(at), bytes);
static __attribute__((noinline)) void sg_ask(__global const char* at, size_t bytes) {
    for (size_t b = 0; b < bytes; b += 64) __builtin_prefetch(at + b, 0, 2);
}
#else
#define SG_ASK(at, bytes)
#define fmax(x, y) fmax((REAL)(x), (REAL)(y))
#define fmin(x, y) fmin((REAL)(x), (REAL)(y))
#endif
"""
_CHOICES = """
OWN sg_maximum(REAL x, REAL y) { return (x > y || x != x) ? x : y; }

OWN sg_minimum(REAL x, REAL y) { return (x < y || x != x) ? x : y; }

OWN sg_sign(REAL x) { return x > (REAL)0 ? (REAL)1 : (x < (REAL)0 ? (REAL)-1 : (x == (REAL)0 ? (REAL)0 : x)); }
"""


def prelude(real: str, text: str) -> str:
    """The C of the functions that a text calls, for `float` or `double`."""
    known = _functions()
    words, called = set(_words(text)), called_in(text)
    wanted: set[str] = set()
    waiting = [f"sg_{name}" for name in called]
    waiting += [f"far_{name}" for name in FLAGGED if name in called or f"far_{name}" in words]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += set(_words(known[name])) & known.keys()
    pieces = [_HEAD, *(code for name, code in known.items() if name in wanted)]
    for name in called:
        given = FLAGGED.get(name)
        pieces.append(f"#define {name}({given}) sg_{name}({given}, &sg_far)" if given else f"#define {name} sg_{name}")
    extension = "" if real == "float" else "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    return f"{extension}#define REAL {real}" + filled("\n".join(pieces), real) + "\n"


def called_in(text: str) -> list[str]:
    """Those of our functions that a text calls, by their usual names."""
    return [name for name in sorted(FUNCTIONS.intersection(_words(text))) if f"sg_{name}" in _functions()]


@cache
def _functions() -> dict[str, str]:
    """Every function by its name, after those that it calls."""
    files = (functions_exponential, functions_logarithms, functions_powers, functions_angles, functions_special)
    text = _CHOICES + "".join(file.TEXT for file in (*files, functions_quotients))
    return {re.findall(r"(\w+)\(", code)[0]: code for code in text.strip().split("\n\n")}


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)
