"""A small property graph in the formats that Neo4j reads and writes.

The files of `write_import_files` are those of neo4j-admin database import; that of
`write_apoc_file` is what apoc.export.csv.all writes by default: everything in quotes, with nodes
first, and empty cells for the columns of the other kind.
"""

from pathlib import Path

MOVIES = """\
movieId:ID(Movie-ID),title,year:int,:LABEL
1,"The Matrix",1999,Movie
2,"The Matrix Reloaded",2003,Movie;Sequel
3,"The Matrix Revolutions",2003,Movie;Sequel
4,"Speed, or the Bus",1994,Movie
"""
ACTORS = """\
personId:ID(Actor-ID),name,:LABEL
1,"Keanu Reeves",Actor
2,"Laurence Fishburne",Actor
3,"Carrie-Anne Moss",Actor
4,"Sandra Bullock",Actor
5,"Nobody Yet",Actor
"""
ROLES = """\
:START_ID(Actor-ID),role,:END_ID(Movie-ID),:TYPE
1,"Neo",1,ACTED_IN
1,"Neo",2,ACTED_IN
1,"Neo",3,ACTED_IN
2,"Morpheus",1,ACTED_IN
2,"Morpheus",2,ACTED_IN
3,"Trinity",1,ACTED_IN
3,"Trinity",3,ACTED_IN
1,"Jack",4,ACTED_IN
4,"Annie",4,ACTED_IN
"""
KNOWS = """\
:START_ID(Actor-ID),:END_ID(Actor-ID),since:int
1,4,1993
2,3,1998
"""
APOC = """\
"_id","_labels","born","name","released","title","_start","_end","_type","roles","weight"
"0",":Movie","","","1999","The Matrix",,,,,
"1",":Person:Actor","1964","Keanu Reeves","","",,,,,
"2",":Person","1967","Carrie-Anne Moss","","",,,,,
"3",":Person","1961","Laurence Fishburne","","",,,,,
"9",":Person","1952","Nobody Yet","","",,,,,
,,,,,,"1","0","ACTED_IN","[""Neo""]","2"
,,,,,,"2","0","ACTED_IN","[""Trinity""]","1"
,,,,,,"3","2","KNOWS","","1"
"""


def write_import_files(directory):
    """Write the files for neo4j-admin: nodes.csv files and relationships."""
    for name, text in {
        "movies.csv": MOVIES,
        "actors.csv": ACTORS,
        "roles.csv": ROLES,
        "knows.csv": KNOWS,
    }.items():
        Path(directory, name).write_text(text, encoding="utf-8")


def write_apoc_file(directory):
    """Write the whole graph as APOC does."""
    Path(directory, "graph.csv").write_text(APOC, encoding="utf-8")
