"""`hopvec presets`: the sets of parameters that have a name."""

from __future__ import annotations

from hopvec.cli.method_options import flag, shown
from hopvec.cli.outputs import json_option
from hopvec.cli.terminal import Terminal
from hopvec.cli.verb import verb
from hopvec.methods import FastRP
from hopvec.methods.presets import PRESETS

ALWAYS = dict.fromkeys(["weights", "beta", "normalize"])  # shown for every preset


@verb(examples=["hopvec presets", "hopvec presets --json"])
@json_option
def presets(terminal: Terminal, as_json: bool) -> None:
    """Show the sets of parameters that have a name.

    Each stands for the options that it is shown with; `--preset NAME` takes them, and what is typed
    beside it comes before them. In JSON, each has all parameters.
    """
    if as_json:
        terminal.answer_json(
            {
                name: {"help": preset.help, "parameters": FastRP.preset(name).plain_params()}
                for name, preset in PRESETS.items()
            }
        )
        return
    rows = []
    for name, preset in PRESETS.items():
        all_ = FastRP.preset(name).plain_params()
        typed = [f"{flag(key)} {shown(all_[key])}" for key in {**ALWAYS, **preset.parameters}]
        rows += [(name, preset.help), ("", " ".join(typed))]
    terminal.facts(rows, answer=True)
