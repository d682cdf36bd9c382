"""The page docs/gallery.md, hand-written and generated derivatives side by side: `python -m benchmarks.gallery`."""

from __future__ import annotations

import inspect
from textwrap import dedent

from benchmarks import texts
from benchmarks.contenders import generated
from benchmarks.page import DOCS
from benchmarks.workload import Workload
from benchmarks.workloads import WORKLOADS

SHOWN = {
    "softmax regression": """\
What broadcasting has added to `b` and to the scores is taken back by `sum_to` and `fit_to`: nothing says here how long
the axes are. With [`like=`](tutorial.md#shapes) the sums are written out.""",
    "logistic map": "A loop runs backwards over what it recorded: one value a trip.",
    "heat": """\
Writes into parts of an array are undone by writes into the same parts of its adjoint. The state is not recorded: of a
linear update only the factor of `alpha` is needed.""",
}
HEAD = """# Gallery

Three of the [workloads that are measured](benchmarks.md): a function, its derivative as a careful person writes it, and
the text that srcgrad generates for such arguments. Comments name the line of the user that is undone.
"""


def page() -> str:
    """The text of the page."""
    return "\n".join([HEAD, *(_section(_workload(word), remark) for word, remark in SHOWN.items())])


def _workload(word: str) -> Workload:
    return next(workload for workload in WORKLOADS if workload.title.startswith(word))


def _section(workload: Workload, remark: str) -> str:
    """One workload: the function, by hand, generated."""
    hand, text = workload.hand_text, generated(workload)
    title = workload.title.partition(",")[0]
    counted = f"{texts.tokens(text)} tokens against {texts.tokens(hand)}"
    return dedent("""\
        ## {title}

        {remark}

        The function:

        {function}
        By hand:

        {hand}
        Generated, {counted} (comments and docstrings apart):

        {text}""").format(
        title=title[0].upper() + title[1:],
        remark=remark,
        function=_block(inspect.getsource(workload.function)),
        hand=_block(hand),
        counted=counted,
        text=_block(text),
    )


def _block(code: str) -> str:
    return f"```python\n{code.strip()}\n```\n"


if __name__ == "__main__":
    (DOCS / "gallery.md").write_text(page(), encoding="utf-8")
