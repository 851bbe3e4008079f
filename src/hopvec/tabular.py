"""Tabular: results that are tables, for pandas, polars, DuckDB and other libraries."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any

from hopvec.errors import MissingExtraError

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl
    import pyarrow as pa


class Tabular(ABC):
    """A result that is a table: `to_arrow`, `to_pandas`, `to_polars`, and any reader of Arrow."""

    @abstractmethod
    def _table_rows(self) -> list[dict[str, Any]]:
        """The rows of the table."""

    def to_arrow(self) -> pa.Table:
        """Return the result as an Arrow table.

        Returns
        -------
        pyarrow.Table
            One row per line of the table that `print` shows, with plain numbers.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old = FastRP(dim=8).embed(graph)
        >>> evaluate.movement(old, FastRP(dim=8).embed(graph, like=old)).to_arrow().column_names
        ['id', 'cosine']
        """
        import pyarrow as pa

        return pa.Table.from_pylist(self._table_rows())

    def to_pandas(self) -> pd.DataFrame:
        """Return the result as a pandas DataFrame.

        Returns
        -------
        pandas.DataFrame
            The table of `to_arrow`.

        Raises
        ------
        MissingExtraError
            If pandas is not installed.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old = FastRP(dim=8).embed(graph)
        >>> evaluate.movement(old, FastRP(dim=8).embed(graph, like=old)).to_pandas().shape
        (3, 2)
        """
        import_frames("pandas")
        return self.to_arrow().to_pandas()

    def to_polars(self) -> pl.DataFrame:
        """Return the result as a polars DataFrame.

        Returns
        -------
        polars.DataFrame
            The table of `to_arrow`.

        Raises
        ------
        MissingExtraError
            If polars is not installed.

        Examples
        --------
        >>> from hopvec import FastRP, Graph, evaluate
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> old = FastRP(dim=8).embed(graph)
        >>> evaluate.movement(old, FastRP(dim=8).embed(graph, like=old)).to_polars().shape
        (3, 2)
        """
        frame: pl.DataFrame = import_frames("polars").DataFrame(self.to_arrow())
        return frame

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The table as an Arrow stream."""
        return self.to_arrow().__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        return str(self)

    def _caption(self) -> str:
        """What a notebook shows before the table."""
        return ""

    def _repr_html_(self) -> str:
        """The result in a notebook: the table of `to_arrow`."""
        from hopvec.notebook import result_html

        return result_html(type(self).__name__, self._caption(), self.to_arrow())


def import_frames(name: str) -> Any:
    """Import pandas or polars; raise MissingExtraError if it is not installed."""
    from importlib import import_module

    try:
        return import_module(name)
    except ImportError as error:
        raise MissingExtraError(f"This needs {name}: pip install {name}.") from error
