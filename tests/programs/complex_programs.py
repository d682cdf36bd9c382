"""Functions of complex values, and real ones that pass through complex values, with arguments to check them at."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

X = np.array([0.3, -0.7, 1.2])
Z = np.array([0.3 + 1.0j, -0.7 + 0.2j, 1.2 - 0.6j])
A = np.outer(Z, Z) + np.eye(3)
W = np.array([1.0 + 2.0j, 0.5 - 1.0j, 2.0j])
C = 2.0 - 1.0j

Program = tuple[Callable[..., Any], tuple[Any, ...]]
PROGRAMS: list[Program] = []
FIRST_ORDER: list[Program] = []  # lists and dicts, whose second derivatives are refused


def at(*args: Any, to: list[Program] = PROGRAMS) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def keep(function: Callable[..., Any]) -> Callable[..., Any]:
        to.append((function, args))
        return function

    return keep


@at(Z)
def holomorphic(z):
    return np.exp(z) * np.log(z) + np.sin(z) / z


@at(Z)
def whole_powers(z):
    return z**2 + z**3 - z**-1 + z**0.5 + 2.0**z + z**1 + z**0


@at(Z, Z * 1j + 0.5)
def complex_power(z, w):
    return z**w


@at(Z)
def squared_by_conjugate(z):
    return np.sum(z * z.conj()).real


@at(Z)
def conjugates(z):
    return z * np.conj(z), z.conjugate() * 1j


@at(Z)
def selected(z):
    return np.where(z.real > 0, z * z, np.conj(z))


@at(Z, X)
def mixed(z, x):
    return x[:, None] * z + z / x + x / z


@at(X)
def literals(x):
    return 1j * x + x * 2j - x / 1j + 3j


@at(X)
def module_constants(x):
    return x * W + np.abs(x * W) + C * x


@at(X)
def power_spectrum(x):
    return np.sum(np.abs(np.fft.fft(x)) ** 2 * np.array([1.0, 2.0, 3.0]))


@at(X)
def half_spectrum(x):
    spectrum = np.fft.rfft(x)
    return np.abs(spectrum), np.angle(spectrum), spectrum


@at(X)
def convolved(x):
    return np.fft.irfft(np.fft.rfft(x, 8) * np.fft.rfft(np.arange(3.0), 8), 8)


@at(X, 3)
def state_of_a_loop(x, n):
    s = x
    for _ in range(n):
        s = s * (1 + 0.5j) + x * s
    return s


@at(X, 3)
def summed_in_a_loop(x, n):
    s = 0.0
    for i in range(n):
        s = s + x[i] * W[i]
    return s


@at(X)
def while_loop(x):
    s = x * 1j
    n = 0
    while n < 3:
        s = s * s + x
        n = n + 1
    return s


@at(Z, 2)
def turned_in_place(z, i):
    a = z * 2
    a[i] *= 1j
    a[0] = a[1] * a[2]
    return a * a


@at(X)
def filled(x):
    a = np.zeros(3, dtype=complex)
    a[0] = x[0] * 1j
    a[1] = x[1]
    a[2] += x[2] * a[0]
    return a * W


@at(Z)
def overwritten(z):
    a = np.empty_like(z)
    a[:] = z
    a[1:] += z[:-1] * a[0]
    return np.abs(a)


@at(Z)
def added_in_place(z):
    s = z * 0
    s += z.real
    s *= 1j
    s -= W
    return s


@at(Z)
def parts(z):
    return float(z[0].real) * z + complex(z[1]) * z.imag


@at(Z, Z * 0.3 + 1, X)
def inner_products(z, w, x):
    return np.vdot(z, w), np.vdot(w, z * z), np.vdot(z, x) * np.vdot(x, z), np.vecdot(z, w)


@at(Z)
def polar(z):
    r = np.abs(z)
    t = np.angle(z)
    return r**2 * np.exp(3j * t), r * np.cos(t), np.angle(z, deg=True)


@at(0.5, 0.3)
def made_of_two(a, b):
    return complex(a, b) ** 2 * abs(complex(a, b))


@at(0.5 + 1j, 0.3)
def numbers(a, b):
    return a * b + a**2 - a / b, abs(a) * b, a.conjugate() * a.imag


@at(Z, A, X)
def products(z, a, x):
    return a @ z, z @ a, a.T @ a, np.conj(a).T @ z, a @ x, np.dot(x, a), np.einsum("i,ij->j", x, a), np.outer(x, a[0])


@at(Z)
@at(Z * 0.1)
def complex_on_one_side(z):
    y = z * 1j
    if abs(z[0]) < 0.5:
        y = np.abs(z)
    return y * W


@at(X, False)
def stays_real(x, turned):
    y = x * x
    if turned:
        y = x * 1j
    t = y * W
    return t.imag, y[0] * W


def power(z, k):
    return np.abs(z) ** 2 * k


def transform(x):
    return np.fft.fft(x)


@at(X, 2.0)
def of_functions(x, k):
    return power(transform(x), k) + power(x, k)


def several(z):
    s = z
    for _ in range(2):
        s = s * z
    return s, np.abs(s)


@at(Z, X)
def tuples_of_functions(z, x):
    a, b = several(z)
    c, e = several(x)
    return a * b, c * e * a


@at(X)
def attributes(x):
    y = np.fft.fft(x)
    return y.real**2 + y.imag**2, y.real, y.T, y.copy().imag


@at(X)
def conversions(x):
    return x.astype(complex) * W, np.array(x, dtype=complex) * W, np.array([x[0], x[1] * 1j]) * C


@at(Z)
def roots(z):
    return np.sqrt(z), np.abs(np.sqrt(z)), np.log(np.abs(z)), np.prod(z), np.cumsum(z), np.mean(z)


@at(Z)
def real_if_close(z):
    return np.real_if_close(z) * 2, np.real_if_close(np.abs(z))


@at(X, Z)
def joined(x, z):
    return np.stack([x, z]), np.concatenate((x, z, x * 1j)) * C


@at((X, Z))
def pairs(p):
    a, b = p
    return a * b + a


@at(X)
def closure(x):
    def turned(t):
        return t * W

    return np.abs(turned(x))


@at(Z)
def magnitudes(z):
    m = np.abs(z)
    return m**2 + m * m, np.abs(z) ** 3


@at(np.float32([0.5, 0.2]))
def single(x):
    return np.abs(np.fft.fft(x)) ** 2


@at((np.float32([0.5, 0.2]) * (1 + 1j)).astype(np.complex64))
def complex_single(z):
    return z * z, np.abs(z)


@at(Z)
def transforms(z):
    whole = np.outer(z, z)
    return np.fft.fftshift(np.fft.fft2(whole)), np.fft.ifftn(whole, axes=(0,))


@at(np.complex128(1 + 2j))
def numpy_number(z):
    return z * z, abs(z)


@at(Z, to=FIRST_ORDER)
def appended(z):
    out = []
    for k in range(3):
        out.append(z[k] * z * 1j)
    return out[0] + out[2]


@at(X, to=FIRST_ORDER)
def mixed_list(x):
    out = [x]
    for k in range(3):
        out.append(out[k] * (1j + k))
        out.append(x * x)
    s = 0.0
    for o in out:
        s = s + o * o * W
    return s


@at({"a": Z, "b": X}, to=FIRST_ORDER)
def fields(p):
    return p["a"] * p["b"], np.abs(p["a"])
