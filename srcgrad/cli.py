"""The command line: `srcgrad dump`, `check`, `explain`, `trace`, `rules`, `devices`."""

from __future__ import annotations

import argparse
import io
import os
import sys
import tokenize
from collections.abc import Sequence

from srcgrad.errors import DifferentiationError

TARGET = "file.py, file.py:f,g, package.module:f, or - for standard input"
MODES = ("reverse", "forward", "value-and-grad", "vjp", "hvp", "elementwise")
INTERRUPTED = 130  # what shells give for a command that Ctrl-C ended


def main(arguments: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status: 0 only if all that was asked was done.

    >>> main(["rules", "np.cosh"])
    np.cosh: elementwise
    <BLANKLINE>
    reverse:
        @adjoint.elementwise(np.cosh, cl="cosh(x)", aliases=(math.cosh,))
        def cosh(z, x):
            d[x] = d[z] * np.sinh(x)
    <BLANKLINE>
    forward: the same lines
    domain: -2.0 to 2.0
    also: math.cosh
    0
    """
    given = sys.argv[1:] if arguments is None else arguments
    asked = _parser().parse_args([f" {item}" if item.startswith("-:") else item for item in given])  # no option
    try:
        return int(asked.command(asked))
    except DifferentiationError as error:
        print(error, file=sys.stderr)
        return 1
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # or Python complains when it ends
        return 1
    except KeyboardInterrupt:
        return INTERRUPTED


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="srcgrad", description="Readable derivatives of NumPy functions.")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    dump = commands.add_parser(
        "dump",
        help="write the derivative of functions as Python",
        description="Write the derivative of functions as Python. The target is read, not run. Functions of "
        "a whole file that have no derivative are listed in the output and on standard error, with reasons.",
    )
    dump.add_argument("targets", nargs="+", type=str.strip, metavar="TARGET", help=TARGET)
    dump.add_argument(
        "-o", "--output", default="-", metavar="OUT", help="the file to write; - (default) is standard output"
    )
    dump.add_argument("--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that matter")
    dump.add_argument("--mode", choices=MODES, default="reverse", help="default: reverse")
    dump.add_argument("--standalone", action="store_true", help="the output does without srcgrad")
    dump.add_argument(
        "--inline", action="store_true", help="write calls out, so that the output can be differentiated again"
    )
    dump.add_argument("--target", choices=("numpy", "opencl"), default="numpy", help="opencl: kernels; default: numpy")
    dump.set_defaults(command=_dump)
    _check_parser(commands.add_parser("check", help="compare derivatives with finite differences; runs the target"))
    explain = commands.add_parser("explain", help="tell line by line what is active and what is recorded, and why")
    explain.add_argument("target", type=str.strip, metavar="TARGET", help=TARGET)
    explain.add_argument("--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that matter")
    explain.add_argument("--args", metavar="TEXT", help='runs the target: bytes recorded for "np.ones(3), 2.0"')
    explain.add_argument("--json", action="store_true", help="print JSON")
    explain.set_defaults(command=_explain)
    trace = commands.add_parser(
        "trace", help="list the operations of one call with values and adjoints; runs the target"
    )
    trace.add_argument("target", type=str.strip, metavar="TARGET", help=TARGET)
    trace.add_argument("--args", metavar="TEXT", required=True, help='the arguments, as "np.ones(3), 2.0"')
    trace.add_argument(
        "--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that hold floats"
    )
    trace.add_argument("--json", action="store_true", help="print JSON")
    trace.set_defaults(command=_trace)
    rules = commands.add_parser("rules", help="list the operations, or show the rule of one")
    rules.add_argument("operation", nargs="?", metavar="OP", help="np.tanh, scipy.special.erf, multiply")
    rules.add_argument("--markdown", action="store_true", help="print the page docs/rules.md")
    rules.add_argument("--json", action="store_true", help="print the table for programs to read")
    rules.add_argument("--missing", action="store_true", help="print what the installed NumPy has and the table lacks")
    rules.set_defaults(command=_rules)
    devices = commands.add_parser("devices", help="list the OpenCL devices, and tell which one is used and why")
    devices.set_defaults(command=_devices)
    return parser


def _check_parser(check: argparse.ArgumentParser) -> None:
    check.add_argument("target", type=str.strip, metavar="TARGET", help=TARGET)
    check.add_argument("--args", metavar="TEXT", help='the arguments, as "np.ones(3), 2.0"; default: drawn at random')
    check.add_argument(
        "--wrt", type=_names, metavar="NAMES", help="parameters, as x,w,b; default: all that hold floats"
    )
    check.add_argument("--seed", type=int, default=0, metavar="N", help="of the random numbers; default: 0")
    check.add_argument("--trials", type=int, default=1, metavar="N", help="how often to draw; default: 1")
    check.add_argument("--order", type=int, choices=(1, 2), default=1, help="2: the second derivatives, too")
    check.set_defaults(command=_check)


def _names(text: str) -> tuple[str, ...]:
    names = tuple(part.strip() for part in text.split(","))
    if not all(name.isidentifier() for name in names):
        raise argparse.ArgumentTypeError(f"{text!r} is no list of names, as x,w,b")
    return names


def _dump(asked: argparse.Namespace) -> int:
    from srcgrad.dump import dump
    from srcgrad.output import write_output

    made = dump(
        *asked.targets,
        wrt=asked.wrt,
        mode=asked.mode,
        standalone=asked.standalone,
        inline=asked.inline,
        text=_standard_input(asked.targets),
        target=asked.target,
    )
    for item in made.refused:
        print(f"{item.function.qualname} has no derivative: {item.error}", file=sys.stderr)
    write_output(made.text, asked.output)
    return 0


def _check(asked: argparse.Namespace) -> int:
    from srcgrad.trial import check_target

    return check_target(
        asked.target,
        arguments=asked.args,
        wrt=asked.wrt,
        seed=asked.seed,
        trials=asked.trials,
        order=asked.order,
        text=_standard_input([asked.target]),
    )


def _explain(asked: argparse.Namespace) -> int:
    from srcgrad.lines import explain_target

    text = _standard_input([asked.target])
    return explain_target(asked.target, wrt=asked.wrt, arguments=asked.args, text=text, as_json=asked.json)


def _trace(asked: argparse.Namespace) -> int:
    from srcgrad.trial import trace_target

    text = _standard_input([asked.target])
    return trace_target(asked.target, asked.args, wrt=asked.wrt, as_json=asked.json, text=text)


def _rules(asked: argparse.Namespace) -> int:
    from srcgrad import rulebook
    from srcgrad.output import write_output

    if asked.missing or asked.json:
        from srcgrad.inventory import as_json, missing

        if asked.json:
            write_output(as_json(), "-")
            return 0
        unknown = missing()
        write_output("".join(f"{name}\n" for name in unknown), "-")
        return 1 if unknown else 0
    if asked.markdown:
        write_output(rulebook.page(), "-")
    elif asked.operation:
        write_output(rulebook.entry(asked.operation), "-")
    else:
        write_output(rulebook.table(), "-")
    return 0


def _devices(asked: argparse.Namespace) -> int:
    from srcgrad.opencl.report import report

    print(report())
    return 0


def _standard_input(targets: Sequence[str]) -> str | None:
    """What standard input holds, if a target is `-`, decoded as the first lines of a Python file say."""
    if not any(target.partition(":")[0] == "-" for target in targets):
        return None
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        return sys.stdin.read()
    content = io.BytesIO(buffer.read())
    try:
        encoding, _ = tokenize.detect_encoding(content.readline)
        content.seek(0)
        return io.TextIOWrapper(content, encoding).read()
    except (SyntaxError, UnicodeDecodeError) as error:
        message = f"standard input cannot be decoded: {error}"
        raise DifferentiationError("E5015", message, "give text in UTF-8") from None
