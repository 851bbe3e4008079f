"""How good vectors are: node classification, and neighbours side by side."""

from hopvec.evaluate.classification import Classification as Classification
from hopvec.evaluate.classification import ShareScores as ShareScores
from hopvec.evaluate.classification import Shuffle as Shuffle
from hopvec.evaluate.classification import classify as classify
