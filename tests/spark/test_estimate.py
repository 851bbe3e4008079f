"""Estimates of runs, computed by formulas: no session is needed."""

from dataclasses import replace
from inspect import signature

import pytest

from hopvec import FastRP, MemoryLimitError, ParameterError
from hopvec.spark import Cluster, embed, estimate
from hopvec.spark.estimate import Parts, RunSize, plan_run
from one_pass import one_pass

CLUSTER = Cluster(workers=4, cores=8, memory=10**9)
PLAIN = one_pass(dim=128, normalize="none")


def test_columns_are_chosen_if_a_worker_can_hold_the_graph_and_a_slab():
    plan = plan_run(10**6, 10**7, PLAIN, CLUSTER)
    assert (plan.strategy, plan.blocks) == ("columns", 1)
    assert plan.worker_bytes == 4 * 10**7 + 12 * 10**6 + (32 + 128 + 64) * 10**6
    assert plan.shuffled_bytes == 4 * (4 * 10**7 + 12 * 10**6) + 4 * 10**6 * 128
    assert "a worker can hold the graph and a slab" in str(plan)


def test_the_fewest_blocks_that_fit_are_chosen_if_it_cannot():
    plan = plan_run(10**7, 10**8, PLAIN, CLUSTER)
    assert plan.strategy == "blocks"
    size = RunSize(10**7, 10**8, False, PLAIN, CLUSTER)
    assert size.blocks_bytes(plan.blocks) <= CLUSTER.memory < size.blocks_bytes(plan.blocks - 1)
    assert size.hop_shuffle(plan.blocks) <= (plan.blocks + 3) * 4 * 10**7 * 128
    assert "the graph and a slab take 2.76 GB, and a worker has 1 GB" in plan.reason


def test_unit_orders_add_norms_and_a_second_pass():
    plain = plan_run(10**6, 10**7, PLAIN, CLUSTER)
    unit = plan_run(10**6, 10**7, one_pass(dim=128, normalize="orders"), CLUSTER)
    assert unit.shuffled_bytes - plain.shuffled_bytes == 4 * 10**6 * (8 * 8 + 4 * 4)
    assert unit.seconds > plain.seconds


def test_weights_double_the_entries():
    size = RunSize(1000, 5000, False, PLAIN, CLUSTER)
    assert replace(size, weighted=True).graph_bytes - size.graph_bytes == 4 * 5000


def test_features_add_eight_bytes_per_column_and_node():
    for strategy in ("columns", "blocks"):
        plain = plan_run(10**6, 10**7, PLAIN, CLUSTER, strategy=strategy)
        more = plan_run(10**6, 10**7, PLAIN, CLUSTER, features=3, strategy=strategy)
        columns, one = strategy == "columns", 3 * 8 * 10**6
        assert more.spill_bytes - plain.spill_bytes == one
        assert more.worker_bytes - plain.worker_bytes == columns * one
        assert more.shuffled_bytes - plain.shuffled_bytes == (2 + columns * CLUSTER.workers) * one


def test_each_relation_with_columns_of_its_own_adds_a_matrix():
    assert Parts.of_direction("out", 100) is None
    assert Parts.of_direction("both", 100) == Parts(1, 200)
    assert Parts.of_direction("out", 100, relations=1) == Parts(1, 100)
    assert Parts.of_direction("concat", 100, relations=3) == Parts(6, 200)


def test_an_estimate_takes_the_graph_as_embed_does():
    own = {"like", "spill_dir", "output", "progress"}
    assert {*signature(embed).parameters} - own <= {*signature(estimate).parameters}


def test_a_price_gives_a_cost():
    plan = plan_run(10**6, 10**7, PLAIN, replace(CLUSTER, price=3.6))
    assert plan.cost == pytest.approx(4 * 3.6 * plan.seconds / 3600)
    assert plan_run(10**6, 10**7, PLAIN, CLUSTER).cost is None


def test_a_summary_counts_one_worker_in_the_singular_and_names_the_unit_of_the_cost():
    one = replace(CLUSTER, workers=1, cores=1, price=3.6)
    assert "; 1 worker of 1 core and 1 GB\n" in str(plan_run(10**6, 10**7, PLAIN, one))
    assert str(plan_run(10**6, 10**7, PLAIN, one)).endswith(" in the currency of price")
    assert "; 4 workers of 8 cores and 1 GB\n" in str(plan_run(10**6, 10**7, PLAIN, CLUSTER))


def test_the_memory_of_a_cluster_may_be_a_size_with_a_unit():
    assert Cluster(workers=4, cores=8, memory="1 GB") == CLUSTER


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"workers": 0}, "Cluster: workers must be an integer of at least 1, got 0"),
        ({"cores": 1.5}, "Cluster: cores must be an integer of at least 1, got 1.5"),
        ({"memory": "32 of them"}, "memory must be a positive size such as '4GB'"),
        ({"memory": None}, "Cluster: memory must be a size such as '54GB', got None"),
        ({"price": -1}, "Cluster: price must be at least 0, or be None, got -1"),
    ],
)
def test_invalid_clusters_are_refused(change, message):
    with pytest.raises(ParameterError, match=message):
        replace(CLUSTER, **change)


def test_a_graph_that_does_not_fit_with_any_number_of_blocks_is_refused():
    with pytest.raises(MemoryLimitError, match=r"even 1,024 blocks need .* Use workers with more"):
        plan_run(2 * 10**9, 10**10, PLAIN, replace(CLUSTER, memory=10**6))


def test_each_pass_but_the_first_fetches_the_slabs_four_times_more():
    one, two, three = (
        plan_run(10**6, 10**7, FastRP(dim=128, passes=passes, weights=(0, 0, 1)), CLUSTER)
        for passes in (1, 2, 3)
    )
    slabs, norms = 4 * 10**6 * 128, 10**6 * (8 * 8 + 4 * 4)
    products = 16 * 8 * (128 * 128 + 128 + 1)  # 16 parts of 65,536 rows
    assert three.shuffled_bytes - two.shuffled_bytes == 4 * slabs + norms + products
    assert two.shuffled_bytes - one.shuffled_bytes == 5 * slabs + norms + 2 * products
    assert one.seconds < two.seconds < three.seconds


def test_blocks_shuffle_the_hops_of_all_passes():
    size = RunSize(10**6, 10**7, False, FastRP(dim=128), CLUSTER)
    assert size.hops == [3, 3, 6]
    hops, orders = 12 * size.hop_shuffle(3), 8 * size.vector_bytes
    assert size.blocks_shuffle(3) == hops + orders + 3 * size.products_shuffle(32)


def test_whitening_wide_rows_needs_memory_for_a_part_of_them_on_every_core():
    size = RunSize(10**6, 10**6, False, FastRP(dim=512, oversample=8), CLUSTER)
    assert size.columns_bytes() > 8 * 4 * 65536 * 4096
