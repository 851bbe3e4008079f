"""explore: the explorer in a cell of a notebook."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from threading import Event, Thread
from types import TracebackType
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.graph import Graph
from hopvec.labels import Labels
from hopvec.progress import ProgressOption, callback
from hopvec.view.explorer.exploration import Exploration
from hopvec.view.explorer.server import (
    LOCAL,
    listening,
    new_server,
    require_extra,
    required_token,
)

if TYPE_CHECKING:
    import uvicorn

HEIGHTS = 200, 4000  # minimum and maximum, in pixels


@dataclass(frozen=True, eq=False, repr=False)
class Explorer:
    """An explorer that runs in the background, returned by `explore`.

    A notebook shows its page in the output of the cell. As a context manager, it stops at the end
    of the block.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, view
    >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
    >>> with view.explore(FastRP(dim=8).embed(graph), layout="pca") as explorer:
    ...     explorer.url.startswith("http://127.0.0.1:")
    True
    >>> explorer
    Explorer(stopped)
    """

    _url: str
    _height: int
    _server: uvicorn.Server
    _thread: Thread

    @property
    def url(self) -> str:
        """The URL of the page, with the token."""
        return self._url

    def stop(self) -> None:
        """Stop the server. Stopping it again does nothing.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, view
        >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
        >>> explorer = view.explore(FastRP(dim=8).embed(graph), layout="pca")
        >>> explorer.stop()
        >>> explorer
        Explorer(stopped)
        """
        self._server.should_exit = True
        self._thread.join()

    def __enter__(self) -> Explorer:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.stop()

    def __repr__(self) -> str:
        return f"Explorer({self.url!r})" if self._thread.is_alive() else "Explorer(stopped)"

    def _repr_html_(self) -> str:
        """The page in a frame."""
        if not self._thread.is_alive():
            return "<p>The explorer has stopped.</p>"
        return (
            f'<iframe src="{escape(self.url)}" title="hopvec explorer" width="100%" '
            f'height="{self._height}" style="border: 1px solid #8884; border-radius: 6px" '
            'allow="clipboard-write; fullscreen"></iframe>'
        )


def explore(
    embeddings: Embedding | Mapping[str, Embedding],
    *,
    labels: Labels | None = None,
    graph: Graph | None = None,
    positions: Mapping[str, NDArray[np.float32]] | NDArray[np.float32] | None = None,
    columns: Mapping[str, pa.Array] | None = None,
    layout: Literal["tsne", "pca"] = "tsne",
    seed: int = 0,
    host: str = LOCAL,
    port: int = 0,
    height: int = 600,
    progress: ProgressOption = None,
) -> Explorer:
    """Explore an embedding in a cell of a notebook, or several side by side.

    As the last line of a cell, the page of `hopvec explore` is shown below it. The page is served
    by a thread of this process, until `stop` is called or the process ends. Its URL contains a
    random token: other users of this machine cannot open it.

    Parameters
    ----------
    embeddings : Embedding or mapping of str to Embedding
        The embedding to show, or up to three of the same nodes by name.
    labels : Labels, optional
        Colors nodes by class.
    graph : Graph, optional
        Shows the edges and the likely links of nodes.
    positions : array of float32, shape (n, 2), or mapping of str to such arrays, optional
        Positions of the nodes; computed by `layout` if they are not given.
    columns : dict of str to pyarrow.Array, optional
        Further columns that nodes can be colored by, with one value per row of the first
        embedding.
    layout : {"tsne", "pca"}, default="tsne"
        The layout algorithm.
    seed : int, default=0
        Random seed of the layout.
    host : str, default="127.0.0.1"
        Address to listen on. With another address, other machines can connect, with the token.
    port : int, default=0
        Port to listen on; 0 for any free port.
    height : int, default=600
        Height of the page in the notebook, in pixels.
    progress : bool or callable, optional
        Whether to show a progress bar of the layout; or a function, called with the number of steps
        done and their total.

    Returns
    -------
    Explorer
        The running explorer, with the attribute `url` and the method `stop`.

    Raises
    ------
    ParameterError
        If a parameter is invalid, or the server cannot listen on the host or port.
    MissingExtraError
        If the web extra is not installed.

    Examples
    --------
    >>> from hopvec import FastRP, Graph, view
    >>> graph = Graph.from_edges(["ann", "ann", "bob"], ["bob", "cem", "cem"])
    >>> explorer = view.explore(FastRP(dim=8).embed(graph), graph=graph, layout="pca")
    >>> explorer.stop()
    """
    require_extra()
    low, high = HEIGHTS
    if not low <= height <= high:
        raise ParameterError(f"explore: height must be from {low} to {high:,}, got {height}.")
    named = embeddings if isinstance(embeddings, Mapping) else {"embedding": embeddings}
    if positions is not None and not isinstance(positions, Mapping):
        positions = {next(iter(named), ""): positions}
    exploration = Exploration.from_embeddings(
        named,
        labels=labels,
        graph=graph,
        positions=positions,
        columns=columns,
        layout=layout,
        seed=seed,
        progress=callback(progress, "computing the layout"),
    )
    listener, ready = listening(host, port), Event()
    server, url = new_server(
        exploration,
        host,
        listener,
        required_token(True, host),
        framed=True,
        started=lambda url: ready.set(),
    )

    def run() -> None:
        with listener:
            server.run(sockets=[listener])

    thread = Thread(target=run, name="hopvec explorer", daemon=True)
    thread.start()
    while thread.is_alive() and not ready.wait(0.05):
        pass
    return Explorer(url, height, server, thread)
