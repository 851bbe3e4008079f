"""The workers of a cluster: their number, cores and memory."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral

from pyspark.sql import SparkSession

from hopvec.errors import ParameterError
from hopvec.machine import available_memory, memory_limit
from hopvec.spark.session import backend_of, free_memory, is_local


@dataclass(frozen=True, init=False)
class Cluster:
    """A cluster of identical workers.

    Parameters
    ----------
    workers : int
        The number of workers.
    cores : int
        The number of cores per worker.
    memory : str or number
        The memory per worker that hopvec may use, such as "54GB" or a number of bytes. It is stored
        in bytes.
    price : float, optional
        The price of a worker per hour, in any currency.

    Raises
    ------
    ParameterError
        If a value is invalid.

    Examples
    --------
    >>> from hopvec.spark import Cluster
    >>> Cluster(workers=4, cores=8, memory="32GiB", price=0.5)
    Cluster(workers=4, cores=8, memory=34359738368, price=0.5)
    """

    workers: int
    cores: int
    memory: int
    price: float | None

    def __init__(
        self, workers: int, cores: int, memory: str | float, price: float | None = None
    ) -> None:
        for name, number in (("workers", workers), ("cores", cores)):
            if not isinstance(number, Integral) or isinstance(number, bool) or number < 1:
                raise ParameterError(
                    f"Cluster: {name} must be an integer of at least 1, got {number!r}."
                )
        bytes_ = memory_limit(memory)
        if bytes_ is None:
            raise ParameterError("Cluster: memory must be a size such as '54GB', got None.")
        if price is not None and not price >= 0:
            raise ParameterError(f"Cluster: price must be at least 0, or be None, got {price!r}.")
        values = {"workers": int(workers), "cores": int(cores), "memory": bytes_, "price": price}
        for name, value in values.items():
            object.__setattr__(self, name, value)  # the class is frozen

    @classmethod
    def from_session(cls, session: SparkSession, memory: str | float | None = None) -> Cluster:
        """Describe the current executors of a session.

        Parameters
        ----------
        session : SparkSession
            The session.
        memory : str or number, optional
            The memory per worker that hopvec may use; by default what is free on them.

        Returns
        -------
        Cluster
            The workers, their cores and their memory.

        Examples
        --------
        >>> from hopvec.spark import Cluster  # doctest: +SKIP
        >>> Cluster.from_session(session)  # doctest: +SKIP
        """
        backend = backend_of(session)
        workers, cores = backend.workers()
        if memory is None:
            local = is_local(backend.master)
            free = available_memory() // workers if local else free_memory(session, workers * cores)
            memory = max(1, free)
        return cls(workers, cores, memory)
