"""Device arrays do what NumPy's do, in the host's memory and in buffers; gradients live where their primals do."""

from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.opencl as xp
from srcgrad.core.errors import DifferentiationError
from srcgrad.interface.api.derivatives import float_arguments
from srcgrad.opencl.arrays.array import Array
from srcgrad.opencl.devices import device, trusted
from tests.programs.small import RIGHT, made


@pytest.fixture(scope="module")
def _gpu() -> device.Device:
    """A device whose arrays are in buffers, as a GPU's are; it is this CPU."""
    made = device.opened(device.found()[0])
    made.is_gpu, made.small = True, None
    flags = made.cl.mem_flags
    made._reads = flags.READ_ONLY | flags.COPY_HOST_PTR
    return made


@pytest.fixture(params=["host", "buffers"])
def on(request: pytest.FixtureRequest, _gpu: device.Device) -> device.Device:
    return _gpu if request.param == "buffers" else trusted.current()


def same(found: Any, wanted: Any, rtol: float = 1e-14) -> None:
    """An array of the same dtype, shape and values as NumPy's; or an equal object."""
    if isinstance(wanted, tuple | list):
        assert len(found) == len(wanted)
        for one, two in zip(found, wanted, strict=True):
            same(one, two, rtol)
    elif isinstance(wanted, np.ndarray | np.generic):
        assert type(found) is Array and found.dtype == wanted.dtype and found.shape == wanted.shape
        assert found.is_number == isinstance(wanted, np.generic)
        np.testing.assert_allclose(np.asarray(found), wanted, rtol=rtol, atol=rtol)
    else:
        assert type(found) is type(wanted) and found == wanted


def drawn(shape: tuple[int, ...] = (3, 4), dtype: Any = np.float64, seed: int = 0) -> Any:
    return (np.random.default_rng(seed).uniform(-1.0, 1.0, shape) * 4).astype(dtype)


_EXPRESSIONS = """\
x + y; x - 1; 2.0 * x; x / (y * y + 1.0); x // 0.5; x % 2.0; abs(x) ** 0.5; x @ y.T; -x; x < y; x == x; x[0]
x[0, 1]; x[-1:]; x[::2, ::-1]; x[:, None]; x[..., 1]; x[[2, 0]]; x[x > 0.0]; x[[0, 1], [1, 2]]
x[np.array([True, False, True])]; x.T; x.reshape(4, 3); x.reshape(-1)[2:]; x.ravel(); x.flatten(); x.transpose(1, 0)
x.swapaxes(0, 1); x.copy(); x[:, 1].T; x.sum(); x.sum(axis=0); x.mean(axis=1, keepdims=True); x.max(); x.argmax()
x.argmax(axis=0); x.std(); x.all(); x.prod(axis=(0, 1)); x.cumsum(axis=1); np.sum(x); np.sum(x, axis=-1)
np.exp(x) * np.sin(y); np.maximum(x, 0.0); np.where(x > 0, x, y); np.clip(x, -1, 1); np.hypot(x, y)
np.concatenate([x, y]); np.concatenate((x, y), axis=1); np.stack([x, y]); np.vstack([x, y])
np.einsum('ij,ij->i', x, y); np.einsum('ij->', x); np.tensordot(x, y, 2); np.dot(x, y.T); np.outer(x[0], y[0])
np.matmul(x.T, y); np.linalg.norm(x); np.linalg.svd(x)[1]; np.linalg.solve(x[:, :3], y[:, 0]); np.sort(x, axis=0)
np.argsort(x); np.cumsum(x); np.diff(x); np.take(x, [0, 2], axis=1); np.broadcast_to(x[0], (2, 4))
np.moveaxis(x, 0, 1); np.expand_dims(x, 0); np.squeeze(x[:1]); np.zeros_like(x); np.ones_like(x)
np.full_like(x, 2.0); np.tile(x, 2); np.repeat(x, 2, axis=0); np.roll(x, 1); np.split(x, 2, axis=1)
np.nonzero(x > 0); np.unique(x); np.flip(x); np.triu(x); np.diag(x[:, :3]); np.trace(x); np.isfinite(x)
np.allclose(x, x); np.add.reduce(x); np.add.accumulate(x, axis=1); np.multiply.outer(x[0], y[0])
np.add.at(x.copy(), 0, 1.0); np.modf(x); np.divmod(x, 2.0); divmod(x, 2.0); np.shape(x); np.ndim(x); np.size(x)
len(x); x.tolist(); x.dtype; x.strides; x.nbytes; x[1].offset == 0 if hasattr(x, 'offset') else False
float(x[0, 0]); int(x[0, 0]); bool(x[0, 0] > 5.0); [1, 2, 3, 4][x[0].argmax()]; list(x[0]); 3.0 in x; x[0, 0].item()
f'{x[0, 0]:.3f}'; [*map(float, x[0])]; np.float64(2.0) * x; np.arange(4.0) + x; x + np.ones((3, 1))
x * [1.0, 2.0, 3.0, 4.0]; x[0] @ y[1]; x.real; x.astype(np.float32); np.fft.rfft(x); x[1:1]; x[:0] + 1.0
x[:0].sum(); np.exp(x[:, 3:3]); np.sum(x[:, :0], axis=1); x[::-1] * y; np.tanh(x.T); x[0][::2] - 1.0
np.log1p(x * x)"""


@pytest.mark.parametrize("expression", _EXPRESSIONS.replace("\n", "; ").split("; "))
def test_expression(expression: str, on: device.Device) -> None:
    for dtype in (np.float64, np.float32):
        x, y = drawn(dtype=dtype), drawn(dtype=dtype, seed=1)
        space = {"np": np, "x": xp.asarray(x, device=on), "y": xp.asarray(y, device=on)}
        found, wanted = eval(expression, space), eval(expression, {"np": np, "x": x, "y": y})
        same(found, wanted, 1e-13 if dtype is np.float64 else 1e-5)


WRITES = [
    "x[1] = 5.0; x[0, 1] = 2.0; x[:, ::2] = y[:, ::2]; x[x > 0] = 0.0; x[[0, 2]] += 1.0; x[...] = y; x[0] = y[1]",
    "v = x[1:, ::2]; v += 1.0; v[0] = 7.0; w = v.T; w *= 2.0; w.fill(3.0)",
    "x += y; x -= 1.0; x *= y[0]; x /= 2.0; x **= 2",
    "r = x.reshape(12); r[3] = 9.0; r[::5] -= y.ravel()[::5]",
    (
        "np.add(x, y, out=x); np.exp(x, out=y); np.copyto(x, y); np.add.at(x, ([0, 0], [1, 1]), 1.0); x.sort(axis=0); "
        "np.cumsum(y, axis=0, out=x)"
    ),
    "s = x[0, 0]; x[0, 0] = 99.0; x[1, 1] = s; s += 1.0; t = x.sum(); u = t; u += 1.0; x[2, 2] = t",
    (
        "np.fill_diagonal(x[:, :3], 0.0); np.put(x, [0, 1], 4.0); x.flat; x.partition(1); d = x.T[1]; "
        "d -= 1.0; e = np.exp(x); e[0] = x[0]; x[1] = e[1]"
    ),
    "for k in range(3): x[k] = x[k - 1] * 0.5 + np.sum(x[k]) * y[k]",
    "z = np.zeros(4); z += x[0]; x[0] = z * 2.0; a = np.ones(4); np.multiply(x[1], 2.0, out=a); x[2] = a",
]


@pytest.mark.parametrize("statements", WRITES)
def test_writes(statements: str, on: device.Device) -> None:
    x, y = drawn(), drawn(seed=1)
    space = {"np": np, "x": xp.asarray(x, device=on, copy=True), "y": xp.asarray(y, device=on, copy=True)}
    exec(statements, space)
    exec(statements, plain := {"np": np, "x": x, "y": y})
    same(space["x"], plain["x"], 1e-13)
    same(np.exp(space["x"] * 0.01), np.exp(plain["x"] * 0.01), 1e-13)  # a kernel sees what was written
    same(space["y"], plain["y"], 1e-13)


def test_a_number_can_be_written_into_but_not_in_place(on: device.Device) -> None:
    x = xp.asarray([1.0, 2.0], device=on)
    first = other = x[0]
    first += 1.0  # as with NumPy's numbers: another one
    assert float(other) == 1.0
    other[()] = 5.0
    assert float(other) == 5.0 and float(x[0]) == 1.0 and other.is_number and float(other + x[1]) == 7.0
    assert xp.astype(other, xp.float64, copy=False) is other and xp.asarray(other, copy=False) is other
    assert xp.from_dlpack(x, device=on, copy=False) is x and xp.from_dlpack(x, copy=True) is not x
    kept = xp.astype(other, xp.float64)
    other[...] = x[1]
    assert (float(kept), float(other), other.device) == (5.0, 2.0, on)
    with pytest.raises(IndexError):
        other[0] = 1.0
    assert float(other) == 2.0


@pytest.mark.parametrize("ufunc", [np.remainder, np.logaddexp2, np.hypot, np.arctan2, np.heaviside, np.power])
def test_special_values(ufunc: Any, on: device.Device) -> None:
    one = [0.0, -0.0, 1.0, -1.0, 0.1, 3.0, 5.0, -3.0, 1e-20, -1e-20, 1e20, np.inf, -np.inf, np.nan, -100.0, 7.5]
    x, y = (part.ravel() for part in np.meshgrid(one, one))
    with np.errstate(all="ignore"):
        found, wanted = np.asarray(ufunc(xp.asarray(x, device=on), xp.asarray(y, device=on))), ufunc(x, y)
    np.testing.assert_allclose(found, wanted, rtol=4e-15, atol=0.0)
    np.testing.assert_array_equal(np.signbit(found[wanted == 0.0]), np.signbit(wanted[wanted == 0.0]))


@pytest.mark.parametrize(
    "refused",
    [
        lambda x: np.apply_over_axes(np.sum, x, 0),
        lambda x: np.piecewise(x, [x > 0], [1.0]),
        lambda x: np.frompyfunc(abs, 1, 1)(x),
        lambda x: np.add(x, object()),
        lambda x: x + object(),
        lambda x: x < None,
        lambda x: xp.asarray([object()]),
        lambda x: xp.asarray(["a"]),
        lambda x: np.save("nowhere", x),
        lambda x: x.sum().__setitem__((), [1.0, 2.0]),
        lambda x: hash(x),
    ],
)
def test_what_is_not_there_raises(refused: Callable[[Any], Any], on: device.Device) -> None:
    with pytest.raises((TypeError, ValueError)):
        refused(xp.asarray(drawn(), device=on))


def test_unknown_names_raise() -> None:
    with pytest.raises(AttributeError, match="no attribute 'tofile'"):
        xp.ones(2).tofile("nowhere")
    with pytest.raises(AttributeError, match="no attribute 'absent'"):
        xp.absent  # noqa: B018
    with pytest.raises(TypeError, match=r"np\.piecewise has no form for device arrays"):
        np.piecewise(xp.ones(2), [], [])


def test_two_devices_are_refused(_gpu: device.Device) -> None:
    x, y = xp.ones(3), xp.ones(3, device=_gpu)
    for mixed in (lambda: x + y, lambda: np.stack([x, y]), lambda: x.__setitem__(0, y[0])):
        with pytest.raises(DifferentiationError, match="E5020"):
            mixed()
    with pytest.raises(DifferentiationError, match="E5020"):
        srcgrad.grad(lambda a, b: np.sum(a * b))(x, y)
    same(x + y.to_device(x.device), np.full(3, 2.0))
    assert y.to_device("cpu").device is x.device and y.to_device(y.device) is y


def test_numpy_memory_is_used_in_place_on_a_cpu() -> None:
    x = np.arange(3.0)
    y = xp.asarray(x, device="cpu")
    y[0] = 7.0
    assert x[0] == 7.0 and np.shares_memory(np.asarray(y), x) and np.shares_memory(np.from_dlpack(y), x)
    assert not np.shares_memory(np.asarray(xp.asarray(x, device="cpu", copy=True)), x)


def test_memory_goes_round(on: device.Device) -> None:
    x = drawn()
    y = xp.asarray(x, device=on, copy=True)
    assert np.array_equal(np.from_dlpack(y), x) and np.array_equal(np.asarray(y, np.float32), x.astype(np.float32))
    same(xp.from_dlpack(x.copy(), device=on), x)
    for other in (copy.copy(y), copy.deepcopy(y), pickle.loads(pickle.dumps(y))):
        other[0] = 0.0
        assert np.array_equal(np.asarray(y), x)
    assert repr(xp.asarray([1.0, 2.0], device=on)) == "Array([1., 2.])" and str(y[0, 0]) == str(x[0, 0])
    if on.is_gpu:
        with pytest.raises(ValueError, match="copy"):
            xp.asarray(x, device=on, copy=False)
        with pytest.raises(ValueError, match="copy"):
            np.array(y, copy=False)
        with pytest.raises(BufferError):
            y.__dlpack__(copy=False)


def test_kernels_on_a_device_leave_the_host_alone(_gpu: device.Device) -> None:
    x = xp.asarray(drawn((50, 40)), device=_gpu)
    y = np.tanh(x) * x + 1.0
    z = y[10:20].T * 2.0
    assert not y.store.mirror_is_current and not z.store.mirror_is_current
    plain = drawn((50, 40))
    same(z, (np.tanh(plain) * plain + 1.0)[10:20].T * 2.0)
    assert z.store.mirror_is_current


def test_a_gradient_of_kernels_leaves_the_host_alone(_gpu: device.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    derived = srcgrad.grad(lambda x: np.sum(np.exp(x) * np.tanh(x)), target="opencl")
    x = xp.asarray(drawn((50, 40)), device=_gpu)
    derived(x)
    copies: list[Any] = []
    monkeypatch.setattr(_gpu.cl, "enqueue_copy", lambda *args, **_: copies.append(args))
    found = derived(x)
    monkeypatch.undo()
    assert copies == []
    same(found, srcgrad.grad(derived.function)(drawn((50, 40))), 1e-12)


def test_random_numbers(on: device.Device) -> None:
    same(xp.random.default_rng(5, device=on).normal(size=(2, 3)), np.random.default_rng(5).normal(size=(2, 3)))
    assert isinstance(xp.random.default_rng(5).random(), float)


def swept(x: Any, w: Any, c: float) -> Any:
    y = np.zeros_like(x)
    for k in range(x.shape[0]):
        y[k] = np.tanh(x[k] * w + c)
        y[k] += x[k - 1] * y[k - 1]
    part = y[1:]
    part *= 2.0
    return np.sum(np.where(y > 0.0, y * y, 0.1 * y))


def layered(x: Any, w: Any, c: float) -> Any:
    h = np.tanh(x @ np.outer(w, w) + c)
    p = np.exp(h - h.max(axis=1, keepdims=True))
    p = p / p.sum(axis=1, keepdims=True)
    return np.mean(np.log(p[:, 0])) + np.sum(w**2)


def gathered(x: Any, w: Any, c: float) -> Any:
    t = x[[0, 1, 1]] * w
    if t.sum() > 100.0:
        return np.sum(t)
    s = np.concatenate([t.ravel(), w]).reshape(4, 4)
    return np.einsum("ij,ji->", s, s) * c + np.linalg.norm(x[:, 1]) + x.max()


def pointwise(x: Any, w: Any, c: float) -> Any:
    t = np.tanh(c * x + w)
    return np.sum(t * np.exp(-x * x)) + np.sum(np.sqrt(1.0 + x.sum(axis=0) ** 2))


@pytest.mark.parametrize("target", ["numpy", "opencl"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("program", [swept, layered, gathered, pointwise], ids=lambda f: f.__name__)
def test_gradients(program: Callable[..., Any], dtype: Any, target: str, on: device.Device) -> None:
    x, w = drawn(dtype=dtype) / 4, drawn((4,), dtype, 1) / 4
    derived = srcgrad.value_and_grad(program, wrt=(0, 1, 2), target=target)
    value, wanted = derived(x, w, 0.3)
    text = derived.source
    given = xp.asarray(x, device=on, copy=True), xp.asarray(w, device=on, copy=True)
    found, gradients = derived(*given, 0.3)
    rtol = 1e-12 if dtype is np.float64 else 2e-5
    same(found, value, rtol)
    same(program(*given, 0.3), value, rtol)
    same(gradients[:2], wanted[:2], rtol)
    assert type(gradients[2]) is float and abs(gradients[2] - wanted[2]) < 50 * rtol
    assert found.device is on and all(g.device is on and g.flags.writeable for g in gradients[:2])
    assert derived.source == text
    same(given, (x, w))
    gradients[0][:] = 0.0
    same(given, (x, w))


REFUSED = ("isinstance", "piecewise", "functions that objects keep")  # for device arrays, by a code


@pytest.mark.parametrize("name", [name for name in list(RIGHT)[::6] if name not in REFUSED])
def test_programs(name: str, on: device.Device) -> None:
    f, args = made(name, RIGHT[name])
    try:
        wrt = float_arguments(f, args)
        wanted = srcgrad.value_and_grad(f, wrt=wrt)(*copy.deepcopy(args))
    except DifferentiationError:
        return  # its result is no number
    given = [xp.asarray(a, device=on, copy=True) if isinstance(a, np.ndarray) else a for a in copy.deepcopy(args)]
    found = srcgrad.value_and_grad(f, wrt=wrt)(*given)
    for one, two in zip(parts_of((f(*given), *found[1])), parts_of((wanted[0], *wanted[1])), strict=True):
        np.testing.assert_allclose(one, two, rtol=1e-11, atol=1e-12)


def parts_of(value: Any) -> list[Any]:
    """The numbers and arrays of which a value is made, as NumPy's."""
    if isinstance(value, tuple | list | dict):
        return [p for part in (value.values() if isinstance(value, dict) else value) for p in parts_of(part)]
    return [np.asarray(value)] if isinstance(value, float | np.ndarray | np.generic | Array) else []


def test_other_derivatives(on: device.Device) -> None:
    w = drawn((4,))
    d = xp.asarray(w, device=on, copy=True)

    def f(x: Any) -> Any:
        return np.exp(0.1 * x) * x

    def total(x: Any) -> Any:
        return np.sum(np.exp(0.1 * x) * x)

    y, pull = srcgrad.vjp(f, w)
    found, pulled = srcgrad.vjp(f, d)
    same(found, y, 1e-13)
    same(pulled(np.ones(4)), pull(np.ones(4)), 1e-13)
    same(pulled(found), pull(y), 1e-13)
    same(srcgrad.jvp(f, (d,), (d,)), srcgrad.jvp(f, (w,), (w,)), 1e-13)
    part = d[1:]  # not at the beginning of its memory
    same(srcgrad.grad(total, target="opencl")(part), srcgrad.grad(total)(w[1:]), 1e-13)
    gradient = srcgrad.grad(total)
    same(srcgrad.jvp(gradient, (d,), (d,)), srcgrad.jvp(gradient, (w,), (w,)), 1e-13)
    parts = srcgrad.grad(lambda p: np.sum(p["a"] * p["b"][0]) + p["c"])({"a": d, "b": [w + 1.0], "c": 2.0})
    same(parts["a"], w + 1.0, 1e-13)
    assert type(parts["b"][0]) is np.ndarray and parts["c"] == 1.0
    same(srcgrad.grad(lambda x: x * x)(d.sum()), 2 * w.sum(), 1e-13)
    same(srcgrad.grad(lambda x, y: np.sum(x * y))(d, d), w, 1e-13)
    with pytest.raises(DifferentiationError, match=r"E5002.*`x` is an array of dtype int64"):
        srcgrad.grad(f)(xp.asarray([1, 2], device=on))


def test_kernels_run_on_the_device_of_the_arrays(on: device.Device, monkeypatch: pytest.MonkeyPatch) -> None:
    used = []
    monkeypatch.setattr(on, "run", lambda *args, run=on.run: (used.append(on), run(*args))[1])
    other = device.opened(device.found()[0])
    with trusted.using(other):
        srcgrad.grad(lambda x: np.sum(np.exp(x) * x), target="opencl")(xp.asarray(drawn(), device=on))
    assert used == [on]


def test_threads(on: device.Device) -> None:
    x, w = drawn((40, 4)), drawn((4,), seed=1)
    derived = srcgrad.grad(pointwise, target="opencl")
    wanted = [derived(x + k, w, 0.3) for k in range(6)]
    shared = xp.asarray(x, device=on, copy=True)
    found: dict[int, Any] = {}

    def run(k: int) -> None:
        for _ in range(5):
            found[k] = derived(shared + float(k), xp.asarray(w, device=on), 0.3)

    threads = [threading.Thread(target=run, args=(k,)) for k in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    same([found[k] for k in range(6)], wanted, 1e-13)


def test_nothing_is_kept(on: device.Device) -> None:
    x = xp.asarray(drawn((200, 300)), device=on, copy=True)
    y = np.exp(x) + srcgrad.grad(pointwise, target="opencl")(x, 0.1, 0.3)
    gone = [weakref.ref(one) for one in (x, y)] + [weakref.ref(one.memory) for one in (x, y)]
    del x, y
    gc.collect()
    assert [ref() for ref in gone] == [None] * 4
