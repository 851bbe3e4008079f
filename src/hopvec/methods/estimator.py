"""Estimator: what scikit-learn expects of a transformer besides parameters, fit and transform."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from hopvec.embedding import Embedding
from hopvec.errors import ParameterError
from hopvec.tabular import import_frames

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.utils import Tags

OUTPUTS = ("default", "pandas", "polars")


class Estimator:
    """The names of output columns, data frames as output, and the tags of scikit-learn.

    scikit-learn itself is only imported where it is the caller.
    """

    embedding_: Embedding
    n_features_in_: int
    _sklearn_output_config: dict[str, str]  # the name that sklearn.base.clone copies

    @property
    def feature_names_in_(self) -> NDArray[np.object_]:
        """The ids of the nodes, if they are strings; the columns of the adjacency matrix."""
        fitted = self.__sklearn_is_fitted__()
        if not fitted or not pa.types.is_large_string(self.embedding_.ids.type):
            raise AttributeError("feature_names_in_ exists once a graph with string ids is fitted.")
        return np.array(self.embedding_.ids.to_pylist(), dtype=object)

    def get_feature_names_out(self, input_features: Any = None) -> NDArray[np.object_]:
        """Return the names of the output columns, as scikit-learn does.

        Parameters
        ----------
        input_features : array-like of str, optional
            The names of the columns of the adjacency matrix. They are only checked.

        Returns
        -------
        ndarray of str objects
            The name of the class in lower case, and a number: "fastrp0", "fastrp1", ...

        Raises
        ------
        ParameterError
            If `input_features` are not those of the fitted graph.

        Examples
        --------
        >>> from hopvec import FastRP
        >>> FastRP(dim=2).fit([[0, 1, 1], [1, 0, 1], [1, 1, 0]]).get_feature_names_out()
        array(['fastrp0', 'fastrp1'], dtype=object)
        """
        if not self.__sklearn_is_fitted__():
            raise self._not_fitted()
        if input_features is not None:
            self._check_input_features(np.asarray(input_features, dtype=object))
        prefix = type(self).__name__.lower()
        return np.array([f"{prefix}{at}" for at in range(self.embedding_.dim)], dtype=object)

    def _check_input_features(self, names: NDArray[np.object_]) -> None:
        """Raise ParameterError, with the messages of scikit-learn, for names of another graph."""
        fitted = getattr(self, "feature_names_in_", None)
        if fitted is not None and not np.array_equal(names, fitted):
            raise ParameterError("input_features is not equal to feature_names_in_")
        if len(names) != self.n_features_in_:
            raise ParameterError(
                "input_features should have length equal to number of features "
                f"({self.n_features_in_}), got {len(names)}"
            )

    def set_output(
        self, *, transform: Literal["default", "pandas", "polars"] | None = None
    ) -> Self:
        """Choose what `fit_transform` and `transform` return, as scikit-learn does.

        Without a choice, `sklearn.set_config(transform_output=...)` applies.

        Parameters
        ----------
        transform : {"default", "pandas", "polars"}, optional
            "default" is a numpy array, "pandas" a DataFrame whose index holds the ids of the nodes,
            and "polars" a DataFrame. None changes nothing.

        Returns
        -------
        self
            The method itself.

        Raises
        ------
        ParameterError
            If there is no such output.

        Examples
        --------
        >>> from hopvec import FastRP, Graph
        >>> graph = Graph.from_edges(["a", "a", "b"], ["b", "c", "c"])
        >>> FastRP(dim=2).set_output(transform="pandas").fit_transform(graph).index.to_list()
        ['a', 'b', 'c']
        """
        if transform is not None:
            _check_output(transform, "set_output(transform=...)")
            self._sklearn_output_config = {"transform": transform}
        return self

    def _output(self, embedding: Embedding, X: Any) -> Any:  # noqa: N803
        """The vectors as set_output, or else the configuration of scikit-learn, requests them."""
        output = getattr(self, "_sklearn_output_config", {}).get("transform")
        if output is None and (sklearn := sys.modules.get("sklearn")):
            output = _check_output(sklearn.get_config()["transform_output"], "transform_output")
        if output == "pandas":
            frame = embedding.to_pandas().set_axis(self.get_feature_names_out(), axis=1)
            return frame.set_axis(_shortest_index(frame.index, X), axis=0)
        if output == "polars":
            table = embedding.to_polars().drop("id")
            table.columns = self.get_feature_names_out().tolist()
            return table
        return embedding.vectors

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "embedding_")

    def __sklearn_tags__(self) -> Tags:
        from sklearn.utils import InputTags, Tags, TargetTags, TransformerTags

        return Tags(
            estimator_type=None,
            target_tags=TargetTags(required=False),
            transformer_tags=TransformerTags(preserves_dtype=[]),
            input_tags=InputTags(sparse=True, pairwise=True, positive_only=True),
        )

    def _not_fitted(self) -> Exception:
        message = f"{type(self).__name__} is not fitted yet: call fit first."
        try:
            from sklearn.exceptions import NotFittedError
        except ImportError:
            return ParameterError(message)
        error: Exception = NotFittedError(message)
        return error


def _check_output(output: str, name: str) -> str:
    if output not in OUTPUTS:
        shown = " or ".join(map(repr, OUTPUTS))
        raise ParameterError(f"{name} must be {shown}, got {output!r}.")
    return output


def _shortest_index(ids: pd.Index, X: Any) -> pd.Index:  # noqa: N803
    """The index of X if it holds the ids, or 0 to n-1 if it does: other steps have the same."""
    rows = import_frames("pandas").RangeIndex(len(ids))
    return next((index for index in (getattr(X, "index", None), rows) if ids.equals(index)), ids)
