"""Commands that list: `srcgrad devices`, `rules`, `cache`, `explore`, and `completion`: what may be typed next.

The lines for a shell call `srcgrad completion SHELL WORDS...` with what has been typed so far, the word under the
cursor last; so what is offered is always what this version knows.
"""

from __future__ import annotations

import argparse
import glob
import json
import os
from collections.abc import Iterator, Sequence
from dataclasses import asdict
from pathlib import Path

from srcgrad.core.files import write_output
from srcgrad.interface.api.text_cache import CHOICE, chosen_folder, clear, entries, fault
from srcgrad.interface.cli.options import parser
from srcgrad.interface.explorer import serve
from srcgrad.interface.show import rule_pages
from srcgrad.opencl.devices.self_test import report, rows


def run_devices(asked: argparse.Namespace) -> int:
    """Print every device, what was measured on it, and which one is used."""
    if asked.json:
        found, why = rows()
        made = {"devices": [asdict(row) for row in found], "why": why}
        write_output(json.dumps(made, indent=2, ensure_ascii=False) + "\n", "-")
    else:
        write_output(report() + "\n", "-")
    return 0


def run_cache(asked: argparse.Namespace) -> int:
    """Tell of the texts that are kept on disk, or remove them; 1 where their folder is not used."""
    folder = chosen_folder()
    if folder is None:
        write_output(f"no texts are kept: {CHOICE} is not set\n", "-")
        return 0
    reason = fault(folder)
    if reason:
        write_output(f"{folder}: not used: {reason}\n", "-")
        return 1
    if asked.action == "clear":
        write_output(f"{folder}: {clear(folder)} removed\n", "-")
        return 0
    known = entries(folder)
    write_output(f"{folder}: {len(known)} texts, {sum(size for _, size, _ in known)} bytes\n", "-")
    return 0


def run_explore(asked: argparse.Namespace) -> int:
    """Serve the page until Ctrl-C."""
    serve(asked.port, browse=not asked.no_browser)
    return 0


def run_rules(asked: argparse.Namespace) -> int:
    """Print the table, or a part of it; with `--missing`, 1 if there is something."""
    if asked.missing:
        unknown = rule_pages.missing_callables()
        made = json.dumps(unknown, indent=1) + "\n" if asked.json else "".join(f"{name}\n" for name in unknown)
        write_output(made, "-")
        return 1 if unknown else 0
    if asked.json:
        write_output(rule_pages.as_json(asked.operation), "-")
    elif asked.operation:
        write_output(rule_pages.entry(asked.operation), "-")
    else:
        write_output(rule_pages.table(), "-")
    return 0


LINES = {
    "bash": """\
_srcgrad() {
    local IFS=$'\\n' word="${COMP_LINE:0:COMP_POINT}" rest
    word="${word##* }"
    COMPREPLY=($(srcgrad completion bash -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" "$word" 2>/dev/null))
    rest="${word%"${word##*[:=]}"}"
    COMPREPLY=("${COMPREPLY[@]#"$rest"}")
    [[ ${COMPREPLY[0]} == */ || ${COMPREPLY[0]} == *: ]] && compopt -o nospace
}
complete -F _srcgrad srcgrad
""",
    "zsh": """\
#compdef srcgrad
_srcgrad() {
    local -a found
    found=("${(@f)$(srcgrad completion zsh -- "${(@Q)words[2,CURRENT]}" 2>/dev/null)}")
    compadd -S '' -- ${(M)found:#*[/:]}
    compadd -- ${found:#*[/:]}
}
compdef _srcgrad srcgrad
""",
    "fish": """\
function __srcgrad
    set -l words (commandline -opc) (string unescape -- (commandline -ct); or commandline -ct)
    srcgrad completion fish -- $words[2..] 2>/dev/null
end
complete -c srcgrad -f -a '(__srcgrad)'
""",
}


def run_completion(asked: argparse.Namespace) -> int:
    """Print the lines for a shell, or, where words are given, what may stand in place of the last."""
    words = asked.words[1:] if asked.words[:1] == ["--"] else asked.words
    if asked.words:
        print("".join(f"{word}\n" for word in complete(words)), end="")
    else:
        print(LINES[asked.shell], end="")
    return 0


def complete(words: Sequence[str]) -> list[str]:
    """What the last of the words may become.

    >>> complete(["du"]), complete(["dump", "--mo"]), complete(["dump", "m.py", "--mode", "v"])
    (['dump'], ['--mode'], ['value-and-grad', 'vjp'])
    >>> complete(["dump", "m.py", "--mode=h"])
    ['--mode=hvp']
    """
    commands, options = _options(parser())
    *before, word = words or [""]
    name = next((each for each in before if not each.startswith("-")), None)
    if name is None:
        return [each for each in (*commands, *options) if each.startswith(word) and (word or each[0] != "-")]
    if name not in commands:
        return []
    _, own = _options(commands[name])
    option, given, value = word.partition("=")
    if given and own.get(option) is not None:
        return [f"{option}={each}" for each in complete([*before, option, value])]
    known = own.get(before[-1])
    if known is not None and known.nargs != 0:
        choices = _named_targets() if known.dest == "target" else [str(choice) for choice in known.choices or ()]
        return [each for each in choices if each.startswith(word)] if choices else list(_files(word))
    if word.startswith("-"):
        return sorted(each for each in own if each.startswith(word) and each.startswith("--"))
    if name == "rules":
        return _operations(word)
    return list(_targets(word))


def _options(of: argparse.ArgumentParser) -> tuple[dict[str, argparse.ArgumentParser], dict[str, argparse.Action]]:
    """The commands below a parser, and its options by their spellings."""
    commands: dict[str, argparse.ArgumentParser] = {}
    for action in of._actions:  # argparse tells them in no other way
        if isinstance(action, argparse._SubParsersAction):
            commands = dict(action.choices)
    return commands, dict(of._option_string_actions)


def _targets(word: str) -> Iterator[str]:
    """Files and folders; behind a colon the functions of the file."""
    head, colon, names = word.partition(":")
    if not colon:
        yield from _files(word)
        return
    from srcgrad.core.errors import DifferentiationError
    from srcgrad.interface.targets import find_target

    *chosen, last = names.split(",")
    try:
        found = [function.qualname for function in find_target(f"{head}:" if Path(head).is_file() else head)]
    except DifferentiationError:
        return
    for name in found:
        if name.startswith(last) and name not in chosen:
            yield f"{head}:{','.join([*chosen, name])}"


def _files(word: str) -> Iterator[str]:
    for path in sorted(glob.glob(f"{glob.escape(word)}*")):
        if os.path.isdir(path):
            yield f"{path}/"
        elif path.endswith(".py"):
            yield path


def _named_targets() -> list[str]:
    from srcgrad.backend.targets import names

    return list(names())


def _operations(word: str) -> list[str]:
    from srcgrad.interface.show.rule_pages import known_rules

    return [rule.name for rule in known_rules() if rule.name.startswith(word)]
