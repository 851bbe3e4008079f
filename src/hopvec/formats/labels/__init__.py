"""Reads labels of nodes.

matrices.py   the matrix `group` of .mat files and the array `label` of .npz files
read.py       read_labels and the table of formats
tables.py     text, Parquet, Arrow, and lines of a node and its labels
"""
