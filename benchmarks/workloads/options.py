"""Black-Scholes prices of many call options, and the five first-order Greeks of each."""

import numpy as np
from scipy.special import erf


def normal(x):
    """The distribution function of the normal distribution."""
    return 0.5 * (1.0 + erf(x * 0.7071067811865476))


def prices(spot, sigma, time, rate, strike):
    """Summed over the options, each of which has its own spot, volatility, time, rate and strike."""
    spread = sigma * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * time) / spread
    d2 = d1 - spread
    return np.sum(spot * normal(d1) - strike * np.exp(-rate * time) * normal(d2))


def prices_hand(spot, sigma, time, rate, strike):
    """The textbook formulas: spot * density(d1) equals discounted strike * density(d2), so most terms cancel."""
    root = np.sqrt(time)
    spread = sigma * root
    d1 = (np.log(spot / strike) + (rate + 0.5 * sigma * sigma) * time) / spread
    d2 = d1 - spread
    discount = np.exp(-rate * time)
    delta, inside = normal(d1), normal(d2)
    paid = discount * inside
    owed = strike * paid
    value = np.sum(spot * delta - owed)

    vega = spot * root * np.exp(-0.5 * d1 * d1) * 0.3989422804014327
    theta = 0.5 * vega * sigma / time + rate * owed
    rho = time * owed
    return value, (delta, vega, theta, rho, -paid)


def arguments(n):
    """Options at random."""
    draw = np.random.default_rng(0).uniform
    return draw(50, 150, n), draw(0.1, 0.5, n), draw(0.1, 2, n), draw(0.0, 0.05, n), draw(50, 150, n)
