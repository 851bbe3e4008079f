"""Reads graphs from files of any format, and writes edges.

read.py holds read_graph and the table of formats; options.py the ReadOptions record; build.py turns
edges or a matrix into a Graph within the memory limit. Each format is one module with the interface
`GraphFormat` of edges.py: text.py (with dialect.py, lines.py, whitespace.py and attributes.py),
columnar.py (with parquet_directory.py), numpy_archive.py, matlab.py, matrix_market.py, graphml.py,
gml.py and adjacency.py. input_file.py opens and decompresses files; nodes.py reads lists of ids and
links.py labeled pairs; write.py writes edges. To add a format, add a module and a line in read.py.
"""
