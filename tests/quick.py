"""The tests for each small step, in some two minutes on two cores: `python -m tests.quick [--since COMMIT]`.

Goldens, the judge of texts, the structure, what was found wrong before, a sample of programs; the rules of the template
files that have changed since a commit (`origin/main`, if it is not said), or one rule in forty; and the tests that
mirror a changed module. Options are pytest's. `make test` runs everything.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

from tests.pages import ROOT

ALWAYS = (
    "tests/test_golden.py",
    "tests/project/test_texts.py",
    "tests/project/test_structure.py",
    "tests/programs/test_found.py",
    "tests/programs/test_people.py",
    "tests/random",
    "tests/templates/test_rules.py",
)


def changed(since: str) -> list[str]:
    """Files that differ from where this branch left a commit, those that git does not know yet among them."""
    start = _git("merge-base", "HEAD", since)
    named = f"{_git('diff', '--name-only', start)}\n{_git('ls-files', '--others', '--exclude-standard')}"
    return sorted(name for name in named.splitlines() if (ROOT / name).is_file())


def mirrors(files: Iterable[str]) -> list[str]:
    """Tests of these files: a test is its own, a module's has the module's place and name.

    >>> mirrors(["srcgrad/optimise/dead_code.py", "tests/core/test_parse.py", "README.md"])
    ['tests/optimise/test_dead_code.py', 'tests/core/test_parse.py']
    """
    found = []
    for path in map(Path, files):
        if path.parts[0] == "tests" and path.name.startswith("test_"):
            found.append(path.as_posix())
        elif path.parts[0] == "srcgrad" and path.suffix == ".py":
            test = Path("tests", *path.parts[1:-1], f"test_{path.name}")
            found += [test.as_posix()] if (ROOT / test).exists() else []
    return found


def families(files: Iterable[str]) -> list[str]:
    """The template files among these, by name.

    >>> families(["srcgrad/templates/scipy/special.py", "srcgrad/core/rules.py"])
    ['scipy.special']
    """
    own = [Path(name) for name in files if name.startswith("srcgrad/templates/") and name.endswith(".py")]
    return [".".join(path.with_suffix("").parts[2:]) for path in own]


def _git(*command: str) -> str:
    return subprocess.run(("git", *command), cwd=ROOT, check=True, text=True, capture_output=True).stdout.strip()


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.quick", description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--since", default="origin/main", metavar="COMMIT")
    asked, options = parser.parse_known_args()
    files = changed(asked.since)
    chosen = dict.fromkeys((*ALWAYS, *(test for test in mirrors(files) if not test.startswith("tests/random/"))))
    command = [sys.executable, "-m", "pytest", "-n", "auto", "--dist", "loadgroup", *chosen, *options]
    return subprocess.call(command, cwd=ROOT, env={**os.environ, "SRCGRAD_FAMILIES": ",".join(families(files))})


if __name__ == "__main__":
    sys.exit(main())
