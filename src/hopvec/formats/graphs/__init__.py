"""Reads graphs from files of any format, and writes edges.

read.py             read_graph and the table of formats; a new format is a module and a line there
options.py          ReadOptions: everything a caller can say about a file
input_file.py       InputFile: opens and decompresses files
edges.py            EdgeStream, Matrix and the interface of a format
build.py            from edges or a matrix to a Graph, within the memory limit
text.py             CSV, TSV and other text
dialect.py          detects separator, header and comments of text
lines.py            lines of text in blocks, with their numbers
whitespace.py       columns aligned by whitespace
attributes.py       edge attributes as networkx writes them
columnar.py         edges in Parquet and Arrow; parquet_directory.py for directories
read_ahead.py       decodes the next batches on a thread
table_file.py       other tables in Parquet and Arrow: nodes, labels, features
numpy_archive.py    .npz
matlab.py           .mat; matlab5.py reads the file format
declared_nodes.py   nodes that exist only because a file declares their number
bad_rows.py         rows that are skipped, and counted by reason
relation_files.py   edges in several files, one per relation
sql.py              read_sql: edges from a database
matrix_market.py, graphml.py, gml.py, adjacency.py: other formats
nodes.py            lists of node ids and their types
listed_nodes.py     adds lists of nodes to a graph; the types of all nodes
node_rows.py        rows and labels of nodes in files of Neo4j
links.py            labeled pairs of nodes
write.py            writes edges
"""
