"""What a graph is, and how one is made from edges, matrices and other libraries' graphs."""

from hopvec.graph.graph import Graph

__all__ = ["Graph"]
