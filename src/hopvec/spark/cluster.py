"""The workers of a cluster: their number, cores and memory."""

from __future__ import annotations

from dataclasses import dataclass

from pyspark.sql import SparkSession

from hopvec.machine import available_memory
from hopvec.spark.session import backend_of, free_memory, is_local


@dataclass(frozen=True)
class Cluster:
    """A cluster of identical workers.

    Parameters
    ----------
    workers : int
        The number of workers.
    cores : int
        The number of cores per worker.
    memory : int
        The bytes per worker that hopvec may use.
    price : float, optional
        The price of a worker per hour, in any currency.

    Examples
    --------
    >>> from hopvec.spark import Cluster
    >>> Cluster(workers=4, cores=8, memory=32 * 2**30, price=0.5)
    Cluster(workers=4, cores=8, memory=34359738368, price=0.5)
    """

    workers: int
    cores: int
    memory: int
    price: float | None = None

    @classmethod
    def from_session(cls, session: SparkSession, memory: int | None = None) -> Cluster:
        """Describe the current executors of a session.

        Parameters
        ----------
        session : SparkSession
            The session.
        memory : int, optional
            The bytes per worker that hopvec may use; by default what is free on them.

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
            memory = (
                available_memory() // workers if local else free_memory(session, workers * cores)
            )
        return cls(workers, cores, memory)
