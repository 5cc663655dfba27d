"""Loops whose collectives run ahead of, behind or beside them compute what they
compute as they stand."""

import pytest

from steps import StepJob

pytestmark = pytest.mark.needs_tools

PIPELINE = ("--pipeline-loops",)
PEEL = ("--peel-microbatches",)


def moved(manifest):
    """Bytes by kind and group."""
    total = {}
    for record in manifest["collectives"]:
        key = (record["kind"], str(record["digits"]))
        total[key] = total.get(key, 0) + record["count"] * record["bytes"]
    return total


@pytest.mark.parametrize(
    ("case", "cluster", "strategy", "path", "options"),
    [
        ("stacked", "levels=2", "zero3", "stablehlo", PIPELINE),
        ("stacked_recomputed", "levels=3", "zero3", "stablehlo", PIPELINE),
        ("stacked_recomputed", "levels=2x2", "p=2,g=2,os=4", "stablehlo", PIPELINE),
        ("stacked_accumulated", "levels=2x2", "p=2,g=2,os=4", "stablehlo", PIPELINE + PEEL),
        ("stacked_lamb", "levels=4", "zero3", "stablehlo", PIPELINE),
        ("stacks_of_stacks", "levels=3", "zero3", "stablehlo", PIPELINE),
        ("gpt_accumulated", "levels=2x2", "p=1,g=2,os=4", "so", PEEL),
        ("gpt_tied_accumulated", "levels=4", "zero1", "stablehlo", PEEL),
        ("one_microbatch", "levels=2", "zero1", "so", PEEL),
        ("two_microbatches", "levels=2", "zero1", "so", PEEL),
    ],
)
def test_loops_written_anew_give_the_same_results(
    case, cluster, strategy, path, options, job_pool
):
    plain, anew = (
        job_pool.submit(StepJob(case, cluster, strategy, path, flags))
        for flags in ((), options)
    )
    plain, anew = plain.result(), anew.result()
    assert not anew.comparison.faults
    # A loop of one iteration may be none already.
    if case != "one_microbatch":
        assert plain.manifest["program_hash"] != anew.manifest["program_hash"]
    # Collectives move from iteration to iteration; none is added, and one may
    # be shared with a use beside the loop.
    before, after = moved(plain.manifest), moved(anew.manifest)
    assert before.keys() == after.keys()
    assert all(after[key] <= before[key] for key in before)
    assert case == "stacks_of_stacks" or before == after
