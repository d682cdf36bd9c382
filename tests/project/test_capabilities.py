"""Every capability that systems of this kind have is shown by a test, which is named by its row of the list.

Rows on several devices and on shards are left out here: tests/opencl has what there is of them.
"""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

ROWS = {0: 24, 1: 33, 2: 42, 3: 30, 4: 23}  # how many rows each section has
ELSEWHERE = {  # row -> the tests that show it, or the rows that do
    "0.20": "tests/opencl/test_kernels.py::test_sums_are_no_less_exact_than_numpy",  # parts meet before they are added
    "0.21": "tests/opencl/test_array.py::test_gradients",  # each gradient is on the device of its primal
    "1.1": "tests/opencl/test_array.py::test_numpy_memory_is_used_in_place_on_a_cpu",
    "1.25": "tests/opencl/test_array.py::test_kernels_run_on_the_device_of_the_arrays",
    "1.26": "tests/opencl/test_array.py::test_kernels_on_a_device_leave_the_host_alone",
    "1.27": "tests/opencl/test_array.py::test_memory_goes_round",
    "1.30": "1.19 1.20 1.21 1.22 1.23 1.24",  # what is claimed there
    "2.12": "tests/templates/test_rules.py::test_closure",
    "2.19": "tests/opencl/test_modes.py::test_dump",
    "2.24": "tests/project/test_examples.py::test_derivative",
    "2.38": "tests/opencl/test_kernels.py::test_value_and_gradient_are_one_kernel",
    "3.16": "tests/derive/test_checkpoint.py::test_row_3_16_calls_record_their_arguments",
    "3.18": "tests/derive/test_checkpoint.py::test_row_3_18_attention_by_blocks",
    "3.30": "3.6 3.11 3.15",  # what is claimed there
    "4.18": "tests/interface/api/test_rule_forms.py::test_work_is_shared",
    "4.23": "4.3 4.17",  # what is claimed there
}
NOTHING_TO_SHOW = {"0.25"}  # no claim is made


def shown() -> set[str]:
    """The rows that the tests name: `test_1_22_and_1_23_memory`, `test_4_4_to_4_8_the_tape`."""
    rows: set[str] = set()
    for file in sorted((Path(__file__).parents[1] / "capabilities").glob("test_*.py")):
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
    assert sorted(rows - set(ELSEWHERE) - NOTHING_TO_SHOW - shown()) == []


@pytest.mark.parametrize("row", ELSEWHERE)
def test_what_is_said_to_show_a_row_is_there(row: str) -> None:
    place, _, name = ELSEWHERE[row].partition("::")
    if not name:
        assert set(place.split()) <= shown()
        return
    tree = ast.parse((Path(__file__).parents[2] / place).read_text())
    assert name in [node.name for node in tree.body if isinstance(node, ast.FunctionDef)]
