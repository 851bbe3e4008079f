"""The public names for type checkers; __init__.py imports them on first use."""

from hopvec import datasets as datasets
from hopvec import evaluate as evaluate
from hopvec import view as view
from hopvec.embedding import Embedding as Embedding
from hopvec.embedding import load as load
from hopvec.engine.plan import Plan as Plan
from hopvec.errors import DatasetError as DatasetError
from hopvec.errors import FormatError as FormatError
from hopvec.errors import GraphError as GraphError
from hopvec.errors import HopvecError as HopvecError
from hopvec.errors import MemoryLimitError as MemoryLimitError
from hopvec.errors import MissingExtraError as MissingExtraError
from hopvec.errors import ParameterError as ParameterError
from hopvec.errors import UnknownNodeError as UnknownNodeError
from hopvec.formats.graphs.options import ReadOptions as ReadOptions
from hopvec.formats.graphs.read import read_graph as read_graph
from hopvec.formats.graphs.sql import read_sql as read_sql
from hopvec.formats.labels.read import read_labels as read_labels
from hopvec.graph import Graph as Graph
from hopvec.labels import Labels as Labels
from hopvec.methods import LINE as LINE
from hopvec.methods import DeepWalk as DeepWalk
from hopvec.methods import FastRP as FastRP
from hopvec.methods import GraRep as GraRep
from hopvec.methods import NetMF as NetMF
from hopvec.methods import Node2Vec as Node2Vec
from hopvec.methods import RandNE as RandNE
from hopvec.methods.estimate import Estimate as Estimate
from hopvec.methods.estimate import estimate as estimate
from hopvec.recommendation.recommend import recommend as recommend
from hopvec.recommendation.recommend import score_pairs as score_pairs
from hopvec.snapshots import Snapshots as Snapshots
from hopvec.snapshots import embed_snapshots as embed_snapshots
from hopvec.tuning import Tuning as Tuning
from hopvec.tuning import tune as tune

__version__: str
