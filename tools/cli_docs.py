"""Write docs/cli.md from the commands themselves: ``python tools/cli_docs.py``."""

from __future__ import annotations

import enum
import inspect
import re
from pathlib import Path
from typing import Annotated, Any, Literal, get_args, get_origin, get_type_hints

import typer

from newfound.cli import app

PAGE = Path(__file__).resolve().parents[1] / "docs/cli.md"
INTRODUCTION = """# Command line

Every command has `--help`, with the same text as this page. The exit status is

- 0: success,
- 1: failure; one sentence on standard error says why,
- 2: usage error; an option or its value is wrong,
- 3: `detect --fail-on-novel N` found N or more novel documents,
- 130: interrupted.

`--json` prints the objects of [JSON output](json.md).

This page is made by `python tools/cli_docs.py`.
"""


def page() -> str:
    """Return the page."""
    return INTRODUCTION + "".join(sections(typer.main.get_command(app), "newfound"))


def sections(command: Any, name: str) -> list[str]:
    """Return the sections of a command and of its subcommands."""
    own = [] if name == "newfound" else [section(command, name)]
    for child, about in getattr(command, "commands", {}).items():
        if not about.hidden:
            own += sections(about, f"{name} {child}")
    return own


def section(command: Any, name: str) -> str:
    """Return the section of one command: what it does, its arguments and its options."""
    level = "#" * len(name.split())
    described = hints(command)
    usage, arguments, options = name, [], []
    for one in command.params:
        kind, about = described.get(one.name, (bool, None))
        if one.param_type_name == "argument":
            value = one.metavar or one.name.upper()
            usage += f" {value}{'...' if one.nargs == -1 else ''}"
            arguments.append(f"| {plain(value)} | {cell(one, about)} |")
        elif not getattr(one, "hidden", False) and one.name != "help":
            options.append(f"| {names(one, kind)} | {cell(one, about)} |")
    usage += (" COMMAND" if hasattr(command, "commands") else "") + " [OPTIONS]" * bool(options)
    parts = [
        f"\n{level} {name}\n",
        f"```text\n{usage}\n```\n",
        paragraphs(command.help or "") + "\n",
    ]
    for title, rows in (("argument", arguments), ("option", options)):
        if rows:
            parts.append("\n".join([f"| {title} | |", "|---|---|", *rows]) + "\n")
    return "\n".join(parts)


def hints(command: Any) -> dict[str, tuple[Any, Any]]:
    """Return the type and the description of each parameter of a command, by its name.

    They are read from the annotations of the function: what typer makes of them differs between its
    versions.
    """
    function = inspect.unwrap(command.callback) if command.callback else None
    found = {}
    for name, hint in get_type_hints(function, include_extras=True).items() if function else ():
        about = next((one for one in get_args(hint)[1:] if hasattr(one, "param_decls")), None)
        found[name] = (get_args(hint)[0] if get_origin(hint) is Annotated else hint, about)
    return found


def paragraphs(text: str) -> str:
    """Return a help text as Markdown, one line for each paragraph."""
    found = re.split(r"\n\s*\n", inspect.cleandoc(text.replace("\b", "")))
    return "\n\n".join(plain(" ".join(one.split())) for one in found)


def plain(text: str) -> str:
    """Return a text in which options are code and nothing else has a meaning in Markdown."""
    text = re.sub(r"([\\*_<>|\[\]])", r"\\\1", text)
    return re.sub(r"(?<![\w`-])(--?[a-zA-Z][\w-]*)", r"`\1`", text)


def names(option: Any, kind: Any) -> str:
    """Return the names of an option and of its value."""
    spelled = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    if option.is_flag or option.count:
        return spelled
    return f"{spelled} {plain(option.metavar or value_of(kind))}"


def value_of(kind: Any) -> str:
    """Return the name of a type of values, or the values themselves where they are few."""
    inner = [one for one in get_args(kind) if one is not type(None)]
    if get_origin(kind) is Literal:
        return " / ".join(inner)
    if inner:
        return value_of(inner[0])
    if issubclass(kind, enum.Enum):
        return " / ".join(str(one.value) for one in kind)
    return {int: "INTEGER", float: "NUMBER", str: "TEXT", Path: "PATH"}[kind]


def cell(parameter: Any, about: Any) -> str:
    """Return what a parameter does, its limits and its default."""
    text = plain(" ".join((getattr(about, "help", None) or parameter.help or "").split()))
    limits = [
        f"{words} {getattr(about, bound):g}"
        for words, bound in (("at least", "min"), ("at most", "max"))
        if getattr(about, bound, None) is not None
    ]
    default = parameter.default
    if isinstance(default, bool):
        default = parameter.opts[0] if default and parameter.secondary_opts else None
    if isinstance(default, (str, int, float)) and default != "":
        limits.append(f"default `{getattr(default, 'value', default)}`")
    if parameter.required:
        limits.append("required")
    return f"{text} ({'; '.join(limits)})" if limits else text


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
