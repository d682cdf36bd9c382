"""What srcgrad does, shown and checked: `make demo`, or `python -m examples.demo`.

1. The derivative of scipy.optimize.rosen, from the text of the installed SciPy, against SciPy's own.
2. Two classifiers of handwritten digits, trained with generated gradients.
3. The log-likelihood of a mixture of 25 normal distributions, against finite differences.

The exit status is 0 only if every check passes.
"""

from __future__ import annotations

import runpy
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any  # arguments and gradients of arbitrary functions

import numpy as np
import scipy
from scipy.optimize import minimize, rosen, rosen_der, rosen_hess_prod
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import srcgrad
from examples.generate import HERE
from examples.logistic_regression.model_grad import loss_value_and_grad as regression
from examples.mixture.model import log_likelihood
from examples.mixture.model_grad import log_likelihood_grad
from examples.network.model_grad import loss_value_and_grad as network
from srcgrad.interface.cli import main as srcgrad_command

Arrays = tuple[np.ndarray, ...]


def checked(what: str, figure: str, passed: bool) -> bool:
    """Print one line of the report; whether the check passed."""
    print(f"  {'ok   ' if passed else 'FAIL '} {what}: {figure}")
    return passed


def title(text: str) -> None:
    """Print a heading."""
    print(f"\n{text}\n{'-' * len(text)}")


def relative_error(found: np.ndarray, expected: np.ndarray) -> float:
    """The largest difference, in units of the largest entry expected."""
    return float(np.max(np.abs(found - expected)) / np.max(np.abs(expected)))


def rosenbrock() -> bool:
    """Dump the gradient of SciPy's function, print it, and compare two derivatives."""
    title(f"1. scipy.optimize.rosen, from the text of SciPy {scipy.__version__}")
    with tempfile.TemporaryDirectory() as folder:
        written = Path(folder) / "rosen_grad.py"
        command = ["dump", "scipy.optimize._optimize:rosen", "-o", str(written)]
        print(f"$ srcgrad {' '.join(command[:2])}\n")
        if srcgrad_command(command) != 0:
            return False
        print(written.read_text(encoding="utf-8"))
        rosen_grad = runpy.run_path(str(written))["rosen_grad"]
    random = np.random.default_rng(0)
    x, v = random.uniform(-2.0, 2.0, (2, 1000))
    first = relative_error(rosen_grad(x), rosen_der(x))
    _, product = srcgrad.jvp(srcgrad.grad(rosen), (x,), (v,))
    second = relative_error(product, rosen_hess_prod(x, v))
    passed = checked("gradient against rosen_der, 1000 variables", f"{first:.1e} <= 1e-12", first <= 1e-12)
    same = checked("Hessian product against rosen_hess_prod", f"{second:.1e} <= 1e-12", second <= 1e-12)
    return passed and same


def digits() -> tuple[Arrays, Arrays]:
    """Training set, with labels as rows of zeros and ones, and test set; pixels are in [0, 1]."""
    pixels, labels = load_digits(return_X_y=True)
    split = train_test_split(pixels / 16.0, labels, test_size=0.25, random_state=0, stratify=labels)
    train_pixels, test_pixels, train_labels, test_labels = split
    return (train_pixels, np.eye(10)[train_labels]), (test_pixels, test_labels)


def train(value_and_grad: Callable[..., Any], start: Arrays, data: Arrays, penalty: float) -> Arrays:
    """Minimise a generated loss over its parameters, which come first among its arguments."""
    ends = np.cumsum([part.size for part in start])[:-1]

    def unpacked(flat: np.ndarray) -> Arrays:
        return tuple(part.reshape(like.shape) for part, like in zip(np.split(flat, ends), start, strict=True))

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        value, gradients = value_and_grad(*unpacked(flat), *data, penalty)
        return value, np.concatenate([gradient.ravel() for gradient in gradients])

    flat = np.concatenate([part.ravel() for part in start])
    found = minimize(objective, flat, method="L-BFGS-B", jac=True, options={"maxiter": 300})
    print(f"  L-BFGS-B: {found.nfev} values and gradients, loss {found.fun:.4f}")
    return unpacked(found.x)


def classifiers() -> bool:
    """Train both models and look at the test set."""
    title("2. handwritten digits, trained with generated gradients")
    data, (pixels, labels) = digits()
    random = np.random.default_rng(0)
    weights, bias = train(regression, (np.zeros((64, 10)), np.zeros(10)), data, 1e-4)
    passed = accurate("logistic regression", pixels @ weights + bias, labels)
    start = (
        0.1 * random.standard_normal((64, 32)),
        np.zeros(32),
        0.1 * random.standard_normal((32, 10)),
        np.zeros(10),
    )
    w1, b1, w2, b2 = train(network, start, data, 1e-4)
    return accurate("network of two layers", np.tanh(pixels @ w1 + b1) @ w2 + b2, labels) and passed


def accurate(what: str, scores: np.ndarray, labels: np.ndarray) -> bool:
    """Whether the highest score is that of the label for at least 95 % of the test set."""
    accuracy = np.mean(np.argmax(scores, axis=1) == labels)
    return checked(f"{what}, test accuracy", f"{accuracy:.2%} >= 95%", bool(accuracy >= 0.95))


def mixture() -> bool:
    """All 125 partial derivatives against central differences of fourth order."""
    title("3. mixture of 25 normal distributions, 200 points in the plane")
    points = np.loadtxt(HERE / "mixture" / "data.txt")
    random = np.random.default_rng(0)
    start = (0.1 * random.standard_normal(25), points[:25] + 0.1, 0.1 * random.standard_normal((25, 2)))
    gradients = log_likelihood_grad(*start, points)
    passed = True
    for place, name in enumerate(("logits", "means", "log_scales")):
        error = relative_error(gradients[place], differences(start, place, points))
        what = f"gradient with respect to {name} against finite differences"
        passed = checked(what, f"{error:.1e} <= 1e-8", error <= 1e-8) and passed
    return passed


def differences(start: Arrays, place: int, points: np.ndarray, step: float = 1e-3) -> np.ndarray:
    """Central differences of the log-likelihood with respect to one of its parameters."""
    found = np.zeros_like(start[place])
    for index in np.ndindex(found.shape):
        for weight, distance in ((1.0, -2.0), (-8.0, -1.0), (8.0, 1.0), (-1.0, 2.0)):
            moved = [part.copy() for part in start]
            moved[place][index] += distance * step
            found[index] += weight * log_likelihood(*moved, points) / (12.0 * step)
    return found


def main() -> int:
    """Run the three parts; 0 if all passed."""
    results = [rosenbrock(), classifiers(), mixture()]
    print(f"\n{'all checks passed' if all(results) else 'a check FAILED'}")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
