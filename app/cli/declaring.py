"""How a command is declared, apart from the module that does it, so that `--help` loads none of these."""

import gc
from collections.abc import Callable
from functools import wraps
from importlib import import_module
from typing import Annotated, Any

import typer

Declared = Callable[..., None]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]

app = typer.Typer(
    name="crosspath",
    help="Several LLM agents decide one label out of a closed set; a label-free anchor says whom to trust.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
domain_app = typer.Typer(no_args_is_help=True, help="Domain packs: list them, begin one, check one.")
data_app = typer.Typer(no_args_is_help=True, help="Data sets as domain packs.")
app.add_typer(domain_app, name="domain")
app.add_typer(data_app, name="data")
key_app = typer.Typer(no_args_is_help=True, help="API keys.")
app.add_typer(key_app, name="key")


def command(epilog: str, name: str | None = None, group: typer.Typer = app) -> Callable[[Declared], Declared]:
    """A command of the function's name: its parameters are what the command takes, its docstring is the help, and `run`
    of the module `app.cli.<function>` does it, with arguments of the same names."""

    def declare(function: Declared) -> Declared:
        @wraps(function)
        def call(**arguments: Any) -> None:
            code = _loaded(f"app.cli.{function.__name__}").run(**arguments)
            if code:
                raise typer.Exit(code)

        summary = " ".join((function.__doc__ or "").partition("\n\n")[0].split())
        group.command(name, short_help=summary, epilog=epilog)(call)
        return function

    return declare


def _loaded(name: str) -> Any:
    """A module, and with it whatever it needs. None of that is garbage: nothing is collected on the way, and no later
    collection looks through it."""
    gc.disable()
    try:
        return import_module(name)
    finally:
        gc.freeze()
        gc.enable()
