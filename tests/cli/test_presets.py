"""`hopvec presets` and --preset."""

import json

import pytest

import hopvec
from hopvec import FastRP
from hopvec.methods.presets import PRESETS


def test_the_table_shows_every_preset_with_its_options(run):
    text = " ".join(run("presets").stdout.split())
    for name, preset in PRESETS.items():
        assert f"{name} {preset.help}" in text
    assert "--weights auto --beta 0.25 --normalize full --passes 3" in text
    assert "--weights 1,1,1,1,1,1,1,1,1,1 --beta 0.25 --normalize full --passes 6" in text


def test_in_json_each_has_all_parameters(run):
    found = json.loads(run("presets", "--json").stdout)
    assert list(found) == list(PRESETS)
    for name in PRESETS:
        assert FastRP().set_params(**found[name]["parameters"])._plain_params() == (
            FastRP.preset(name)._plain_params()
        )


def test_given_options_override_the_parameters_of_a_preset(run, edges):
    result = run("embed", edges, "-o", "v.npz", "--preset", "best", "--dim", "4", "--beta", "0")
    assert result.exit_code == 0, result.stderr
    made = hopvec.load("v.npz").parameters
    assert (made["dim"], made["beta"], made["passes"]) == (4, 0, 6)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--preset", "worst"], "'worst' is not one of 'balanced', 'fast', 'best'"),
        (["--preset", "best", "--params", "p.json"], "Give --preset or --params, not both"),
        (
            ["--preset", "best", "--method", "line"],
            "--preset applies to the method fastrp, but --met",
        ),
    ],
)
def test_conflicting_options_are_rejected(run, edges, arguments, sentence):
    result = run("embed", edges, "-o", "v.npz", *arguments)
    assert result.exit_code == 2
    assert sentence in " ".join(result.stderr.split())
