"""The colors of maps, for a light and a dark background."""

from __future__ import annotations

from dataclasses import dataclass

# Nine of Petroff's ten colors, which are accessible with any color vision; the tenth is gray.
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
    """The colors of a map."""

    background: str
    ink: str
    """Titles and legends."""
    quiet: str
    """Captions and small text."""
    other: str
    """Nodes whose class has no color."""
    text: tuple[str, ...]
    """The palette for text, which needs more contrast than points."""


THEMES = {
    "light": Theme(
        background="#ffffff",
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
        background="#14171c",
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
