"""Seeds, and tangents as results: in the dtypes of outputs, numbers for numbers."""

from __future__ import annotations

import dataclasses
from typing import Any  # outputs are arbitrary nested values

import numpy as np

from srcgrad.arguments import is_complex
from srcgrad.errors import DifferentiationError

_NUMPYS = (np.ndarray, np.generic)


def like_output(tangent: Any, output: Any) -> Any:
    """The tangent of a number as a number, a 0-d array is unpacked; that of an array in its dtype."""
    if isinstance(output, tuple):
        return tuple(like_output(t, y) for t, y in zip(tangent, output, strict=True))
    if type(output) is list and type(tangent) is list:
        return [like_output(t, y) for t, y in zip(tangent, output, strict=True)]
    if type(output) is float and isinstance(tangent, np.floating):
        return float(tangent)  # `math.cos` of a float32 is a number of Python
    if isinstance(tangent, np.ndarray) and tangent.ndim == 0 and not isinstance(output, np.ndarray):
        return tangent[()]
    if isinstance(output, np.ndarray) and not isinstance(tangent, np.ndarray | list | tuple | dict):
        return np.asarray(tangent, dtype=output.dtype)
    if is_complex(output) and not is_complex(tangent):
        return np.asarray(tangent, output.dtype)[()] if hasattr(output, "dtype") else complex(tangent)
    if isinstance(tangent, _NUMPYS) and isinstance(output, _NUMPYS) and tangent.dtype.kind == output.dtype.kind == "f":
        return tangent.astype(output.dtype, copy=False)  # `scipy.linalg.det` of float32 is float64
    return tangent


def cast_seed(seed: Any, output: Any) -> Any:
    """The seed in the dtype of the output; E5014 if its shape differs."""
    if isinstance(output, dict):
        if not isinstance(seed, dict) or seed.keys() != output.keys():
            raise DifferentiationError("E5014", "the keys of the seed are not those of the output", "make them equal")
        return {key: cast_seed(seed[key], part) for key, part in output.items()}
    if dataclasses.is_dataclass(output) and not isinstance(output, type):
        if type(seed) is not type(output):
            raise DifferentiationError("E5014", f"the seed is no {type(output).__name__}", "pass one")
        names = [f.name for f in dataclasses.fields(output) if f.init]
        return dataclasses.replace(seed, **{n: cast_seed(getattr(seed, n), getattr(output, n)) for n in names})
    if isinstance(output, tuple | list):
        if not isinstance(seed, tuple | list) or len(seed) != len(output):
            raise DifferentiationError(
                "E5014", f"the output has {len(output)} parts, the seed has not", "pass a tuple of seeds"
            )
        parts = [cast_seed(s, y) for s, y in zip(seed, output, strict=True)]
        return parts if isinstance(output, list) else tuple(parts)
    if output is None or isinstance(output, str):
        return None
    if is_complex(seed) and not is_complex(output):
        raise DifferentiationError("E5017", "a seed or tangent of something real is complex", "pass real numbers")
    if type(seed) is float and isinstance(output, float):
        return seed
    wanted = np.shape(output)
    if seed is None and np.asarray(output).dtype.kind not in "fc":
        seed = np.zeros(wanted)  # as gradients have it of what is no floating number
    if np.shape(seed) != wanted:
        raise DifferentiationError(
            "E5014",
            f"the seed has shape {np.shape(seed)}, the output has shape {wanted}",
            "pass an array of that shape",
        )
    if seed is None:
        raise DifferentiationError("E5014", "a part of the seed is None, where the output is a number", "pass 0.0")
    if isinstance(output, np.ndarray | np.generic) and output.dtype.kind in "fc":
        return np.asarray(seed, dtype=output.dtype)[()] if not wanted else np.asarray(seed, dtype=output.dtype)
    if isinstance(output, complex):
        return complex(seed)
    return float(seed) if not wanted else np.asarray(seed, dtype=float)
