"""The operators of device arrays, as NumPy's ufuncs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any  # operands of every kind

if TYPE_CHECKING:
    from srcgrad.opencl.array import Array

Operator = Callable[["Array", Any], Any]


def operators(ufunc: Any) -> tuple[Operator, Operator, Operator]:
    """`x + y`, `y + x` and `x += y`; a number of NumPy's does not change in place."""

    def forward(self: Array, other: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", self, other)

    def backward(self: Array, other: Any) -> Any:
        return self.__array_ufunc__(ufunc, "__call__", other, self)

    def in_place(self: Array, other: Any) -> Any:
        if self.is_number:
            return forward(self, other)
        return self.__array_ufunc__(ufunc, "__call__", self, other, out=(self,))

    return forward, backward, in_place


def compared(ufunc: Any) -> Operator:
    """`x < y`."""
    return lambda self, other: self.__array_ufunc__(ufunc, "__call__", self, other)


def changed(ufunc: Any) -> Callable[[Array], Any]:
    """`-x`."""
    return lambda self: self.__array_ufunc__(ufunc, "__call__", self)
