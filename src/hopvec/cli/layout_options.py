"""The options of a layout, the same for every verb that may need one."""

from __future__ import annotations

from collections.abc import Callable

import click

from hopvec.cli.verb import Function, option


def kind_option(*, default: str | None) -> Callable[[Function], Function]:
    """Adds --layout; without a default, positions that the file holds come first."""
    help_ = "Where nodes lie: by t-SNE, or by their first two principal components."
    return option(
        "--layout",
        "kind",
        type=click.Choice(["tsne", "pca"]),
        default=default,
        show_default=default is not None,
        help=help_ if default else f"{help_}  [default: x and y of the file, else tsne]",
        heading="Layout",
    )


def seed_option(function: Function) -> Function:
    """Adds --seed."""
    return option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Seed of the layout: same seed, same bytes.",
        heading="Layout",
    )(function)
