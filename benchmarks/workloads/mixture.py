"""Log-likelihood of a Gaussian mixture with full covariances (ADBench's GMM): d dimensions, K components, n points."""

import numpy as np


def log_sum_exp(a):
    """Along the first axis."""
    top = np.max(a, axis=0)
    return np.log(np.sum(np.exp(a - top), axis=0)) + top


def mixture(alphas, means, icf, x, lower, gamma, m, constant):
    """`icf` is (K, d + d(d-1)/2): logarithms of diagonals, then lower triangles, which `lower` puts in their places."""
    n, d = x.shape
    k = alphas.shape[0]
    logs = icf[:, :d]
    below = icf[:, d:]
    diagonals = np.exp(logs)
    log_dets = np.sum(logs, axis=1)
    padded = np.concatenate((below, np.zeros((k, 1))), axis=1)
    factors = np.reshape(padded[:, lower], (k, d, d))
    centred = x[None, :, :] - means[:, None, :]
    scaled = centred * diagonals[:, None, :] + np.matmul(centred, np.transpose(factors, (0, 2, 1)))
    scores = (alphas + log_dets)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    likelihood = np.sum(log_sum_exp(scores)) - n * log_sum_exp(alphas)
    sizes = np.sum(diagonals * diagonals, axis=1) + np.sum(below * below, axis=1)
    prior = np.sum(0.5 * gamma * gamma * sizes - m * log_dets)
    return likelihood + prior + constant


def softmax_sum(a):
    """Softmax along the first axis, and the logarithm of its denominator."""
    top = np.max(a, axis=0)
    e = np.exp(a - top)
    s = np.sum(e, axis=0)
    return e / s, np.log(s) + top


def mixture_hand(alphas, means, icf, x, lower, gamma, m, constant):
    """The derivative of log-sum-exp is softmax: the responsibilities of the components for the points."""
    n, d = x.shape
    k = alphas.shape[0]
    logs = icf[:, :d]
    below = icf[:, d:]
    diagonals = np.exp(logs)
    log_dets = np.sum(logs, axis=1)
    padded = np.concatenate((below, np.zeros((k, 1))), axis=1)
    factors = np.reshape(padded[:, lower], (k, d, d))
    centred = x[None, :, :] - means[:, None, :]
    scaled = centred * diagonals[:, None, :] + np.matmul(centred, np.transpose(factors, (0, 2, 1)))
    scores = (alphas + log_dets)[:, None] - 0.5 * np.sum(scaled * scaled, axis=2)
    shares, sums = softmax_sum(scores)
    priors, log_total = softmax_sum(alphas)
    likelihood = np.sum(sums) - n * log_total
    sizes = np.sum(diagonals * diagonals, axis=1) + np.sum(below * below, axis=1)
    prior = np.sum(0.5 * gamma * gamma * sizes - m * log_dets)
    value = likelihood + prior + constant

    totals = np.sum(shares, axis=1)
    alphas_bar = totals - n * priors
    scaled_bar = -shares[:, :, None] * scaled
    diagonals_bar = gamma * gamma * diagonals + np.sum(scaled_bar * centred, axis=1)
    centred_bar = scaled_bar * diagonals[:, None, :] + np.matmul(scaled_bar, factors)
    means_bar = -np.sum(centred_bar, axis=1)
    factors_bar = np.matmul(np.swapaxes(scaled_bar, 1, 2), centred)
    padded_bar = np.zeros_like(padded)
    np.add.at(padded_bar, (slice(None), lower), np.reshape(factors_bar, (k, d * d)))
    icf_bar = np.empty_like(icf)
    icf_bar[:, :d] = diagonals_bar * diagonals + (totals - m)[:, None]
    icf_bar[:, d:] = gamma * gamma * below + padded_bar[:, :-1]
    return value, (alphas_bar, means_bar, icf_bar)


def arguments(d, k, n):
    """Points at random, and components near some of them."""
    draw = np.random.default_rng(0).standard_normal
    lower = np.full((d, d), d * (d - 1) // 2)
    lower.T[np.triu_indices(d, 1)] = np.arange(d * (d - 1) // 2)
    x = draw((n, d))
    return draw(k), draw((k, d)), 0.3 * draw((k, d + d * (d - 1) // 2)), x, lower.ravel(), 1.0, 0, -1.5 * n
