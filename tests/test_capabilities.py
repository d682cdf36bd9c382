"""Every capability that systems of this kind have is shown by a test, which is named by its row of the list.

Rows on several devices and on shards are left out here: tests/opencl has what there is of them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROWS = {0: 24, 1: 33, 2: 42, 3: 30, 4: 23}  # how many rows each section has
ELSEWHERE = {
    "0.20", "0.21",  # shards
    "0.25", "1.30", "2.40", "3.30", "4.23",  # claims, which are measured in benchmarks
    "1.1", "1.25", "1.26", "1.27", "2.19", "2.38",  # devices: tests/opencl
    "2.12", "2.37",  # tests/test_rules.py (closure), tests/test_calculus_texts.py (texts)
    "2.24", "3.5",  # examples and normal form: tests/test_examples.py, tests/test_invariants.py
    "3.16", "3.18",  # tests/test_checkpoints.py
    "4.18",  # tests/test_user_forms.py
}  # fmt: skip


def shown() -> set[str]:
    """The rows that the tests name: `test_1_22_and_1_23_memory`, `test_4_4_to_4_8_the_tape`."""
    rows: set[str] = set()
    for file in sorted((Path(__file__).parent / "capabilities").glob("test_*.py")):
        for node in ast.parse(file.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.name.startswith("test_"):
                found = [(int(s), int(r)) for s, r in re.findall(r"(?:^test|and|to)_(\d)_(\d+)", node.name)]
                if re.search(r"_to_\d", node.name):
                    (section, low), (_, high) = found[:2]
                    found = [(section, row) for row in range(low, high + 1)]
                rows.update(f"{section}.{row}" for section, row in found)
    return rows


@pytest.mark.parametrize("section", ROWS)
def test_each_row_has_a_test(section: int) -> None:
    rows = {f"{section}.{row}" for row in range(1, ROWS[section] + 1)}
    assert sorted(rows - ELSEWHERE - shown()) == []
