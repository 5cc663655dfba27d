"""Classes of faults that systems of this kind had, by name of what is guarded.

Each runs a small step (steps.py) on both paths and compares it with JAX on one
device.
"""

import numpy as np
import pytest

import jobs
from steps import StepJob

pytestmark = pytest.mark.needs_tools


def over(case, *combinations):
    return pytest.mark.parametrize(
        "job",
        [StepJob(case, *one, path) for one in combinations for path in jobs.PATHS],
        ids=str,
    )


@over(
    "norms",
    ("levels=1", "zero3"),
    ("levels=2", "ddp"),
    ("levels=2", "zero1"),
    ("levels=2", "zero3"),
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2x3", "mics:2x1"),
)
def test_global_norm_counts_each_element_once(finished):
    assert not finished.comparison.faults


@over("shards_3_and_4", ("levels=2", "ddp"), ("levels=2", "zero3"), ("levels=4", "zero1"))
def test_clipping_uses_the_norm_of_all_shards(finished):
    assert not finished.comparison.faults
    np.testing.assert_allclose(finished.results["out1"], 5.0, rtol=1e-6)
    np.testing.assert_allclose(finished.results["out0"], [-0.6, -0.8], rtol=1e-6)


@over(
    "trust_ratio",
    ("levels=2", "zero3"),
    ("levels=3", "zero1"),
    ("levels=2x2", "p=2,os=4"),
    ("levels=2x3", "os=6"),
)
def test_norms_and_maxima_mask_the_padding(finished):
    assert not finished.comparison.faults


@over(
    "gpt_tied_accumulated",
    ("levels=1", "zero3"),
    ("levels=2", "ddp"),
    ("levels=2", "zero3"),
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
)
def test_a_tied_embedding_under_accumulation_is_updated_once(finished):
    assert not finished.comparison.faults


@over(
    "mlp",
    ("levels=1", "ddp"),
    ("levels=1", "zero3"),
    ("levels=2", "ddp"),
    ("levels=2", "p=1,g=1,os=1"),
    ("levels=1x2", "mics:1x2"),
    ("levels=2x1", "hpz:2x1"),
    ("levels=1x1x2", "zero2"),
)
def test_groups_of_one_rank_are_an_identity_and_replicas_still_reduce(finished):
    assert not finished.comparison.faults


@over(
    "one_hot_gradients",
    ("levels=1", "zero2"),
    ("levels=2x2", "ddp"),
    ("levels=2x2", "zero2"),
    ("levels=2x2", "zero3"),
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2x2", "p=1,g=1x2,os=2x2"),
    ("levels=2x2", "mics:2x1"),
)
def test_every_microbatch_of_every_rank_is_in_the_sum(finished):
    assert not finished.comparison.faults
    np.testing.assert_array_equal(finished.results["out0"], -np.ones(12))


@over(
    "mlp",
    *(
        (levels, strategy)
        for levels in ("levels=8", "levels=2x4", "levels=4x2", "levels=1x8")
        for strategy in ("zero3", "mics:2")
        if (levels, strategy) != ("levels=1x8", "mics:2")
    ),
    ("levels=1x8", "mics:1x2"),
    ("levels=2x2x2", "p=2x1x1,g=2x2x1,os=2x2x2"),
    ("levels=2x2x2", "p=1x2x1,g=1x2x1,os=1x2x2"),
)
def test_every_factorisation_of_the_world_has_the_same_divisor(finished):
    assert not finished.comparison.faults


@over("accumulated_blocks", ("levels=8", "zero3"))
def test_rows_of_microbatches_that_ranks_do_not_divide_count_once(finished):
    """12 rows on 8 ranks: two for each of the first six, padding for the others."""
    assert not finished.comparison.faults


@over("accumulated_every", ("levels=4x2", "zero2"))
def test_every_second_row_that_ranks_do_not_divide_counts_once(finished):
    assert not finished.comparison.faults


@over("narrow_indices", ("levels=2", "ddp"), ("levels=4", "zero3"))
def test_indices_too_narrow_for_the_rows_find_theirs(finished):
    assert not finished.comparison.faults


@over("unsigned_indices", ("levels=4", "zero3"))
def test_unsigned_indices_find_their_rows(finished):
    assert not finished.comparison.faults


@over(
    "unequal_masks", ("levels=1", "zero1"), ("levels=2", "ddp"), ("levels=2", "zero3")
)
def test_the_loss_is_divided_by_the_global_token_count(finished):
    assert not finished.comparison.faults


@over(
    "ten_large_steps",
    ("levels=2", "zero1"),
    ("levels=2", "zero3"),
    ("levels=2x2", "p=1,g=2x1,os=2x2"),
    ("levels=2x2", "hpz:2x1"),
    ("levels=3", "ddp"),
)
def test_compute_reads_the_weights_of_the_last_update(finished):
    assert not finished.comparison.faults


@over(
    "ten_adam_steps",
    ("levels=2x2", "zero2"),
    ("levels=2x2", "p=2x1,g=2x1,os=2x2"),
    ("levels=8", "zero3"),
)
def test_ten_clipped_adam_steps(finished):
    assert not finished.comparison.faults


@over("one_adam_step", ("levels=1", "ddp"), ("levels=2", "zero1"), ("levels=4", "zero3"))
def test_the_first_adam_step_is_counted_once(finished):
    assert not finished.comparison.faults
    for i in range(4):  # The parameters: each element moves by the rate.
        moved = np.abs(finished.results[f"out{i}"] - finished.inputs[f"arg{i}"])
        np.testing.assert_allclose(moved, 0.125, rtol=1e-3)


@over("sizes_of_buckets", ("levels=2", "zero2"), ("levels=2x2", "zero3"))
def test_gradients_of_any_size_are_reduced(finished):
    assert not finished.comparison.faults


@over(
    "odd_sizes",
    ("levels=2", "zero3"),
    ("levels=3", "zero3"),
    ("levels=8", "zero3"),
    ("levels=8", "zero1"),
    ("levels=2x2", "p=2,os=4"),
    ("levels=2x2", "p=1,g=1x2,os=4"),
    ("levels=2x3", "os=6"),
    ("levels=2x3", "p=2,os=6"),
)
def test_parameters_with_fewer_elements_than_ranks(finished):
    assert not finished.comparison.faults


@over("rows_of_several_kinds", ("levels=2", "zero3"), ("levels=2x3", "p=1,g=2,os=6"))
def test_what_all_rows_share_is_of_the_global_batch(finished):
    assert not finished.comparison.faults


@over("in_batch_negatives", ("levels=2", "zero3"), ("levels=3", "ddp"))
def test_every_row_meets_the_rows_of_other_ranks(finished):
    assert not finished.comparison.faults


@over("recomputed_blocks", ("levels=2", "zero3"), ("levels=2x2", "p=2,g=2,os=4"))
def test_blocks_are_recomputed_from_the_same_parameters(finished):
    assert not finished.comparison.faults
    # Each gather is for a parameter, but for those of the two batch arguments.
    gathers = [c for c in finished.manifest["collectives"] if c["kind"] == "all_gather"]
    others = [c["tensors"] for c in gathers if not c["parameters"]]
    assert sum(others) == 2


@over("odd_state", ("levels=2", "zero2"), ("levels=2x2", "p=2,os=4"))
def test_state_of_odd_shapes_and_uses(finished):
    assert not finished.comparison.faults


@over("branches", ("levels=2", "zero3"), ("levels=3", "ddp"), ("levels=2x2", "p=2,os=4"))
def test_branches_write_one_buffer(finished):
    assert not finished.comparison.faults
