"""What kernels call of a runtime, declared by us, where that spares the runtime a header.

PoCL has its compiler read a header of 17,000 declarations for each program, which takes as long as a dozen kernels, and
nine tenths of the time in which a program comes from its cache on disk. The header is left out by its own guard.
"""

from __future__ import annotations

GUARD = "_OPENCL_H_"
_PLACES = "get_group_id get_num_groups get_local_id get_global_id get_global_size"
_NUMBERS = "sqrt floor ceil trunc sin cos tan"
_PAIRS = "fmin fmax"


def declared(has_fp64: bool) -> str:
    """The declarations, as the header has them."""
    made = [f"size_t SG_CALLED {name}(uint);" for name in _PLACES.split()]
    for real in ("float", "double") if has_fp64 else ("float",):
        made += [f"{real} SG_CALLED {name}({real});" for name in _NUMBERS.split()]
        made += [f"{real} SG_CALLED {name}({real}, {real});" for name in _PAIRS.split()]
        made.append(f"int SG_CALLED isnan({real});")
    made.append("void __attribute__((overloadable, convergent)) barrier(cl_mem_fence_flags);")
    return "\n".join(["#define SG_CALLED __attribute__((overloadable, const))", *made, ""])
