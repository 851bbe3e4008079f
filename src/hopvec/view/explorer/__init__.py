"""The explorer: a web page to explore embeddings, served from this machine.

exploration.py      Exploration: everything that the page shows
columns.py          columns that nodes can be colored by: labels or numbers
extra_columns.py    reads positions and additional columns of a file of vectors
edges.py            the edges of nodes that have a vector
likely_links.py     the edges that nodes are most likely to get
search.py           search of nodes by name
app.py              the page and its JSON API
guard.py            which requests are allowed: Host check, same origin, token
connections.py      limits of connections: their number, and the time of a request
server.py           serve: listens on a port until Ctrl-C
notebook.py         explore: the page in a cell of a notebook
static/             the page: HTML, CSS and JavaScript modules
"""

from hopvec.view.explorer.exploration import Exploration
from hopvec.view.explorer.server import serve

__all__ = ["Exploration", "serve"]


def __dir__() -> list[str]:
    return sorted(__all__)
