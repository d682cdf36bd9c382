"""Random numbers on devices: drawn on the host by NumPy's generators, so that they are the same on every device."""

from __future__ import annotations

import functools
from typing import Any  # generators take and give arbitrary objects

import numpy as np

from srcgrad.opencl.array import Array
from srcgrad.opencl.creation import asarray, device_of


class Generator:
    """A generator of NumPy's whose arrays are on a device: `default_rng(1).normal(size=3)`."""

    def __init__(self, generator: np.random.Generator, device: Any) -> None:
        self.generator = generator
        self.device = device

    def __getattr__(self, name: str) -> Any:
        method = getattr(self.generator, name)
        return functools.partial(self._drawn, method) if callable(method) else method

    def _drawn(self, method: Any, *args: Any, **kwargs: Any) -> Any:
        plain = [value.read() if isinstance(value, Array) else value for value in args]
        named = {key: value.read() if isinstance(value, Array) else value for key, value in kwargs.items()}
        made = method(*plain, **named)
        return asarray(made, device=self.device) if isinstance(made, np.ndarray) else made


def default_rng(seed: Any = None, *, device: Any = None) -> Generator:
    """NumPy's `default_rng`, with arrays on a device.

    >>> bool((default_rng(3).normal(size=4) == np.random.default_rng(3).normal(size=4)).all())
    True
    """
    return Generator(np.random.default_rng(seed), device_of(device))
