"""The colors of maps, on a light ground and on a dark one."""

from __future__ import annotations

from dataclasses import dataclass

# Nine of Petroff's ten, which people with any color vision can tell apart; the tenth is gray.
PALETTE = (
    "#3f90da",
    "#ffa90e",
    "#bd1f01",
    "#832db6",
    "#a96b59",
    "#e76300",
    "#b9ac70",
    "#92dadd",
    "#717581",
)


@dataclass(frozen=True)
class Theme:
    """What is drawn in which color."""

    ground: str
    ink: str
    quiet: str
    """Captions and what is small."""
    other: str
    """Nodes whose class has no color of its own."""
    text: tuple[str, ...]
    """The palette as letters have it, which need more contrast than points."""


THEMES = {
    "light": Theme(
        ground="#ffffff",
        ink="#1b1f24",
        quiet="#59616b",
        other="#c6cbd1",
        text=(
            "#1f6cb0",
            "#9a6200",
            "#a81b00",
            "#6f229d",
            "#80493a",
            "#b34b00",
            "#73682b",
            "#1f7f85",
            "#50545e",
        ),
    ),
    "dark": Theme(
        ground="#14171c",
        ink="#f2f4f7",
        quiet="#a3adb8",
        other="#3a414b",
        text=(
            "#7cb8ee",
            "#ffbe45",
            "#ff7d66",
            "#c88df0",
            "#d79d8d",
            "#ff9a57",
            "#d3c88f",
            "#a5e6e8",
            "#b4b9c4",
        ),
    ),
}
