"""Skip-gram: vectors that tell which nodes are near each other in random walks, by gensim."""

from __future__ import annotations

import itertools
import time
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from numpy.typing import NDArray

from hopvec._native import Stop
from hopvec.engine.walks import Walks
from hopvec.errors import MissingExtraError
from hopvec.machine import cores, run_all
from hopvec.progress import Progress

if TYPE_CHECKING:
    from gensim.models import Word2Vec

Objective = Literal["negative-sampling", "hierarchical-softmax"]

BATCH = 10_000  # nodes in one call of gensim, which would leave out what is beyond
BATCHES = 64  # of a block of walks, for each worker
VOCABULARY = {"negative-sampling": 240, "hierarchical-softmax": 900}  # bytes a node, as measured
TRIAL = 2.0  # seconds of training after which a trial ends


@dataclass(frozen=True)
class SkipGram:
    """How skip-gram is trained: walks are its sentences, nodes its words.

    Walks are never all in memory. They are made twice, a block at a time: first to count how often
    each node occurs, of which negative samples or the Huffman tree are made; then to train on them,
    which takes far longer than making them. No node is left out for being rare or frequent.
    """

    owner: str
    dim: int
    window: int
    objective: Objective
    negatives: int
    epochs: int
    learning_rate: float
    workers: int
    seed: int

    def train(
        self, walks: Walks, progress: Progress
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """The nodes that occur in the walks, ascending, and the vector of each.

        `progress` counts blocks of walks whose nodes were counted, then batches trained on. With
        one worker, the same walks and seed give the same bytes.
        """
        self._check_gensim()
        batch, block = self._sizes(walks)
        parts = itertools.count(1)
        of = walks.rounds * (-(-walks.starts // block) + self.epochs * -(-walks.starts // batch))

        def done(*_: object) -> None:
            progress(next(parts), of)

        counts = np.zeros(walks.graph.nodes + 1, np.int64)  # the last is for -1, which is no node
        for some in walks.blocks(block):
            np.add.at(counts, some, 1)
            done()
        if not walks:
            return np.empty(0, np.int64), np.empty((0, self.dim), np.float32)
        model, trained = self._model(counts[:-1]), 0
        for some in itertools.chain.from_iterable(walks.blocks(block) for _ in range(self.epochs)):
            run_all(self._tasks(model, walks, some, trained), max_workers=self.workers, done=done)
            trained += len(some)
        return np.flatnonzero(counts[:-1]), model.wv.vectors

    def estimate_seconds(self, walks: Walks, progress: Progress) -> float:
        """The time of `train`, from a block of walks and some seconds of training on it."""
        self._check_gensim()
        if not walks:
            return 0.0
        batch, block = self._sizes(walks)
        start = time.perf_counter()
        some = next(walks.blocks(block))
        walked = time.perf_counter()
        counts = np.zeros(walks.graph.nodes + 1, np.int64)
        counts[: walks.starts] = 1
        np.add.at(counts, some, 1)
        model = self._model(counts[:-1])
        tasks = self._tasks(model, walks, some, 0)
        ready = time.perf_counter()
        for number, task in enumerate(tasks, start=1):
            run_all([task])
            ended = time.perf_counter()
            progress(number, len(tasks))
            if ended - ready > TRIAL:
                break
        walking = (walked - start) / len(some)
        training = (ended - ready) / min(len(some), number * batch) / min(self.workers, cores())
        each = (1 + self.epochs) * walking + self.epochs * training
        return ready - walked + len(walks) * each

    def working_bytes(self, nodes: int) -> int:
        """The memory of a training beside the walks' graph and the vectors that come of it."""
        return (
            nodes * (4 * self.dim + VOCABULARY[self.objective]) + 4 * BATCH * BATCHES * self.workers
        )

    def _check_gensim(self) -> None:
        try:
            import gensim  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                f"{self.owner} needs the baselines extra: pip install 'hopvec[baselines]'."
            ) from error

    def _sizes(self, walks: Walks) -> tuple[int, int]:
        """The walks of a batch and of a block."""
        batch = max(1, BATCH // walks.length)
        return batch, batch * BATCHES * self.workers

    def _model(self, counts: NDArray[np.int64]) -> Word2Vec:
        """An untrained model, whose words are the nodes that occur, in ascending order."""
        from gensim.models import Word2Vec

        sampled = self.objective == "negative-sampling"
        model = Word2Vec(
            vector_size=self.dim,
            window=self.window,
            sg=1,
            hs=0 if sampled else 1,
            negative=self.negatives if sampled else 0,
            min_count=1,
            sample=0,
            sorted_vocab=0,
            seed=int(np.random.SeedSequence(self.seed).generate_state(1)[0]),
        )
        nodes = np.flatnonzero(counts)
        model.build_vocab_from_freq(dict(zip(nodes.tolist(), counts[nodes].tolist(), strict=True)))
        return model

    def _tasks(
        self, model: Word2Vec, walks: Walks, some: NDArray[np.int32], trained: int
    ) -> list[partial[None]]:
        """The batches of a block; `trained` walks come before it."""
        batch, _ = self._sizes(walks)
        return [
            partial(
                train_batch,
                model,
                some[first : first + batch],
                self.learning_rate * (1 - (trained + first) / (self.epochs * len(walks))),
            )
            for first in range(0, len(some), batch)
        ]


def train_batch(model: Word2Vec, walks: NDArray[np.int32], rate: float, stop: Stop) -> None:
    """One pass over up to BATCH nodes of walks at this learning rate; -1 is passed over.

    gensim's own `train` would start threads that Ctrl-C leaves behind. This is what they call; it
    lets other threads run while it trains.
    """
    from gensim.models.word2vec_inner import train_batch_sg

    if len(model.wv) == 1:  # nothing to tell it from, and gensim has no tree of one
        return
    room = np.zeros(model.vector_size, np.float32)
    train_batch_sg(model, walks.tolist(), rate, room, False)
