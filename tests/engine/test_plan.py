"""Plans: the threads and memory of a run, decided before it starts."""

import time

import numpy as np
import pytest

import hopvec
from example_graphs import example, path, random_example
from hopvec import FastRP, MemoryLimitError
from hopvec.engine.plan import resident
from hopvec.machine import format_bytes
from hopvec.memory import rounded_down, rounded_up
from one_pass import one_pass

LINE = 64


@pytest.fixture(scope="module")
def graph():
    return random_example(5000, 20_000, weighted=True).graph()


@pytest.fixture(scope="module")
def large():
    """A graph for which two blocks of 64 bytes per node do not fit in the L2 cache of a core."""
    return example(path(100_000), 100_000).graph()


class TestSlabs:
    @pytest.mark.parametrize(
        ("precision", "dim", "slabs"),
        [
            ("float32", 1, 1),
            ("float32", 16, 1),
            ("float32", 17, 2),
            ("float32", 256, 16),
            ("float16", 32, 1),
            ("float16", 33, 2),
            ("float16", 256, 8),
        ],
    )
    def test_the_number_of_slabs_follows_from_dim(self, graph, precision, dim, slabs):
        assert one_pass(dim=dim, precision=precision).plan(graph).slabs == slabs

    def test_each_thread_has_its_own_slab_if_blocks_fit_in_the_cache(self, graph):
        plan = one_pass(dim=256, threads=4).plan(graph)
        assert (plan.slabs_in_flight, plan.threads_per_slab) == (4, 1)

    def test_threads_share_one_slab_if_two_do_not_fit_in_the_cache(self, large):
        plan = one_pass(dim=256, threads=4, normalize="none").plan(large)
        assert (plan.slabs_in_flight, plan.threads_per_slab) == (1, 4)

    @pytest.mark.parametrize("threads", [1, 2, 3, 5, 7, 64])
    @pytest.mark.parametrize("dim", [16, 32, 64, 256])
    def test_no_more_threads_than_requested(self, graph, threads, dim):
        for normalize in ("none", "full"):
            plan = one_pass(dim=dim, threads=threads, normalize=normalize).plan(graph)
            assert 1 <= plan.threads <= threads


class TestMemory:
    def test_orders_are_cached_if_memory_allows(self, graph):
        plan = one_pass(dim=64, memory="1GB").plan(graph)
        assert (plan.orders, plan.output, plan.slab_runs) == ("cached", "memory", 1)

    def test_orders_are_recomputed_if_they_do_not_fit(self, graph):
        roomy = one_pass(dim=64, memory="1GB").plan(graph)
        plan = one_pass(dim=64, memory=roomy.bytes.total - 1).plan(graph)
        assert (plan.orders, plan.output, plan.slab_runs) == ("recomputed", "memory", 2)

    def test_the_output_is_in_a_file_if_it_does_not_fit(self, graph):
        twice = one_pass(dim=64, memory="8MB").plan(graph)
        plan = one_pass(dim=64, memory=twice.bytes.total - 1).plan(graph)
        assert (plan.orders, plan.output) == ("recomputed", "file")
        assert plan.bytes.output == LINE * 5000  # one slab
        assert plan.disk == 2 * 4 * 5000 * 64
        assert twice.disk == 0

    def test_a_sum_without_normalization_never_needs_two_passes(self, graph):
        method = one_pass(dim=64, normalize="none", threads=2)
        plan = method.plan(graph)
        seen = [(plan.orders, plan.output, plan.slabs_in_flight)]
        while True:
            try:
                plan = method.set_params(memory=plan.bytes.total - 1).plan(graph)
            except MemoryLimitError:
                break
            seen.append((plan.orders, plan.output, plan.slabs_in_flight))
        assert seen == [
            ("streamed", "memory", 2),
            ("streamed", "memory", 1),
            ("streamed", "file", 1),
        ]

    def test_a_plan_fits_in_its_memory_limit(self, graph):
        for megabytes in (2, 3, 5, 8, 13, 21):
            for normalize in ("none", "authors", "full"):
                method = one_pass(dim=64, memory=f"{megabytes}MB", normalize=normalize)
                assert method.plan(graph).bytes.total <= megabytes * 10**6

    def test_bytes_are_the_sizes_of_the_arrays(self, graph):
        plan = one_pass(dim=40, threads=2, weights=[0, 1, 1], memory="1GB").plan(graph)
        rows = (graph.indptr, graph.indices, graph.weights)
        nodes = (graph.keys, graph.rows, graph._node_degrees)
        powers = 3 * 4 * 5000  # 1 / d, and two powers of d
        arrays = sum(array.nbytes for array in (*rows, *nodes, graph.ids))
        assert plan.bytes.graph == arrays + powers
        assert plan.bytes.output == 4 * 5000 * 40
        # two blocks for each of two slabs
        assert plan.bytes.working["blocks"] == 2 * LINE * 5000 * 2
        assert plan.bytes.working["orders"] == LINE * 5000 * 3 * 2  # three slabs of two orders
        parts = plan.bytes
        assert parts.total == parts.graph + parts.output + sum(parts.working.values())

    def test_orders_without_weight_are_not_cached(self, graph):
        some = one_pass(dim=64, weights=[0, 0, 1]).plan(graph).bytes.working["orders"]
        all_ = one_pass(dim=64, weights=[1, 1, 1]).plan(graph).bytes.working["orders"]
        assert all_ == 3 * some

    def test_a_limit_that_is_too_small_is_rejected_with_the_minimum(self, graph):
        method = one_pass(dim=64, normalize="none", threads=1)
        rows = resident(graph)
        minimum = rows + 3 * LINE * graph.nodes
        with pytest.raises(MemoryLimitError) as error:
            method.set_params(memory=minimum - 1).plan(graph)
        assert str(error.value) == (
            f"This run needs at least {format_bytes(rounded_up(minimum))} "
            f"({format_bytes(rows)} for the graph, 960 kB for one slab), "
            f"but the memory limit is {format_bytes(rounded_down(minimum - 1))}. "
            "Increase memory=."
        )
        assert method.set_params(memory=minimum).plan(graph).output == "file"

    def test_embed_rejects_it_too(self, graph):
        with pytest.raises(MemoryLimitError, match="needs at least"):
            one_pass(memory="100kB").embed(graph)

    def test_a_memory_limit_error_is_a_memory_error(self):
        assert issubclass(MemoryLimitError, MemoryError)


class TestPrinting:
    def test_a_plan_lists_slabs_orders_output_and_memory(self, graph):
        text = str(one_pass(dim=256, threads=2, memory="1GB").plan(graph))
        assert "16 slabs of 16 columns in float32, 2 at a time on 2 threads" in text
        assert "orders cached (20.5 MB)" in text
        assert "output of 5.12 MB in memory" in text
        assert f"with the graph of {format_bytes(resident(graph))}" in text

    def test_a_plan_mentions_the_spill_file_and_recomputed_orders(self, graph):
        text = str(one_pass(dim=256, threads=2, memory="3MB").plan(graph))
        assert "orders recomputed" in text
        assert "in a spill file" in text


class TestEstimate:
    def test_bytes_equal_those_of_the_plan(self, graph):
        method = one_pass(dim=64)
        assert hopvec.estimate(graph, method).bytes == method.plan(graph).bytes.total

    def test_the_text_starts_with_the_time_and_includes_the_plan(self, graph):
        text = str(hopvec.estimate(graph, one_pass(dim=64)))
        assert text.startswith("about ")
        assert "slabs of 16 columns" in text

    def test_the_time_is_within_a_factor_of_4_of_the_run(self):
        graph = random_example(40_000, 1_000_000).graph()
        method = one_pass(dim=64, weights=[0, 0, 1, 1], threads=1, normalize="none")
        method.embed(graph)
        start = time.process_time()
        method.embed(graph)
        took = time.process_time() - start
        guesses = [hopvec.estimate(graph, method).seconds for _ in range(3)]
        assert took / 4 < np.median(guesses) < 4 * took

    @pytest.mark.parametrize(
        ("options", "seconds"),
        [
            ({"dim": 16}, 5 + 2 + 0.5),
            ({"dim": 256}, 5 + 16 * 2 + 16 * 0.5),
            ({"dim": 256, "precision": "float16"}, 5 + 8 * 2 + 8 * 0.5),
            ({"dim": 256, "memory": "4MB", "normalize": "full"}, 5 + 2 * 16 * 2 + 16 * 0.5),
        ],
    )
    def test_a_trial_separates_fixed_time_from_time_per_slab(
        self, graph, monkeypatch, options, seconds
    ):
        """A simulated run takes 5 s at the start, 2 s per pass of a slab, and 0.5 s per slab."""
        method, clock = one_pass(threads=1, **options), [0.0]

        def compute(trial, graph, plan, progress):
            clock[0] += 5
            for done in range(plan.slabs * method.plan(graph).slab_runs):
                clock[0] += 2
                progress(done + 1, plan.slabs)
            clock[0] += 0.5 * plan.slabs

        monkeypatch.setattr(FastRP, "_compute", compute)
        monkeypatch.setattr("hopvec.methods.slab_method.time.perf_counter", lambda: clock[0])
        monkeypatch.setattr("hopvec.methods.slab_method.MAX_TRIAL_SECONDS", 1000.0)
        assert hopvec.estimate(graph, method).seconds == pytest.approx(seconds, rel=0.3)

    def test_a_long_trial_stops_after_the_current_slab(self, graph, monkeypatch):
        monkeypatch.setattr("hopvec.methods.slab_method.MAX_TRIAL_SECONDS", 0.0)
        assert hopvec.estimate(graph, one_pass(dim=256)).seconds > 0

    @pytest.mark.parametrize("case", [example([], 3), example([(0, 0)], 1), example(path(2), 2)])
    def test_tiny_graphs_have_an_estimate(self, case):
        graph = case.graph()
        assert hopvec.estimate(graph, one_pass(dim=8)).seconds >= 0
