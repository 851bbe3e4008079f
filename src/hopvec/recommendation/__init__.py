"""Recommendation of new links, and its evaluation.

recommend.py       the most likely new edges of nodes (`recommend`), scores of pairs (`score_pairs`)
candidates.py      which nodes may be recommended to a node
vector_scores.py   scores computed from vectors: cosine, dot, learned
path_scores.py     scores computed on the graph: common neighbors, Adamic-Adar, RP3-beta, popularity
evaluation.py      how well held-out edges are recommended (`evaluate_recommendation`)
"""
