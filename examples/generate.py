"""Write the generated files of the examples: `python -m examples.generate`.

`GENERATED` is the list of them; tests/project/test_examples.py holds the files to what `srcgrad dump` gives.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path

from srcgrad.interface.cli import main

HERE = Path(__file__).resolve().parent


@dataclass(frozen=True)
class Generated:
    """A generated file and what it is made from; paths are relative to the folder of the examples."""

    output: str
    target: str
    wrt: str
    mode: str = "reverse"
    inline: bool = False  # calls written out, so that the file can be differentiated again

    def command(self, output: Path) -> list[str]:
        """The arguments of `srcgrad` that write the file to `output`."""
        target = str(HERE / self.target)
        options = ["--inline"] if self.inline else []
        return ["dump", target, "-o", str(output), "--wrt", self.wrt, "--mode", self.mode, "--force", *options]


GENERATED = (
    Generated("rosenbrock/model_grad.py", "rosenbrock/model.py:rosenbrock", "x"),
    Generated("layer/model_grad.py", "layer/model.py:energy", "x,w,b"),
    Generated(
        "logistic_regression/model_grad.py",
        "logistic_regression/model.py:loss",
        "weights,bias",
        "value-and-grad",
    ),
    Generated("network/model_grad.py", "network/model.py:loss", "w1,b1,w2,b2", "value-and-grad"),
    Generated("mixture/model_grad.py", "mixture/model.py:log_likelihood", "logits,means,log_scales"),
    Generated("newton_sqrt/model_grad.py", "newton_sqrt/model.py:newton_sqrt", "a"),
    Generated(
        "lotka_volterra/model_grad.py",
        "lotka_volterra/model.py:predators_after",
        "prey,predators,birth,hunt,feed,death",
    ),
    Generated("black_scholes/model_grad.py", "black_scholes/model.py:price", "spot,time,rate,volatility"),
    # The fifth Greek is a second derivative: the derivative of the generated delta.
    Generated("black_scholes/price_grad.py", "black_scholes/model.py:price", "spot", inline=True),
    Generated("black_scholes/price_grad_grad.py", "black_scholes/price_grad.py:price_grad", "spot"),
    Generated("own_rule/model_grad.py", "own_rule/model.py:sag", "loads,k"),
    Generated("logistic_map/model_grad.py", "logistic_map/model.py:orbit_sum", "x,r"),
)


def generate() -> int:
    """Write every file; the number of those that could not be made."""
    failed = 0
    for file in GENERATED:
        failed += main(file.command(HERE / file.output)) != 0
    return failed


if __name__ == "__main__":
    sys.exit(1 if generate() else 0)
