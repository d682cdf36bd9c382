"""All workloads, in the order of the table; a file has a function, its hand-written derivative and arguments."""

from benchmarks.workload import Workload
from benchmarks.workloads import (
    attention,
    bundle,
    chain,
    convolution,
    heat,
    lstm,
    mixture,
    network,
    options,
    rosenbrock,
    scalars,
    softmax,
    tracking,
)


def _mixture(title: str, *sizes: int) -> Workload:
    return Workload(
        title,
        mixture.mixture,
        mixture.mixture_hand,
        lambda: mixture.arguments(*sizes),
        lambda: mixture.arguments(3, 4, 20),
        (0, 1, 2),
        over=("x",),
        rows=64,
        shapes=(("alphas", "k"), ("means", "k d"), ("icf", "k p"), ("x", "n d")),
    )


def _chain(title: str, n: int) -> Workload:
    return Workload(
        title,
        chain.chain,
        chain.chain_hand,
        lambda: chain.arguments(n),
        lambda: chain.arguments(20),
        (0, 1, 2),
        over=("x",),
    )


_ORBIT = (10.0, 5.0, 1.1, 0.4, 0.4, 0.1)

WORKLOADS = (
    _mixture("mixture d=10 K=25 n=1k", 10, 25, 1_000),
    _mixture("mixture d=32 K=50 n=10k", 32, 50, 10_000),
    Workload(
        "bundle adjustment, 31,843 observations",
        bundle.residuals,
        bundle.residuals_hand,
        lambda: bundle.arguments(31_843),
        lambda: bundle.arguments(6),
        (0, 1, 2),
        "pullback",
        item=bundle.residual,
        shapes=(("cameras", "n 11"), ("points", "n 3"), ("weights", "n"), ("features", "n 2")),
    ),
    Workload(
        "LSTM, 2 layers of 14, 1,024 steps",
        lstm.recurrent,
        lstm.recurrent_hand,
        lambda: lstm.arguments(14, 1_024),
        lambda: lstm.arguments(3, 6),
        (0, 1),
    ),
    Workload(
        "hand tracking, 100 points",
        tracking.tracking,
        tracking.tracking_hand,
        lambda: tracking.arguments(544, 100),
        lambda: tracking.arguments(30, 5),
        (0,),
        "jacobian",
    ),
    Workload(
        "softmax regression, 10,000 x 100, 10 classes",
        softmax.regression,
        softmax.regression_hand,
        lambda: softmax.arguments(10_000, 100, 10),
        lambda: softmax.arguments(20, 4, 3),
        (0, 1),
        over=("x", "y"),
        rows=512,
    ),
    Workload(
        "MLP 784-256-128-10, batch 256, float32",
        network.network,
        network.network_hand,
        lambda: network.arguments(256, 784, 256, 128, 10),
        lambda: network.arguments(20, 8, 6, 5, 3),
        (0, 1, 2, 3, 4, 5),
    ),
    Workload(
        "Black-Scholes 1e6, five Greeks",
        options.prices,
        options.prices_hand,
        lambda: options.arguments(1_000_000),
        lambda: options.arguments(20),
        (0, 1, 2, 3, 4),
        over=("spot", "sigma", "time", "rate", "strike"),
        shapes=(("spot", "n"), ("sigma", "n"), ("time", "n"), ("rate", "n"), ("strike", "n")),
    ),
    _chain("tanh(a x + b) exp(-x x), 1e3", 1_000),
    _chain("tanh(a x + b) exp(-x x), 1e5", 100_000),
    _chain("tanh(a x + b) exp(-x x), 1e7", 10_000_000),
    Workload("Newton's square root", scalars.newton, scalars.newton_hand, lambda: (2.7e5,), lambda: (2.7,), (0,)),
    Workload(
        "logistic map, 1,000 steps",
        scalars.logistic,
        scalars.logistic_hand,
        lambda: (0.4, 3.2, 1_000),
        lambda: (0.4, 3.2, 7),
        (0, 1),
    ),
    Workload(
        "Lotka-Volterra, 10,000 steps of RK4",
        scalars.predators,
        scalars.predators_hand,
        lambda: (*_ORBIT, 10_000, 0.005),
        lambda: (*_ORBIT, 5, 0.005),
        (0, 1, 2, 3, 4, 5),
        skipped=("autograd", "torch"),  # minutes
    ),
    Workload(
        "heat 200 x 200, 500 steps",
        heat.heat,
        heat.heat_hand,
        lambda: heat.arguments(200, 500),
        lambda: heat.arguments(6, 4),
        (0, 1),
        skipped=("autograd",),  # arrays are not written into
    ),
    Workload(
        "Rosenbrock n=10",
        rosenbrock.rosenbrock,
        rosenbrock.rosenbrock_hand,
        lambda: rosenbrock.arguments(10),
        lambda: rosenbrock.arguments(5),
        (0,),
    ),
    Workload(
        "Rosenbrock n=1e5, Hessian times vector",
        rosenbrock.rosenbrock,
        rosenbrock.rosenbrock_hvp_hand,
        lambda: rosenbrock.arguments(100_000) * 2,
        lambda: rosenbrock.arguments(5) * 2,
        (0,),
        "hvp",
    ),
    Workload(
        "attention 8 x 256 x 256, float32",
        attention.attention,
        attention.attention_hand,
        lambda: attention.arguments(8, 256, 256),
        lambda: attention.arguments(2, 4, 5),
        (0, 1, 2, 3, 4),
    ),
    Workload(
        "convolutions 16 x 28 x 28, float32",
        convolution.convolution,
        convolution.convolution_hand,
        lambda: convolution.arguments(16, 28),
        lambda: convolution.arguments(3, 8),
        (0, 1, 2, 3),
    ),
)
