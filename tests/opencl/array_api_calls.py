"""Every function of the array API (2024.12) with every one of its arguments, as calls for `test_array_api`.

`x` and `y` are 3 x 4 floats, `v` is a vector, `m` symmetric and positive, `s` a stack of matrices, `i` and `j` are
integers, `b` booleans, `c` complex; `f` is the dtype of the floats.
"""

ONE = """abs acos acosh asin asinh atan atanh bitwise_invert ceil conj cos cosh exp expm1 floor isfinite isinf isnan
log log10 log1p log2 logical_not negative positive real reciprocal round sign signbit sin sinh sqrt square tan tanh
trunc"""

TWO = """add atan2 bitwise_and bitwise_left_shift bitwise_or bitwise_right_shift bitwise_xor copysign divide equal
floor_divide greater greater_equal hypot less less_equal logaddexp logical_and logical_or logical_xor maximum minimum
multiply nextafter not_equal pow remainder subtract"""

CALLS = """
xp.all(b, axis=0, keepdims=True)
xp.all(x)
xp.any(b, axis=(0, 1), keepdims=False)
xp.any(i)
xp.arange(5)
xp.arange(1, 7, 2, dtype=f, device=None)
xp.arange(0.0, 1.0, 0.25)
xp.argmax(x, axis=1, keepdims=True)
xp.argmin(x, axis=0, keepdims=True)
xp.argsort(x, axis=0, descending=True, stable=True)
xp.argsort(i, descending=True)
xp.argsort(v)
xp.asarray([[1, 2], [3, 4]])
xp.asarray(3.5)
xp.asarray(True)
xp.asarray([1.0, 2.0], dtype=f, device=None, copy=True)
xp.asarray(x, copy=False)
xp.astype(x, xp.int32, copy=True)
xp.astype(i, f, device=None)
xp.astype(b, xp.uint8)
xp.broadcast_arrays(x, v)
xp.broadcast_to(v, (2, 3, 4))
xp.can_cast(xp.int8, xp.int16)
xp.can_cast(xp.float64, xp.float32)
xp.clip(x, 0.0, 0.5)
xp.clip(x, min=v, max=None)
xp.clip(i, 2, 5)
xp.concat([x, y], axis=1)
xp.concat((x, y), axis=None)
xp.count_nonzero(b, axis=0, keepdims=True)
xp.count_nonzero(x)
xp.cumulative_prod(x, axis=1, dtype=xp.float64, include_initial=True)
xp.cumulative_sum(x, axis=0, include_initial=True)
xp.cumulative_sum(i, axis=1, dtype=xp.int64)
xp.cumulative_sum(v)
xp.diff(x, axis=0, n=2)
xp.diff(v, prepend=v[:1], append=v[:2])
xp.empty((2, 3), dtype=f, device=None) * 0.0 == 0.0
xp.empty_like(x, dtype=xp.int64, device=None).shape
xp.expand_dims(x, axis=1)
xp.eye(3)
xp.eye(3, 4, k=1, dtype=f, device=None)
xp.finfo(f).eps
xp.finfo(xp.float32).bits
xp.flip(x)
xp.flip(x, axis=(0, 1))
xp.from_dlpack(v, device=None, copy=None)
xp.full((2, 2), 7)
xp.full(3, 1.5, dtype=f, device=None)
xp.full_like(x, 2.0, dtype=None, device=None)
xp.iinfo(xp.int16).max
xp.imag(c)
xp.isdtype(xp.float32, "real floating")
xp.isdtype(xp.int8, ("signed integer", xp.bool))
xp.linspace(0.0, 1.0, 5)
xp.linspace(0.0, 1.0, num=4, dtype=f, device=None, endpoint=False)
xp.matmul(x, m)
xp.matmul(v, v)
xp.matmul(s, m)
xp.matrix_transpose(s)
xp.max(x, axis=0, keepdims=True)
xp.max(i)
xp.mean(x, axis=(0, 1), keepdims=True)
xp.mean(v)
xp.meshgrid(v, v[:2], indexing="ij")
xp.meshgrid(v, v[:2])
xp.min(x, axis=1, keepdims=True)
xp.moveaxis(s, 0, -1)
xp.moveaxis(s, (0, 1), (1, 2))
xp.nonzero(b)
xp.ones((2, 3))
xp.ones(2, dtype=f, device=None)
xp.ones_like(i, dtype=f, device=None)
xp.permute_dims(s, (2, 0, 1))
xp.prod(x, axis=0, dtype=xp.float64, keepdims=True)
xp.prod(i)
xp.repeat(x, 2, axis=1)
xp.repeat(v, i[0, :], axis=0)
xp.reshape(x, (4, 3))
xp.reshape(x, (-1,), copy=True)
xp.result_type(x, xp.float64)
xp.result_type(xp.int8, xp.uint8)
xp.roll(x, 1)
xp.roll(x, (1, 2), axis=(0, 1))
xp.searchsorted(xp.sort(v), x, side="right")
xp.searchsorted(v, v[:2], sorter=xp.argsort(v))
xp.sort(x, axis=0, descending=True, stable=False)
xp.sort(v)
xp.squeeze(x[:, None, :], axis=1)
xp.squeeze(x[None, :, None, :], axis=(0, 2))
xp.stack([x, y], axis=-1)
xp.std(x, axis=0, correction=1.0, keepdims=True)
xp.std(v)
xp.sum(x, axis=(0,), dtype=xp.float64, keepdims=True)
xp.sum(x)
xp.sum(i)
xp.sum(xp.astype(i, xp.int8))
xp.sum(xp.astype(b, xp.uint8))
xp.take(x, i[0, :2] % 3, axis=0)
xp.take(v, i[0, :] % 4)
xp.take_along_axis(x, xp.argsort(x, axis=1), axis=1)
xp.take_along_axis(x, xp.argsort(x))
xp.tensordot(x, y, axes=2)
xp.tensordot(s, m, axes=1)
xp.tensordot(x, y, axes=((0,), (0,)))
xp.tile(x, (2, 1, 2))
xp.tril(m, k=-1)
xp.tril(s)
xp.triu(m, k=1)
xp.unique_all(j)
xp.unique_counts(j)
xp.unique_inverse(j)
xp.sort(xp.unique_values(j))
xp.unstack(x, axis=1)
xp.unstack(x)
xp.var(x, axis=1, correction=1, keepdims=True)
xp.var(c[0, :].__abs__())
xp.vecdot(x, y)
xp.vecdot(c, c, axis=-2)
xp.where(b, x, y)
xp.where(b, x, 0.0)
xp.where(b, 1.0, v)
xp.zeros((2, 3))
xp.zeros(2, dtype=xp.int16, device=None)
xp.zeros_like(x, dtype=None, device=None)
xp.linalg.cholesky(m)
xp.linalg.cholesky(m, upper=True)
xp.linalg.cross(x[:, :3], y[:, :3], axis=-1)
xp.linalg.det(m)
xp.linalg.diagonal(s, offset=1)
abs(xp.linalg.eigh(m).eigenvectors)
xp.linalg.eigh(m).eigenvalues
xp.linalg.eigvalsh(m)
xp.linalg.inv(m)
xp.linalg.matmul(x, m)
xp.linalg.matrix_norm(s, keepdims=True, ord="nuc")
xp.linalg.matrix_norm(x)
xp.linalg.matrix_power(m, 3)
xp.linalg.matrix_power(m, -1)
xp.linalg.matrix_rank(s, rtol=1e-3)
xp.linalg.matrix_transpose(x)
xp.linalg.outer(v, v)
xp.linalg.pinv(x, rtol=1e-4)
abs(xp.linalg.qr(x, mode="complete").Q)
abs(xp.linalg.qr(x).R)
xp.linalg.slogdet(m)
xp.linalg.solve(m, v)
xp.linalg.solve(m, xp.matrix_transpose(x))
abs(xp.linalg.svd(x, full_matrices=False).U)
xp.linalg.svd(m).S
xp.linalg.svdvals(s)
xp.linalg.tensordot(x, y, axes=1 + 1)
xp.linalg.trace(s, offset=1, dtype=xp.float64)
xp.linalg.trace(m)
xp.linalg.vecdot(x, y, axis=-2)
xp.linalg.vector_norm(x, axis=1, keepdims=True, ord=1)
xp.linalg.vector_norm(x)
xp.fft.fft(c, n=5, axis=0, norm="ortho")
xp.fft.ifft(c, n=3, axis=0, norm="forward")
xp.fft.fftn(c, s=(3, 5), axes=(0, 1), norm="forward")
xp.fft.ifftn(c, s=(2, 3), axes=(0, 1), norm="ortho")
xp.fft.rfft(x, n=6, axis=1, norm="backward")
xp.fft.irfft(c, n=6, axis=0, norm="forward")
xp.fft.rfftn(x, s=(3, 4), axes=(0, 1), norm="ortho")
xp.fft.irfftn(c, s=(3, 4), axes=(0, 1), norm="backward")
xp.fft.hfft(c, n=5, axis=0, norm="forward")
xp.fft.ihfft(x, n=3, axis=0, norm="ortho")
xp.fft.fftfreq(5, d=0.5, dtype=xp.float32, device=None)
xp.fft.fftfreq(4)
xp.fft.rfftfreq(5, d=2.0, dtype=xp.float32, device=None)
xp.fft.fftshift(x, axes=0)
xp.fft.ifftshift(x, axes=(1,))
xp.e + xp.pi
xp.inf
xp.isnan(xp.asarray(xp.nan))
x[xp.newaxis, ...]
xp.__array_api_version__
xp.__array_namespace_info__().capabilities()["data-dependent shapes"]
sorted(xp.__array_namespace_info__().dtypes(kind="integral"))
sorted(xp.__array_namespace_info__().default_dtypes())
xp.__array_namespace_info__().default_device() in xp.__array_namespace_info__().devices()
""".strip().splitlines()

OBJECT = """
x + y
x - 1.0
2.0 - x
x * v
x / y
1 / y
i // j
i % 3
x**2
2.0**x
x @ m
-x
+x
abs(c)
~b
~i
b & True
i & j
i | 6
i ^ j
i << 2
i >> 1
1 << j % 3
x < y
x <= 0.5
x > 0.5
x >= y
x == y
x != x
x[0, 1]
x[1, :]
x[-1, ...]
x[::2, ::-1]
x[:, None, 1:3]
x[b]
x[i % 3, j % 4]
x[int(i[0, 0]) % 3, :]
s[..., 0]
x.dtype == f
x.shape
x.ndim
x.size
x.T
s.mT
c.__complex__ is not None
x.device == y.device
x.to_device(x.device)
x.__array_namespace__() is not None
x.__array_namespace__(api_version="2024.12") is not None
x.__dlpack_device__()[0] == 1
float(x[0, 0])
int(i[0, 0])
bool(b[0, 0])
complex(c[0, 0])
[10, 20, 30, 40, 50, 60, 70, 80][i[0, 0]]
len([part for part in (x, y)])
""".strip().splitlines()

IN_PLACE = """
x += y
x -= 1.0
x *= v
x /= y
i //= j
i %= 3
x **= 2
m @= m
i &= j
i |= 6
i ^= j
i <<= 1
i >>= 1
x[0, 1] = 5.0
x[1, :] = v
x[:, ::2] = 0.0
x[b] = 1.0
x[...] = y
""".strip().splitlines()
