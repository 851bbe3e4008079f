"""`hopvec presets`: lists the parameter presets."""

from __future__ import annotations

from hopvec.cli.command import command
from hopvec.cli.method_options import flag, format_value
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal
from hopvec.methods import FastRP
from hopvec.methods.presets import PRESETS

ALWAYS = dict.fromkeys(["weights", "beta", "normalize", "passes"])  # shown for every preset


@command(examples=["hopvec presets", "hopvec presets --json"])
@json_option
def presets(terminal: Terminal, as_json: bool) -> None:
    """List the parameter presets.

    `--preset NAME` is short for the options listed with it; explicit options override them.
    The JSON output has all parameters of each preset.
    """
    if as_json:
        terminal.print_json(
            {
                name: {"help": preset.help, "parameters": FastRP.preset(name)._plain_params()}
                for name, preset in PRESETS.items()
            }
        )
        return
    rows = []
    for name, preset in PRESETS.items():
        params = FastRP.preset(name)._plain_params()
        options = [
            f"{flag(key)} {format_value(params[key])}" for key in {**ALWAYS, **preset.parameters}
        ]
        rows += [(name, preset.help), ("", " ".join(options))]
    terminal.print_rows(rows)
