"""The entry of a kernel for CPUs: where a kernel is compiled several times, what it does is a function of its own.

PoCL makes three functions of each kernel, one for each way in which it may be called, and optimises all of them. With
the work in a function that is not inlined, there is one to optimise: a third of the time, and of the code.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

ONCE = "#define SG_ONCE static __attribute__((noinline)) void\n"  # where that is so
_PLACE = "const size_t g = get_group_id(0), groups = get_num_groups(0);"


@dataclass(frozen=True)
class Part:
    """What one stage does: its name, its parameters, and its body, in braces."""

    name: str
    given: Sequence[str]
    body: str


def entry(name: str, given: Sequence[str], body: str) -> str:
    """A kernel of work-groups of one item, whose body, in braces, knows its group as `g`, one of `groups`."""
    listed = ",\n    ".join(given)
    passed = ", ".join([parameter.split()[-1] for parameter in given] + ["get_group_id(0)", "get_num_groups(0)"])
    function = f"{name}_work(\n    {listed},\n    const size_t g,\n    const size_t groups)"
    kernel = f"__attribute__((reqd_work_group_size(1, 1, 1)))\n__kernel void {name}(\n    {listed})"
    return f"""#ifdef SG_ONCE
SG_ONCE {function};

{kernel}
{{ {name}_work({passed}); }}

SG_ONCE {function}
{{
#else
{kernel}
{{ {_PLACE}
#endif
{body}}}
"""


def entry_of_all(name: str, parts: Sequence[Part]) -> str:
    """A kernel of several stages, of which it runs those from one to another; for runtimes that compile a kernel so."""
    functions, given, calls = [], [], []
    for k, part in enumerate(parts):
        own = [f"{parameter}_{k}" for parameter in part.given]
        passed = ", ".join([*(parameter.split()[-1] for parameter in own), "g", "groups"])
        listed = ",\n    ".join([*part.given, "const size_t g", "const size_t groups"])
        functions.append(f"SG_ONCE {part.name}_work(\n    {listed})")
        calls.append(f"if (sg_first <= {k} && {k} < sg_last) {part.name}_work({passed});")
        given += own
    listed = ",\n    ".join([*given, "const uint sg_first", "const uint sg_last"])
    inside = "\n    ".join([_PLACE, *calls])
    declared = "\n".join(f"{function};" for function in functions)
    defined = "\n".join(f"{function}\n{part.body}" for function, part in zip(functions, parts, strict=True))
    return f"""{declared}

__attribute__((reqd_work_group_size(1, 1, 1)))
__kernel void {name}(
    {listed})
{{
    {inside}
}}

{defined}
"""
