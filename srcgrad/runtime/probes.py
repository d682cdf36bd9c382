"""Probes: identities that report each value and its adjoint to whoever listens."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any, Protocol  # values are numbers or arrays of any dtype


class Listener(Protocol):
    """What is told of values and adjoints; `place` is the number of the statement."""

    def value(self, place: int, x: Any) -> None:
        """The statement has bound x."""

    def adjoint(self, place: int, x_bar: Any) -> None:
        """The adjoint of what the statement bound is complete."""


_listener: ContextVar[Listener | None] = ContextVar("listener", default=None)


@contextlib.contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """For as long as the context lasts, probes report to the listener."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


def probe(x: Any, place: int) -> Any:
    """The value of x, which the listener is told of.

    >>> probe(2.0, 1)
    2.0
    """
    listener = _listener.get()
    if listener is not None:
        listener.value(place, x)
    return x


def probed(x_bar: Any, place: int) -> Any:
    """The adjoint of a probe's value, which the listener is told of.

    >>> probed(2.0, 1)
    2.0
    """
    listener = _listener.get()
    if listener is not None:
        listener.adjoint(place, x_bar)
    return x_bar
