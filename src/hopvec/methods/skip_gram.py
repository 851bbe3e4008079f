"""Skip-gram: vectors that predict which nodes are close in random walks, by gensim."""

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

Loss = Literal["negative-sampling", "hierarchical-softmax"]

BATCH = 10_000  # nodes per call of gensim, which ignores any more
BATCHES = 64  # per block of walks and worker
VOCABULARY = {"negative-sampling": 240, "hierarchical-softmax": 900}  # measured bytes per node
MAX_TRIAL_SECONDS = 2.0  # of training


@dataclass(frozen=True)
class SkipGram:
    """Settings of skip-gram, whose sentences are walks and whose words are nodes.

    Walks are never all in memory. They are generated twice, block by block: first to count how
    often each node occurs, which determines negative samples or the Huffman tree; then to train on
    them, which takes far longer. No node is dropped for being rare or frequent.
    """

    owner: str
    dim: int
    window: int
    loss: Loss
    negatives: int
    epochs: int
    learning_rate: float
    workers: int
    seed: int

    def train(
        self, walks: Walks, progress: Progress
    ) -> tuple[NDArray[np.int64], NDArray[np.float32]]:
        """Return the nodes that occur in the walks, ascending, and their vectors.

        `progress` counts blocks of walks whose nodes are counted, then batches trained on. With one
        worker, the same walks and seed give the same bytes.
        """
        self._check_gensim()
        batch, block = self._sizes(walks)
        parts = itertools.count(1)
        total = walks.rounds * (-(-walks.starts // block) + self.epochs * -(-walks.starts // batch))

        def done(*_: object) -> None:
            progress(next(parts), total)

        counts = np.zeros(walks.graph.nodes + 1, np.int64)  # the last is for -1, padding
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
        """The time of `train`, from a block of walks and a few seconds of training on it."""
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
            if ended - ready > MAX_TRIAL_SECONDS:
                break
        walking = (walked - start) / len(some)
        training = (ended - ready) / min(len(some), number * batch) / min(self.workers, cores())
        each = (1 + self.epochs) * walking + self.epochs * training
        return ready - walked + len(walks) * each

    def working_bytes(self, nodes: int) -> int:
        """The memory of training, besides the graph and the resulting vectors."""
        return nodes * (4 * self.dim + VOCABULARY[self.loss]) + 4 * BATCH * BATCHES * self.workers

    def _check_gensim(self) -> None:
        try:
            import gensim  # noqa: F401
        except ImportError as error:
            raise MissingExtraError(
                f"{self.owner} needs the baselines extra: pip install 'hopvec[baselines]'."
            ) from error

    def _sizes(self, walks: Walks) -> tuple[int, int]:
        """The number of walks per batch and per block."""
        batch = max(1, BATCH // walks.length)
        return batch, batch * BATCHES * self.workers

    def _model(self, counts: NDArray[np.int64]) -> Word2Vec:
        """An untrained model whose words are the nodes that occur, in ascending order."""
        from gensim.models import Word2Vec

        sampled = self.loss == "negative-sampling"
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
        """The batches of a block, which follows `trained` walks."""
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
    """Train once on walks of up to BATCH nodes at this learning rate; skip -1.

    gensim's own `train` would start threads that survive Ctrl-C. This is the function that they
    call; it releases the GIL while it trains.
    """
    from gensim.models.word2vec_inner import train_batch_sg

    if len(model.wv) == 1:  # nothing to predict, and gensim cannot build a tree of one
        return
    work = np.zeros(model.vector_size, np.float32)
    train_batch_sg(model, walks.tolist(), rate, work, False)
