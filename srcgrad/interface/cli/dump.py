"""`srcgrad dump`: derivatives as Python text, written whole or not at all.

With `--check`: whether a file is what would be written. With `--watch`: again whenever a file is saved that it needs.
"""

from __future__ import annotations

import argparse
import contextlib
import difflib
import json
import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any  # what JSON holds

from srcgrad.core.bindings import read_text
from srcgrad.core.errors import DifferentiationError
from srcgrad.core.files import add_mark, write_file
from srcgrad.interface import dump
from srcgrad.interface.cli.options import parser, report
from srcgrad.interface.dump import DumpedModule
from srcgrad.interface.dump import dump as dump_dump
from srcgrad.interface.targets import expand_patterns, find_target, for_each_target, standard_input, tell


def command_in(file: str) -> list[str]:
    """The arguments of the command that a standalone file was made by; E5015 where it names none."""
    found = dump.read(read_text(Path(file)))
    if found is None:
        remedy = "name a file that `srcgrad dump --standalone` made, or give -o OUT and what OUT is made from"
        raise DifferentiationError("E5015", f"{file} does not say how it was made", remedy)
    return found


@contextlib.contextmanager
def in_folder_of(file: str) -> Iterator[None]:
    """The folder of a file as the working directory, as a person would run the command."""
    before = Path.cwd()
    os.chdir(Path(file).resolve().parent)
    try:
        yield
    finally:
        os.chdir(before)


def is_current(text: str, output: str) -> bool:
    """Whether a file holds a text; if not, standard error tells the difference."""
    exists = Path(output).is_file()
    known = read_text(Path(output)) if exists else ""
    if exists and known in (text, add_mark(text)):  # without its mark: of `dump ... > OUT`
        return True
    should = add_mark(text)
    lines = difflib.unified_diff(known.splitlines(), should.splitlines(), output, "as it should be", lineterm="")
    what = "is stale" if exists else "does not exist"
    print("\n".join([f"{output} {what}", *lines]), file=sys.stderr)
    return False


INTERVAL = 0.2  # seconds between two looks at the files
Stamp = tuple[int, int, int] | None


def watch(outputs: Mapping[str, Sequence[str]], write: Callable[[str], DumpedModule]) -> None:
    """Write each output, and again when a file that was read for it has changed, until Ctrl-C.

    `outputs` has the heads of its targets for each. An error is shown, and the output stays as it was.
    """
    if any(head == "-" for heads in outputs.values() for head in heads):
        raise DifferentiationError("E5015", "standard input cannot be watched", "name a file")
    known: dict[str, dict[Path, Stamp]] = {}
    while True:
        for output, heads in outputs.items():
            before = known.get(output)
            if before is not None and stamps(before) == before:
                continue
            # What is stamped before it is read: a file that is saved meanwhile is read again.
            now = stamps([*(before or ()), *map(Path, heads)])
            known[output] = {**stamps(_write_once(output, heads, write)), **now}
        time.sleep(INTERVAL)


def _write_once(output: str, heads: Sequence[str], write: Callable[[str], DumpedModule]) -> Iterable[Path]:
    """Write once; the files that were read."""
    try:
        files: Iterable[Path] = write(output).files
    except DifferentiationError as error:
        report(error)
        return _read(heads)
    if output != "-":
        print(f"{output} is written", file=sys.stderr, flush=True)
    return files


def _read(heads: Sequence[str]) -> list[Path]:
    """The files of targets that have no derivative, where they can be read."""
    found: list[Path] = []
    for head in heads:
        try:
            programs = {id(one.module.program): one.module.program for one in find_target(head)}
        except DifferentiationError:
            continue  # it was told why, and the file itself is watched
        for program in programs.values():
            program.follow_imports()
            found += program.modules
    return found


def stamps(files: Iterable[Path]) -> dict[Path, Stamp]:
    """When each file was last written, how long it is and which it is; None for one that is not there."""
    found: dict[Path, Stamp] = {}
    for file in files:
        try:
            known = file.stat()
        except OSError:
            found[file] = None
        else:
            found[file] = (known.st_mtime_ns, known.st_size, known.st_ino)
    return found


def run_dump(asked: argparse.Namespace) -> int:
    """Write what is asked for: one text, or one for each file of the targets if the output is a folder."""
    targets = expand_patterns(asked.targets)
    if asked.check and asked.output is None:
        return for_each_target(targets, _is_as_it_says)
    asked.output = asked.output or "-"
    text = standard_input(targets)
    if asked.json:
        return _as_json(asked, targets, text)
    if asked.html is not None or asked.args is not None:
        return _as_html(asked, targets, text)
    files = outputs(targets, asked.output)

    def write(output: str) -> DumpedModule:
        made = derive_targets(asked, files[output], text, output)
        if not asked.check:
            tell_refused(made)
            write_file(made.text, output, made.files, asked.force)
        return made

    if asked.watch:
        watch({output: [head(target) for target in own] for output, own in files.items()}, write)

    def dump_is_done(output: str) -> bool:
        made = write(output)
        return not asked.check or is_current(made.text, output)

    return for_each_target(list(files), dump_is_done)


def _is_as_it_says(file: str) -> bool:
    """Whether a standalone file is what the command at its top makes, in its folder."""
    again = parser().parse_args(command_in(file))
    with in_folder_of(file):
        made = derive_targets(again, expand_patterns(again.targets), None, again.output or "-")
    return is_current(made.text, file)


def derive_targets(asked: argparse.Namespace, targets: Sequence[str], text: str | None, output: str) -> DumpedModule:
    """The derivatives of some targets, with the options that were given."""
    return dump_dump(
        *targets,
        wrt=asked.wrt,
        mode=asked.mode,
        standalone=asked.standalone,
        inline=asked.inline,
        text=text,
        target=asked.target,
        output=output,
        over=asked.shard or asked.over or (),
        rows=asked.rows,
    )


def tell_refused(made: DumpedModule) -> None:
    """Print which functions of a whole module have no derivative, and why, on standard error."""
    for item in made.refused:
        report(item.error, f"{item.function.qualname} has no derivative: ")


def outputs(targets: Sequence[str], output: str) -> dict[str, list[str]]:
    """For each file to write the targets that it is made from: all, or in a folder those of one file each.

    E5015 if two files would be written under one name.

    >>> outputs(["src/a.py:f", "b.py", "src/a.py:g"], "made/")
    {'made/a_grad.py': ['src/a.py:f', 'src/a.py:g'], 'made/b_grad.py': ['b.py']}
    >>> outputs(["a.py", "b.py"], "-")
    {'-': ['a.py', 'b.py']}
    """
    if not (output.endswith(("/", os.sep)) or Path(output).is_dir()):
        return {output: list(targets)}
    found: dict[str, list[str]] = {}
    for target in targets:
        name = str(Path(output) / f"{_stem(target)}_grad.py")
        known = found.setdefault(name, [])
        if known and head(known[0]) != head(target):
            message = f"{head(known[0])} and {head(target)} would both be written to {name}"
            raise DifferentiationError("E5015", message, "write them one by one, each with a file behind -o")
        known.append(target)
    return found


def head(target: str) -> str:
    """The file or module of a target.

    >>> head("src/a.py:f"), head("package.module:f"), head("a.py")
    ('src/a.py', 'package.module', 'a.py')
    """
    return target if Path(target).is_file() or ":" not in target else target.rpartition(":")[0]


def _stem(target: str) -> str:
    """The name of the module that a target is, or is in."""
    own = head(target)
    return "stdin" if own == "-" else Path(own).stem if own.endswith(".py") else own.rpartition(".")[2]


def _as_html(asked: argparse.Namespace, targets: Sequence[str], text: str | None) -> int:
    """One report of all targets; with `-o FILE` their text, too."""
    from srcgrad.interface.show.explain import dumped_report

    if asked.html is None:
        message = "--args runs the target to tell bytes, which a text does not hold"
        raise DifferentiationError("E5015", message, "give --html OUT, too")
    if asked.watch or asked.check:
        message = "a report is neither watched nor checked"
        raise DifferentiationError("E5015", message, "leave out --watch and --check, or --html")
    if asked.output != "-" and os.path.realpath(asked.html) == os.path.realpath(asked.output):
        message = "the page and the text would both be written to one file"
        raise DifferentiationError("E5015", message, "give --html and -o a file each")
    made = derive_targets(asked, targets, text, asked.output)
    written = asked.output != "-"
    page = dumped_report(made, targets, wrt=asked.wrt, arguments=asked.args, text=text, written=written)
    tell_refused(made)
    if written:
        write_file(made.text, asked.output, made.files, asked.force)
    page.save(asked.html, made.files, asked.force)
    return 0


def _as_json(asked: argparse.Namespace, targets: Sequence[str], text: str | None) -> int:
    """A list with an object for each target: `target`, `text` or null, `refused`, `error` or null."""
    found: list[dict[str, Any]] = []
    failed: list[tuple[str, DifferentiationError]] = []
    files: list[Path] = [Path(head(target)) for target in targets]
    for target in targets:
        try:
            made = derive_targets(asked, [target], text, asked.output)
        except DifferentiationError as error:
            failed.append((target, error))
            files += _read([head(target)])
            found.append({"target": target, "text": None, "refused": [], "error": error.fields()})
        else:
            refused = [{"function": item.function.qualname, **item.error.fields()} for item in made.refused]
            files += made.files
            found.append({"target": target, "text": made.text, "refused": refused, "error": None})
    write_file(json.dumps(found, indent=2, ensure_ascii=False) + "\n", asked.output, files, asked.force, mark=False)
    sys.stdout.flush()
    tell(failed, len(targets))
    return 1 if failed else 0
