"""C functions that run through a block: sums and products of all elements so far, from either end, as vectors.

Linear recurrences go one by one, as NumPy goes: what a vector multiplies may leave the range of numbers.

In a vector each element is put together with those before it by a tree (itself moved by one, by two, by four); what
came before the vector is put to all of them, so that from vector to vector there is one operation to wait for. A tree
of products may leave the range of numbers where the product does not: such a vector is gone through one by one, unless
the product has become zero, infinite or nan before it, and stays so.
"""

from __future__ import annotations

LANES = {"float": 8, "double": 4}
_TEXT = """static inline __attribute__((always_inline)) REAL sg_running_NAME(
    REAL* run, const REAL start, const size_t n) {
    const SG_MANY z = (SG_MANY)(EMPTY);
    SG_MANY total = (SG_MANY)(start);
    size_t k = 0;
    for (; k + LANES <= n; k += LANES) {
        SG_MANY v = *(SG_ANYWHERE*)(run + PIECE);
        TREE
        const SG_MANY w = v OP total;
        PUT
    }
    REAL one = total.s0;
    for (; k < n; k++) run[ONE] = one OP= run[ONE];
    return one;
}
"""
_PUT = """*(SG_ANYWHERE*)(run + PIECE) = w;
        total OP= (SG_MANY)(v.LAST);"""
_PUT_INSIDE = """const INTS p = as_INTS(v) & POSITIVE, q = as_INTS(w) & POSITIVE, far = (p - LOW) | (HIGH - p);
        const REAL last = total.s0;
        if (sg_below(far | (q - LEAST) | (MOST - q)) && (sg_below(far) || (last != 0 && last - last == 0))) {
            REAL one = last;
            for (size_t l = 0; l < LANES; l++) run[EACH] = one OP= run[EACH];
            total = (SG_MANY)(one);
        } else {
            *(SG_ANYWHERE*)(run + PIECE) = w;
            total OP= (SG_MANY)(v.LAST);
        }"""
_BELOW = {  # whether an element is below zero
    "float": """static inline __attribute__((always_inline)) int sg_below(const int8 numbers) {
    const int8 each = numbers < 0;
    const int4 four = each.lo | each.hi;
    const int2 two = four.lo | four.hi;
    return two.x | two.y;
}
""",
    "double": """static inline __attribute__((always_inline)) int sg_below(const long4 numbers) {
    const long4 each = numbers < 0;
    const long2 two = each.lo | each.hi;
    return (two.x | two.y) != 0;
}
""",
}
# bit patterns: where v is between LOW and HIGH, so are all products of its elements normal; results are, or they stay
_NUMBERS = {
    "float": {
        "INTS": "int8", "POSITIVE": "0x7fffffff", "LOW": "0x21800000", "HIGH": "0x5d000000", "LEAST": "0x00800000",
        "MOST": "0x7f7fffff",
    },
    "double": {
        "INTS": "long4", "POSITIVE": "0x7fffffffffffffffL", "LOW": "0x2000000000000000L",
        "HIGH": "0x5fe0000000000000L", "LEAST": "0x0010000000000000L", "MOST": "0x7fefffffffffffffL",
    },
}  # fmt: skip
_RECURRENCES = {
    "recurrence_on": """static inline __attribute__((always_inline)) REAL sg_recurrence_on(
    REAL* run, const REAL* by, REAL one, const size_t n, const int fresh) {
    if (fresh) one = run[0];
    for (size_t k = fresh; k < n; k++) run[k] = one = run[k] + by[k] * one;
    return one;
}
""",
    "recurrence_back": """static inline __attribute__((always_inline)) REAL sg_recurrence_back(
    REAL* run, const REAL* by, REAL one, const size_t n, const int fresh) {
    for (size_t k = n; k-- > 0;) { run[k] += one; one = by[k] * run[k]; }
    return one;
}
""",
}
_OPERATORS = {"sum": ("+", "-0.0"), "product": ("*", "1")}  # and what there is before the first element


def functions(real: str, texts: str) -> str:
    """Those that some kernels call."""
    called = [f"{what}_{way}" for what in _OPERATORS for way in ("on", "back") if f"sg_running_{what}_{way}(" in texts]
    recurrences = "".join(text for name, text in _RECURRENCES.items() if f"sg_{name}(" in texts)
    if not called:
        return recurrences
    head = f"typedef {real}{LANES[real]} SG_MANY;\n"
    head += f"typedef {real}{LANES[real]} __attribute__((aligned({4 if real == 'float' else 8}))) SG_ANYWHERE;\n"
    head += _BELOW[real] if any(name.startswith("product") for name in called) else ""
    return head + "\n".join(_function(name, real) for name in called) + recurrences


def _function(name: str, real: str) -> str:
    what, way = name.split("_")
    lanes = LANES[real]
    operator, empty = _OPERATORS[what]
    words = {"PUT": _PUT_INSIDE if what == "product" else _PUT, "TREE": _tree(lanes, way, operator)}
    words |= {"EMPTY": empty, "NAME": name, **_NUMBERS[real]}
    if way == "on":
        words |= {"PIECE": "k", "ONE": "k", "EACH": "k + l", "LAST": f"s{lanes - 1}"}
    else:
        words |= {"PIECE": f"n - k - {lanes}", "ONE": "n - 1 - k", "EACH": "n - 1 - k - l", "LAST": "s0"}
    text = _TEXT
    for word, meant in {**words, "LANES": str(lanes), " OP": f" {operator}"}.items():
        text = text.replace(word, meant)
    return text


def _tree(lanes: int, way: str, operator: str) -> str:
    """The running values of a vector: with it is put together itself, moved by one, by two, and by four."""
    made = []
    for gap in (1, 2, 4)[: lanes.bit_length() - 1]:
        moved = [k - gap if way == "on" else k + gap for k in range(lanes)]
        terms = ", ".join(f"v.s{k}" if 0 <= k < lanes else "z.s0" for k in moved)
        made.append(f"v {operator}= (SG_MANY)({terms});")
    return " ".join(made)
