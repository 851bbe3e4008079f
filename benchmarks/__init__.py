"""Benchmarks of hopvec against its peers; run them with scripts/bench.

One file per part: core.py (in memory), methods.py (speed and quality), files.py (file to file),
scaling.py, limit.py (hardware limits), ablation.py and variants.cpp (parts of the hop), quality.py
(presets), new_nodes.py, relations.py, recommend.py, neighbors.py (exact search), approximate.py,
large.py and memory_limits.py (memory limits), growth.py (a million to a billion edges), build.py
and building.py (an older and this version of the builder), explorer.py (the explorer under load),
spark.py, and spark_options.py (every option on Spark). Each has a *_tables.py that renders its
results.

__main__.py             runs the parts
render.py               writes the pages and tables; plots.py draws the figures
processes.py            runs measurements in separate processes, reads and writes results
measure.py              one measurement of one tool
graphs.py               the graphs; edge_files.py writes the edge lists of files.py
peers/                  the other tools
environments.py         installs the peers, with the versions pinned in environments/
distribution_check.py   checks that tools do the same computation
exactness.py            errors against the formulas
fingerprint.py          checksums of vectors, to compare two versions of hopvec
score.py                scores vectors by labels and links
results/                the results of the last runs
"""
