"""Evaluation of embeddings.

classification.py     predict the labels of nodes (`classify`)
held_out.py           split the edges of a graph (`hold_out`, `read_links`)
link_prediction.py    predict held-out edges (`predict_links`)
reconstruction.py     compare the most similar pairs with the edges (`reconstruct`)
neighborhoods.py      list nearest neighbors side by side (`neighbors`)
movement.py           compare two snapshots (`movement`)

`evaluate_recommendation` is in hopvec.recommendation.

pairs.py              edges and random non-edges (negatives); hashing.py makes them reproducible
ranking.py            the metrics of rankings
logistic.py           logistic regression of all classes at once; one_vs_rest.py trains and scores
"""

from typing import TYPE_CHECKING

from hopvec.evaluate.classification import Classification as Classification
from hopvec.evaluate.classification import ClassificationComparison as ClassificationComparison
from hopvec.evaluate.classification import ClassificationProtocol as ClassificationProtocol
from hopvec.evaluate.classification import ShareScores as ShareScores
from hopvec.evaluate.classification import Shuffle as Shuffle
from hopvec.evaluate.classification import classify as classify
from hopvec.evaluate.held_out import HeldOut as HeldOut
from hopvec.evaluate.held_out import hold_out as hold_out
from hopvec.evaluate.held_out import read_links as read_links
from hopvec.evaluate.link_prediction import HadamardRegression as HadamardRegression
from hopvec.evaluate.link_prediction import LinkPrediction as LinkPrediction
from hopvec.evaluate.link_prediction import LinkScores as LinkScores
from hopvec.evaluate.link_prediction import predict_links as predict_links
from hopvec.evaluate.movement import Movement as Movement
from hopvec.evaluate.movement import movement as movement
from hopvec.evaluate.neighborhoods import Neighborhoods as Neighborhoods
from hopvec.evaluate.neighborhoods import neighbors as neighbors
from hopvec.evaluate.reconstruction import Reconstruction as Reconstruction
from hopvec.evaluate.reconstruction import reconstruct as reconstruct

if TYPE_CHECKING:
    from hopvec.recommendation.evaluation import RankingScores as RankingScores
    from hopvec.recommendation.evaluation import Recommendation as Recommendation
    from hopvec.recommendation.evaluation import evaluate_recommendation as evaluate_recommendation

__all__ = [
    "Classification",
    "ClassificationComparison",
    "ClassificationProtocol",
    "HadamardRegression",
    "HeldOut",
    "LinkPrediction",
    "LinkScores",
    "Movement",
    "Neighborhoods",
    "RankingScores",
    "Recommendation",
    "Reconstruction",
    "ShareScores",
    "Shuffle",
    "classify",
    "evaluate_recommendation",
    "hold_out",
    "movement",
    "neighbors",
    "predict_links",
    "read_links",
    "reconstruct",
]

_RECOMMENDATION = ("RankingScores", "Recommendation", "evaluate_recommendation")


def __getattr__(name: str) -> object:
    """Import what hopvec.recommendation adds, which itself depends on this package."""
    if name not in _RECOMMENDATION:
        raise AttributeError(f"module 'hopvec.evaluate' has no attribute {name!r}")
    from hopvec.recommendation import evaluation

    return getattr(evaluation, name)


def __dir__() -> list[str]:
    return sorted(__all__)
