"""Multinomial logistic regression."""

import numpy as np


def cross_entropy(scores, labels):
    """The mean over the samples of -log p(label); scores (n, k), labels (n, k) of zeros and ones."""
    shifted = scores - np.max(scores, axis=1, keepdims=True)  # exp stays finite
    log_sum = np.log(np.sum(np.exp(shifted), axis=1))
    return np.mean(log_sum - np.sum(labels * shifted, axis=1))


def loss(weights, bias, samples, labels, penalty):
    """Cross-entropy with a quadratic penalty; weights (d, k), bias (k,), samples (n, d), labels (n, k)."""
    scores = samples @ weights + bias
    return cross_entropy(scores, labels) + penalty * np.sum(weights**2)
