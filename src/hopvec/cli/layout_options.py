"""The options of a layout, shared by all commands that may compute one."""

from __future__ import annotations

from collections.abc import Callable

import click

from hopvec.cli.command import Function, option


def kind_option(*, default: str | None) -> Callable[[Function], Function]:
    """Add --layout; without a default, positions stored in the file are used first."""
    help_ = "Layout algorithm: t-SNE, or the first two principal components."
    return option(
        "--layout",
        "kind",
        type=click.Choice(["tsne", "pca"]),
        default=default,
        show_default=default is not None,
        help=help_ if default else f"{help_}  [default: x and y of the file, or tsne]",
        heading="Layout",
    )


def seed_option(function: Function) -> Function:
    """Add --seed."""
    return option(
        "--seed",
        type=click.IntRange(0, 2**32 - 1),
        default=0,
        show_default=True,
        help="Random seed of the layout.",
        heading="Layout",
    )(function)
