"""``fuseloom completion``: a script that lets a shell complete commands, options and names.

The script holds all of them as text, so that a shell that completes a word starts no Python.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fuseloom.cli.command import Command, names_of

SHELLS = ("bash", "zsh", "fish")
LONGEST = 90
"""Characters of a description."""
INSTALL = """examples:
  fuseloom completion bash > ~/.local/share/bash-completion/completions/fuseloom
  fuseloom completion zsh > "${fpath[1]}/_fuseloom"
  fuseloom completion fish > ~/.config/fish/completions/fuseloom.fish"""


@dataclass(frozen=True)
class ShellArgument:
    """An option or a positional argument, as a shell has to know it.

    Attributes
    ----------
    options : tuple of str
        All spellings of an option; empty for a positional argument.
    text : str
        What it is, in a few words.
    value : str
        What its value is called; empty if it takes none.
    names : tuple of str
        Known values.
    files : bool
        Whether the value may be a file.
    optional, repeated : bool
        Whether the value may be left out, and whether the argument may come again.
    """

    options: tuple[str, ...]
    text: str
    value: str
    names: tuple[str, ...]
    files: bool
    optional: bool
    repeated: bool


@dataclass(frozen=True)
class CommandLine:
    """The words that may follow a command: its arguments, and actions with arguments of their own.

    Attributes
    ----------
    path : tuple of str
        The words that lead to it, none for ``fuseloom`` itself.
    """

    path: tuple[str, ...]
    text: str
    arguments: tuple[ShellArgument, ...]
    actions: tuple[CommandLine, ...]

    @property
    def options(self) -> list[ShellArgument]:
        return [argument for argument in self.arguments if argument.options]

    @property
    def positionals(self) -> list[ShellArgument]:
        return [argument for argument in self.arguments if not argument.options]

    def all(self) -> Iterator[CommandLine]:
        """Yield this one and all below it."""
        yield self
        for action in self.actions:
            yield from action.all()


def command_line(
    parser: argparse.ArgumentParser, path: tuple[str, ...] = (), text: str = ""
) -> CommandLine:
    """Return what a parser reads, with all that it hands on to other parsers."""
    arguments, actions = [], []
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            texts = {choice.dest: choice.help or "" for choice in action._choices_actions}
            for name, inner in action.choices.items():
                actions.append(command_line(inner, (*path, name), _short(texts.get(name, ""))))
        elif action.help != argparse.SUPPRESS:
            arguments.append(_argument(parser, action))
    return CommandLine(path, text, tuple(arguments), tuple(actions))


def _argument(parser: argparse.ArgumentParser, action: argparse.Action) -> ShellArgument:
    formatter: Any = parser._get_formatter()
    value = action.nargs != 0
    names = tuple(map(str, action.choices)) if action.choices else names_of(action)
    metavar = action.metavar if isinstance(action.metavar, str) else action.dest
    return ShellArgument(
        options=tuple(action.option_strings),
        text=_short(formatter._expand_help(action) if action.help else ""),
        value=metavar if value else "",
        names=names,
        files=value and (action.type is Path or "FILE" in metavar or "DIR" in metavar),
        optional=action.nargs == "?",
        repeated=isinstance(action, argparse._AppendAction) or action.nargs in ("*", "+"),
    )


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1].rstrip()}…"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def bash_script(line: CommandLine) -> str:
    """Return the script for bash, from version 3.2 on."""
    lines = list(line.all())
    parents = [one for one in lines if one.actions]
    steps = [
        f"            {_quoted(' '.join((*parent.path, action.path[-1])))}"
        f") path={_quoted(' '.join(action.path))} ;;"
        for parent in parents
        for action in parent.actions
    ]
    cases = [case for one in lines for case in _bash_case(one)]
    return "\n".join(
        [
            "# bash completion for fuseloom; made by 'fuseloom completion bash'",
            "_fuseloom() {",
            '    local cur="${COMP_WORDS[COMP_CWORD]}" prev="${COMP_WORDS[COMP_CWORD-1]}"',
            '    local path="" names="" files="" value="" i name',
            '    if [[ $cur == "=" ]]; then cur=""',
            '    elif [[ $prev == "=" ]]; then prev="${COMP_WORDS[COMP_CWORD-2]}"; fi',
            "    for ((i = 1; i < COMP_CWORD; i++)); do",
            '        case "${path:+$path }${COMP_WORDS[i]}" in',
            *steps,
            "        esac",
            "    done",
            '    case "$path" in',
            *cases,
            "    esac",
            "    COMPREPLY=()",
            '    while IFS= read -r name; do COMPREPLY+=("$name"); done < <(',
            '        compgen -W "$names" -- "$cur"',
            '        [[ -n $files ]] && compgen -f -- "$cur"',
            "    )",
            "    if [[ -n $files ]]; then compopt -o filenames 2>/dev/null; fi",
            "    return 0",
            "}",
            "complete -F _fuseloom fuseloom",
            "",
        ]
    )


def _bash_case(line: CommandLine) -> Iterator[str]:
    """Yield the lines that choose the words after one command."""
    yield f"    {_quoted(' '.join(line.path))})"
    yield '        case "$prev" in'
    for option in line.options:
        if option.value:
            files = " files=1" if option.files else ""
            names = f" names={_quoted(' '.join(option.names))}" if option.names else ""
            yield f"        {'|'.join(option.options)}) value=1{names}{files} ;;"
    yield "        esac"
    every = " ".join(spelling for option in line.options for spelling in option.options)
    names = " ".join(
        [
            *(action.path[-1] for action in line.actions),
            *(name for positional in line.positionals for name in positional.names),
        ]
    )
    yield "        if [[ -z $value && $cur == -* ]]; then"
    yield f"            names={_quoted(every)}"
    yield "        elif [[ -z $value ]]; then"
    yield f"            names={_quoted(names)}"
    if any(positional.files for positional in line.positionals):
        yield "            files=1"
    yield "        fi ;;"


def zsh_script(line: CommandLine) -> str:
    """Return the script for zsh."""
    functions = [text for one in line.all() for text in _zsh_function(one)]
    return "\n".join(
        [
            "#compdef fuseloom",
            "# zsh completion for fuseloom; made by 'fuseloom completion zsh'",
            *functions,
            'if [[ ${funcstack[1]} == "_fuseloom" ]]; then',
            '    _fuseloom "$@"',
            "else",
            "    compdef _fuseloom fuseloom",
            "fi",
            "",
        ]
    )


def _zsh_name(line: CommandLine) -> str:
    return "__".join(("_fuseloom", *(word.replace("-", "_") for word in line.path)))


def _zsh_function(line: CommandLine) -> Iterator[str]:
    yield f"{_zsh_name(line)}() {{"
    specs = [spec for option in line.options for spec in _zsh_option(option)]
    if line.actions:
        yield "    local context state state_descr line"
        yield "    typeset -A opt_args"
        specs += ["'1:command:->command'", "'*::argument:->argument'"]
    else:
        specs += [_zsh_positional(positional) for positional in line.positionals]
    flag = "-C " if line.actions else ""
    yield f"    _arguments -s {flag}\\"
    yield from (f"        {spec} \\" for spec in specs[:-1])
    yield f"        {specs[-1]}"
    if line.actions:
        yield "    case $state in"
        yield "    command)"
        yield "        local -a commands"
        yield "        commands=("
        for action in line.actions:
            yield f"            {_quoted(f'{action.path[-1]}:{action.text}')}"
        yield "        )"
        yield "        _describe command commands ;;"
        yield "    argument)"
        yield "        case ${line[1]} in"
        for action in line.actions:
            yield f"        {action.path[-1]}) {_zsh_name(action)} ;;"
        yield "        esac ;;"
        yield "    esac"
    yield "}"


def _zsh_value(argument: ShellArgument) -> str:
    """Return what a value may be, behind its message."""
    if argument.names and not argument.files:
        return f"({' '.join(argument.names)})"
    if argument.names:
        return f"{{_alternative 'names:name:({' '.join(argument.names)})' 'files:file:_files'}}"
    return "_files" if argument.files else " "


def _zsh_text(text: str) -> str:
    return "".join(f"\\{c}" if c in "[]:\\" else c for c in text)


def _zsh_option(option: ShellArgument) -> Iterator[str]:
    for spelling in option.options:
        equals = "=" if option.value and spelling.startswith("--") and not option.optional else ""
        message = f":{_zsh_text(option.value)}:{_zsh_value(option)}" if option.value else ""
        if option.optional:
            message = f":{message}"
        repeated = "*" if option.repeated else ""
        yield _quoted(f"{repeated}{spelling}{equals}[{_zsh_text(option.text)}]{message}")


def _zsh_positional(positional: ShellArgument) -> str:
    where = "*" if positional.repeated else ":" if positional.optional else ""
    return _quoted(f"{where}:{_zsh_text(positional.value)}:{_zsh_value(positional)}")


def fish_script(line: CommandLine) -> str:
    """Return the script for fish."""
    lines = [
        "# fish completion for fuseloom; made by 'fuseloom completion fish'",
        "complete -c fuseloom -f",
    ]
    for one in line.all():
        seen = [f"__fish_seen_subcommand_from {word}" for word in one.path]
        if one.actions:
            names = " ".join(action.path[-1] for action in one.actions)
            seen.append(f"not __fish_seen_subcommand_from {names}")
        start = f"complete -c fuseloom -n {_fish('; and '.join(seen))}"
        lines += [f"{start} -a {a.path[-1]} -d {_fish(a.text)}" for a in one.actions]
        for option in one.options:
            spellings = " ".join(
                f"-l {spelling[2:]}" if spelling.startswith("--") else f"-s {spelling[1:]}"
                for spelling in option.options
            )
            value = ""
            if option.value and not option.optional:
                value = " -r -F" if option.files else " -x"
            if option.names:
                value += f" -a {_fish(' '.join(option.names))}"
            lines.append(f"{start} {spellings}{value} -d {_fish(option.text)}")
        for positional in one.positionals:
            if positional.names:
                names = " ".join(positional.names)
                lines.append(f"{start} -a {_fish(names)} -d {_fish(positional.value)}")
            if positional.files:
                lines.append(f"{start} -F")
    return "\n".join([*lines, ""])


def _fish(text: str) -> str:
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


SCRIPTS: Mapping[str, Any] = {"bash": bash_script, "zsh": zsh_script, "fish": fish_script}


def _declare(parser: argparse.ArgumentParser) -> None:
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.epilog = INSTALL
    parser.add_argument("shell", choices=SHELLS, help="the shell that reads the script")


def _run(options: Any) -> int:
    """Print the script; this declares all commands, which takes a second or two."""
    from fuseloom.cli.main import command_parser

    print(SCRIPTS[options.shell](command_line(command_parser(every=True))), end="")
    return 0


COMPLETION = Command(_declare, _run)
