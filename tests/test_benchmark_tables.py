"""Tables of the benchmarks, from made-up results; and whether published tables are up to date."""

import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
if not (ROOT / "benchmarks").is_dir():
    pytest.skip("the benchmarks are not part of this distribution", allow_module_level=True)
sys.path.append(str(ROOT))

from benchmarks import (  # noqa: E402
    methods,
    methods_tables,
    neighbors_tables,
    recommend_tables,
    relations_tables,
    render,
)
from benchmarks.methods_tables import difference, lost, verdicts  # noqa: E402


def times(seconds):
    return {"median": seconds, "min": seconds, "max": seconds}


def result(seconds, f1, uniform, degree, spread=0.0, seeds=3):
    """A made-up result whose scores deviate by `spread` from their mean, over three seeds."""
    offsets = (0.0, -spread, spread)[:seeds]
    links = {
        sampling: {
            "operator": "cosine",
            "auc": [auc + offset / 100 for offset in offsets],
            "average_precision": [auc] * seeds,
            "degree_alone": [alone] * seeds,
        }
        for sampling, auc, alone in (("uniform", uniform, 0.9512), ("degree", degree, 0.5))
    }
    f1s = [[f1 + offset] * 10 for offset in offsets]
    return {
        "wall_seconds": times(seconds),
        "cpu_seconds": times(seconds),
        "peak_rss": times(1e8),
        "ratio": {"wall_seconds": seconds, "cpu_seconds": seconds},
        "seeds": seeds,
        "labels": {"macro_f1": f1s, "micro_f1": f1s},
        "links": links,
    }


def results(**tools):
    named = {name.replace("_", "-"): found for name, found in tools.items()}
    return {
        "machine": {
            **{"date": "today", "processor": "a CPU", "cores": 2, "caches": {}},
            **{"memory": "1 GB", "python": "3.11", "packages": {}},
        },
        "protocol": {
            **{"dim": 128, "share": 0.1, "held_out": 0.2, "seeds": 3, "seed_seconds": 60},
            **{"walked_nodes": 12_000, "dense_nodes": 20_000},
        },
        "graphs": {"cora": {"nodes": 2708, "edges": 5278, "shuffles": 10, "tools": named}},
    }


OURS = {
    "hopvec": result(1, 70, 0.90, 0.80),
    "hopvec_best": result(5, 75, 0.85, 0.85),
    "hopvec_links": result(5, 60, 0.95, 0.90),
}


def reasons(**peer):
    found = results(**OURS, prone=result(**peer))["graphs"]["cora"]["tools"]
    return lost(found, found["prone"])


class TestVerdict:
    def test_one_preset_may_win_labels_and_another_links(self):
        assert reasons(seconds=9, f1=74, uniform=0.94, degree=0.89) == []

    def test_a_slower_preset_does_not_count(self):
        assert reasons(seconds=3, f1=74, uniform=0.94, degree=0.7) == [
            "labels 74.0 (`balanced`: 70.0)",
            "links, uniform negatives 94.0 (`balanced`: 90.0)",
        ]
        assert reasons(seconds=0.5, f1=1, uniform=0.5, degree=0.5) == ["no preset is faster"]

    def test_one_preset_must_win_both_kinds_of_negatives(self):
        without_links = {name: found for name, found in OURS.items() if name != "hopvec_links"}
        peer = result(seconds=9, f1=1, uniform=0.89, degree=0.84)
        tools = results(**without_links, prone=peer)["graphs"]["cora"]["tools"]
        assert lost(tools, peer) == ["links, uniform negatives 89.0 (`best`: 85.0)"]

    def test_a_difference_within_one_standard_error_is_no_loss(self):
        better = {"seconds": 9, "f1": 75.4, "uniform": 0.5, "degree": 0.5}
        assert reasons(**better) == ["labels 75.4 (`best`: 75.0)"]
        assert reasons(**better, spread=1.0) == []

    def test_any_preset_may_be_the_faster_one(self):
        tools = {"hopvec-fast": result(1, 99, 0.99, 0.99), "prone": result(2, 1, 0.5, 0.5)}
        assert lost(tools, tools["prone"]) == []
        tools["prone"] = result(0.5, 1, 0.5, 0.5)
        assert lost(tools, tools["prone"]) == ["no preset is faster"]

    def test_a_failed_preset_does_not_count_and_a_failed_peer_is_not_listed(self):
        tools = {"hopvec-links": {"error": "over 900 s"}, "hopvec": OURS["hopvec"]}
        tools |= {"prone": result(2, 1, 0.5, 0.5), "grape": {"error": "exit code 1: no"}}
        text = verdicts(results(**{name.replace("-", "_"): f for name, f in tools.items()}))
        assert "Yes for 1 of 1 pairs" in text
        assert "| nodevectors ProNE | yes |" in text
        assert "There are no exceptions." in text
        assert "GRAPE" not in text

    def test_the_page_has_a_table_and_the_exceptions(self):
        text = verdicts(
            results(**OURS, prone=result(9, 99, 0.5, 0.5), fastrp=result(9, 1, 0.5, 0.5))
        )
        assert "Yes for 1 of 2 pairs" in text
        assert "| nodevectors ProNE | **no** |" in text
        assert "| PyPI fastrp | yes |" in text
        assert "- nodevectors ProNE on Cora: labels 99.0 (`best`: 75.0)" in text


class TestDifference:
    def test_it_is_paired_by_seed_and_shuffle(self):
        own = [[50.0, 60.0, 70.0], [51.0, 61.0, 71.0]]
        found = difference(own, [[value - 2 for value in row] for row in own])
        assert found.mean == pytest.approx(2)
        assert found.standard_error == pytest.approx(0)

    def test_only_common_seeds_count(self):
        assert difference([[1.0], [9.0]], [[2.0]]).mean == -1
        assert difference([[1.0], [9.0]], [[2.0]]).standard_error == 0


class TestPage:
    def test_every_table_has_both_kinds_of_negatives_and_degree_alone(self):
        slow = result(100, 40, 0.7, 0.6, seeds=1)
        section = methods_tables.section(results(**OURS, deepwalk=slow))
        lines = section.splitlines()
        header = next(line for line in lines if line.startswith("|  | wall, hopvec = 1"))
        assert "links, uniform, AUC, % | links, degree, AUC, % | seeds |" in header
        (degrees,) = [line for line in lines if line.startswith("| degree alone")]
        assert degrees.endswith("| 95.1 ± 0.0 | 50.0 ± 0.0 | 3 |")
        (walks,) = [line for line in lines if line.startswith("| gensim DeepWalk | 100")]
        assert walks.endswith("| 70.0 | 60.0 | 1 |")
        assert "2,708 nodes, 5,278 edges, 10 shuffles" in section
        assert len({line.count("|") for line in (header, degrees, walks)}) == 1

    def test_the_readme_has_time_f1_and_auc_of_each_graph(self):
        found = results(**OURS)
        found["graphs"]["blogcatalog"] = found["graphs"]["cora"]
        lines = methods_tables.readme_block(found).splitlines()
        assert lines[0] == "|  | BlogCatalog: time | F1 | AUC | Cora: time | F1 | AUC |"
        assert lines[2] == "| **hopvec** (default) | 1.0 | 70.0 | 80.0 | 1.0 | 70.0 | 80.0 |"
        assert "| node2vec (PecanPy) |  |  |  |  |  |  |" in lines

    def test_failures_are_listed(self):
        broken = {**OURS["hopvec"], "links_error": "a vector contains NaN"}
        text = methods_tables.failures(results(hopvec=broken, grape={"error": "over 900 s"}))
        assert "- hopvec on Cora: a vector contains NaN" in text
        assert "- GRAPE on Cora: over 900 s" in text


class TestRuns:
    def test_tools_that_need_too_much_are_skipped_on_large_graphs(self):
        assert methods.tools_for(3_000) == list(methods.TOOLS)
        large, larger = methods.tools_for(15_000), methods.tools_for(30_000)
        assert "deepwalk" not in large
        assert "netmf" in large
        assert "netmf" not in larger
        assert {"hopvec", "hopvec-links", "prone"} <= set(larger)

    @pytest.mark.parametrize(("seconds", "runs"), [(1, 3), (19, 3), (25, 2), (40, 1), (100, 1)])
    def test_seeds_are_limited_by_their_time_together(self, seconds, runs):
        found = methods.run_interleaved(
            ["tool"], 3, lambda tool: {"wall_seconds": seconds}, methods.is_slow
        )
        assert len(found["tool"]) == runs


def recommended(**recalls):
    """Made-up results on one graph: the recall of each way to recommend, by "vectors; score"."""
    scores = {}
    for way, recall in recalls.items():
        vectors, score = way.split("; ")
        values = {f"{metric}@20": [recall - 0.01, recall, recall + 0.01] for metric in METRICS}
        scores.setdefault(vectors, {})[score] = values
    sizes = {"nodes": 100, "edges": 300, "tested": 50, "candidates": 90, "held_out_popularity": 7}
    return {**sizes, "bipartite": False, "scores": scores}


METRICS = [*recommend_tables.METRICS, "coverage", "popularity"]


class TestRecommend:
    RESULTS = {  # noqa: RUF012
        "machine": results()["machine"],
        "protocol": {"dim": 256, "seeds": 3, "sample": 2000, "popularity": 0.1},
        "graphs": {
            "dblp": recommended(**{"links; cosine": 0.2, "; rp3beta": 0.4, "; adamic-adar": 0.1}),
            "wikispeedia": recommended(
                **{"links; cosine": 0.4, "; rp3beta": 0.1, "; adamic-adar": 0.2}
            ),
        },
    }

    def test_vectors_are_compared_with_the_best_baseline_of_each_graph(self):
        lines = recommend_tables.summary(self.RESULTS).splitlines()
        assert "| `links`; cosine | 20.0 ± 1.0 | **40.0 ± 1.0** | 1.00 |" in lines
        assert "| RP3-beta | **40.0 ± 1.0** | 10.0 ± 1.0 | 0.71 |" in lines

    def test_a_sentence_per_graph_names_the_best(self):
        first, second = recommend_tables.sentences(self.RESULTS).splitlines()
        assert "RP3-beta is best (40.0 %); the best vectors: `links` by cosine (20.0 %)." in first
        assert "`links` by cosine is best (40.0 %); the best baseline: Adamic-Adar (2" in second

    def test_every_graph_has_a_table_of_all_metrics(self):
        section = recommend_tables.section(self.RESULTS)
        assert "### DBLP: 100 nodes, 300 edges" in section
        assert section.count("hit rate, % | recall, % | NDCG, % | MRR, % | coverage, %") == 2


def test_relations_are_compared_with_the_graph_without_them():
    def setting(f1, **found):
        return {**found, "edges": 300, "macro_f1": [[f1, f1 + 1]], "micro_f1": [[60.0, 62.0]]}

    weights = {"Depends": 1.0, "Recommends": 0.5, "Suggests": 0.0}
    found = {
        "machine": results()["machine"],
        "protocol": {"dim": 128, "share": 0.1, "shuffles": 2, "seeds": 1, "tuned": 4},
        "nodes": 100,
        "rows": {"Depends": 200, "Recommends": 90, "Suggests": 10},
        "settings": [
            setting(50.0, title="Depends"),
            setting(52.0, balance="none", weights=dict.fromkeys(weights, 1.0), tuned=False),
            setting(49.0, balance="node", weights=weights, tuned=True),
        ],
    }
    first, none, node = relations_tables.section(found).splitlines()[-3:]
    assert first == "| without relations: Depends |  |  |  | 300 | 50.5 |  | 61.0 |"
    assert none.endswith('"none" | 1 | 1 | 1 | 300 | **52.5** | +2.0 ± 0.0 | 61.0 |')
    assert node.endswith("tuned | 1 | 0.5 | 0 | 300 | 49.5 | -1.0 ± 0.0 | 61.0 |")


def test_the_table_of_neighbors_has_ratios_only():
    ratio = {"ratio": 2.0, "range": [1.5, 2.5]}
    row = {
        **{"data": "vectors", "nodes": 2000, "queries": 2000, "dim": 8, "threads": 2},
        "ratios": dict.fromkeys(("hopvec", "numpy products", *neighbors_tables.PEERS), ratio),
        **{"agreement": dict.fromkeys(neighbors_tables.PEERS, 1.0), "others_share": 0.01},
        "seconds": {},
    }
    (cells,) = neighbors_tables.speeds([row]).splitlines()[2:]
    assert cells.startswith("| vectors | 2,000 x 8 | all | 2 | 1.0 | 2.0 (1.5 to 2.5) |")
    assert cells.endswith("| 200% | 1% |")


@pytest.mark.parametrize("part", render.OTHER_PAGES)
def test_published_tables_are_those_of_the_results(part):
    page, section = render.OTHER_PAGES[part]
    path = render.RESULTS / f"{part}.json"
    if not path.is_file():
        pytest.skip(f"{part} was not measured yet")
    text = (ROOT / "docs" / page).read_text(encoding="utf-8")
    block = section(render.read(path))
    assert render.between_markers(text, part, block) == text
