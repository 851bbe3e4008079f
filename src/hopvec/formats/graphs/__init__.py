"""Files -> graphs. A new format is one file here and one line in the table of read.py."""
