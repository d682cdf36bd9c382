"""Two convolutions as products of matrices (im2col) in float32, a mean over places, a linear layer, cross-entropy."""

import numpy as np


def columns(x):
    """The 3 x 3 neighbourhoods of images (N, C, H, W), as (N, 9 C, (H - 2)(W - 2))."""
    n, c, h, w = x.shape
    parts = [x[:, :, i : i + h - 2, j : j + w - 2] for i in range(3) for j in range(3)]
    return np.reshape(np.stack(parts, axis=2), (n, 9 * c, (h - 2) * (w - 2)))


def convolution(f1, f2, w, b, x, y):
    """`f1` (16, 9), `f2` (16, 144), `w` (16, 10); `y` has a one in each row, at the class."""
    n, _, height, width = x.shape
    h1 = np.maximum(np.matmul(f1, columns(x)), 0.0)
    h2 = np.maximum(np.matmul(f2, columns(np.reshape(h1, (n, 16, height - 2, width - 2)))), 0.0)
    z = np.matmul(np.mean(h2, axis=2), w) + b
    top = np.max(z, axis=1, keepdims=True)
    logs = np.log(np.sum(np.exp(z - top), axis=1, keepdims=True)) + top
    return np.mean(np.sum(y * (logs - z), axis=1))


def columns_back(x, y_bar):
    """The pullback of `columns`: each neighbourhood adds to where it was taken from."""
    n, c, h, w = x.shape
    parts = np.reshape(y_bar, (n, c, 9, h - 2, w - 2))
    x_bar = np.zeros_like(x)
    for i in range(3):
        for j in range(3):
            x_bar[:, :, i : i + h - 2, j : j + w - 2] += parts[:, :, 3 * i + j]
    return x_bar


def convolution_hand(f1, f2, w, b, x, y):
    """Only the second convolution passes an adjoint on."""
    n, _, height, width = x.shape
    c1 = columns(x)
    h1 = np.maximum(np.matmul(f1, c1), 0.0)
    images = np.reshape(h1, (n, 16, height - 2, width - 2))
    c2 = columns(images)
    h2 = np.maximum(np.matmul(f2, c2), 0.0)
    pooled = np.mean(h2, axis=2)
    z = np.matmul(pooled, w) + b
    top = np.max(z, axis=1, keepdims=True)
    e = np.exp(z - top)
    s = np.sum(e, axis=1, keepdims=True)
    logs = np.log(s) + top
    value = np.mean(np.sum(y * (logs - z), axis=1))

    z_bar = (e * (np.sum(y, axis=1, keepdims=True) / s) - y) / np.float32(n)
    w_bar = np.matmul(pooled.T, z_bar)
    h2_bar = (np.matmul(z_bar, w.T) / np.float32(h2.shape[2]))[:, :, None] * (h2 > 0.0)
    f2_bar = np.sum(np.matmul(h2_bar, np.swapaxes(c2, 1, 2)), axis=0)
    c2_bar = np.matmul(f2.T, h2_bar)
    h1_bar = np.reshape(columns_back(images, c2_bar), h1.shape) * (h1 > 0.0)
    f1_bar = np.sum(np.matmul(h1_bar, np.swapaxes(c1, 1, 2)), axis=0)
    return value, (f1_bar, f2_bar, w_bar, np.sum(z_bar, axis=0))


def arguments(n, side):
    """Filters and images at random."""
    rng = np.random.default_rng(0)
    shapes = ((16, 9), (16, 144), (16, 10), (10,))
    weights = [(0.2 * rng.standard_normal(shape)).astype(np.float32) for shape in shapes]
    x = rng.random((n, 1, side, side)).astype(np.float32)
    return *weights, x, np.eye(10, dtype=np.float32)[rng.integers(0, 10, n)]
