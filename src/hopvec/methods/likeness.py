"""What two runs must share for their vectors to be comparable."""

from __future__ import annotations

from hopvec.embedding import Embedding
from hopvec.engine.frame import Frame
from hopvec.errors import ParameterError
from hopvec.methods.method import Method
from hopvec.methods.orders import FREE


def shared_frame(method: Method, like: Embedding) -> Frame:
    """The frame of an embedding, for a run that is to make comparable vectors.

    Raises ParameterError if it has none, or was made with other parameters.
    """
    name = type(method).__name__
    if like.frame is None:
        raise ParameterError(
            f"{name}: this embedding does not tell what comparable vectors must share. Embed its "
            "graph again by FastRP, and save it as .parquet, .arrow, .npy or .npz."
        )
    own = {"method": name, **method.plain_params()}
    for parameter, value in own.items():
        if parameter not in FREE and like.parameters.get(parameter) != value:
            raise ParameterError(
                f"{name}: {parameter} is {value!r}, and the embedding to be like was made with "
                f"{like.parameters.get(parameter)!r}. Comparable vectors have the same parameters."
            )
    return like.frame
