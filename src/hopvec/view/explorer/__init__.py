"""The explorer: a local page to wander through an embedding."""

from hopvec.view.explorer.exploration import Exploration
from hopvec.view.explorer.server import LOCAL, serve

__all__ = ["Exploration", "LOCAL", "serve"]
