"""The slab engine: everything a method needs to propagate columns through a graph."""
