"""The price of a European call option, after Black and Scholes."""

import numpy as np
from scipy.special import erf


def normal_cdf(x):
    """The distribution function of the standard normal distribution."""
    return 0.5 * (1.0 + erf(x / np.sqrt(2.0)))


def price(spot, strike, time, rate, volatility):
    """Today's price of the right to buy at `strike` when `time` years have passed; all numbers."""
    spread = volatility * np.sqrt(time)
    d1 = (np.log(spot / strike) + (rate + 0.5 * volatility**2) * time) / spread
    d2 = d1 - spread
    return spot * normal_cdf(d1) - strike * np.exp(-rate * time) * normal_cdf(d2)
