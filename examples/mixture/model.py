"""The log-likelihood of a mixture of normal distributions with diagonal covariances."""

import numpy as np


def log_sum_exp(a):
    """log(sum(exp(a))) over the last axis, without overflow."""
    top = np.max(a, axis=-1)
    return top + np.log(np.sum(np.exp(a - top[..., None]), axis=-1))


def log_likelihood(logits, means, log_scales, points):
    """logits (k,), means (k, d), log_scales (k, d), points (n, d).

    The weight of a component is exp(logit), divided by the sum of them; its standard deviations are
    exp(log_scale).
    """
    n, d = points.shape
    distances = (points[:, None, :] - means) * np.exp(-log_scales)
    constants = logits - np.sum(log_scales, axis=1)
    scores = constants - 0.5 * np.sum(distances**2, axis=2)
    log_norm = 0.5 * d * np.log(2.0 * np.pi) + log_sum_exp(logits)
    return np.sum(log_sum_exp(scores)) - n * log_norm
