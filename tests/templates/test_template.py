"""Templates as trees: each is read by itself, and is what it would be in the tree of its whole file."""

from __future__ import annotations

import inspect
import linecache

import gast
import pytest

from srcgrad.core.rules import _file, _parse_at
from srcgrad.core.trees import to_gast
from srcgrad.interface.show.rule_pages import known_rules


def test_a_template_read_alone_is_that_of_its_file() -> None:
    found = {function for rule in known_rules() for function in (rule.template, rule.tangent) if function is not None}
    nested = 0
    for function in found:
        code = inspect.unwrap(function).__code__
        lines = linecache.getlines(code.co_filename)
        alone, whole = _parse_at(lines, code.co_firstlineno), _file(code.co_filename, len(lines))[code.co_firstlineno]
        nested += alone is None
        if alone is not None:
            trees = (gast.dump(to_gast(one), include_attributes=True) for one in (alone, whole))
            assert next(trees) == next(trees), function
    assert len(found) - nested > 300


@pytest.mark.parametrize("body", ['    """One\ntwo."""\n', "    z = (\n1)\n", "    z = 1 + \\\n1\n"])
def test_text_at_the_margin_leaves_it_to_the_whole_file(body: str) -> None:
    lines = f"def f(z, x):\n{body}    d[x] = d[z]\n".splitlines(keepends=True)
    assert _parse_at(lines, 1) is None
