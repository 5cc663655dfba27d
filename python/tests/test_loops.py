"""Loops whose collectives run ahead of, behind or beside them compute what they
compute as they stand."""

import re
import shutil

import pytest

import jobs
from amsp import tools
from steps import StepJob, prepared

pytestmark = pytest.mark.needs_tools

PIPELINE = ("--pipeline-loops",)
PEEL = ("--peel-microbatches",)
INT8 = ("--quantize-gathers", "--quantize-reductions")


def moved(manifest):
    """Bytes by kind and group."""
    total = {}
    for record in manifest["collectives"]:
        key = (record["kind"], str(record["digits"]))
        total[key] = total.get(key, 0) + record["count"] * record["bytes"]
    return total


def assert_same_bits(expected, found):
    different = [
        name for name, value in expected.items() if value.tobytes() != found[name].tobytes()
    ]
    assert not different


@pytest.mark.parametrize(
    ("case", "cluster", "strategy", "path", "options"),
    [
        ("stacked", "levels=2", "zero3", "stablehlo", PIPELINE),
        ("stacked", "levels=2x2", "zero3", "so", PIPELINE),
        ("stacked_recomputed", "levels=3", "zero3", "stablehlo", PIPELINE),
        ("stacked_recomputed", "levels=2x2", "p=2,g=2,os=4", "stablehlo", PIPELINE),
        ("stacked_accumulated", "levels=2x2", "p=2,g=2,os=4", "stablehlo", PIPELINE + PEEL),
        ("stacked_accumulated", "levels=2x2", "p=2,g=2,os=4", "so", PIPELINE + PEEL),
        ("stacked_lamb", "levels=4", "zero3", "stablehlo", PIPELINE),
        ("stacked_lamb", "levels=2x2", "zero3", "so", PIPELINE),
        ("stacks_of_stacks", "levels=3", "zero3", "stablehlo", PIPELINE),
        ("stacks_of_stacks", "levels=2x2", "zero3", "so", PIPELINE),
        ("gpt_accumulated", "levels=2x2", "p=1,g=2,os=4", "so", PEEL),
        ("gpt_accumulated", "levels=2x2", "zero3", "so", PIPELINE),
        ("gpt_accumulated", "levels=2", "zero2", "so", PIPELINE + PEEL),
        ("gpt_accumulated", "levels=2", "zero2", "so", PEEL),
        ("gpt_tied_accumulated", "levels=4", "zero1", "stablehlo", PEEL),
        ("gpt_tied_accumulated", "levels=2x2", "zero1", "so", PEEL),
        ("one_microbatch", "levels=2", "zero1", "so", PEEL),
        ("two_microbatches", "levels=2", "zero1", "so", PEEL),
    ],
)
def test_loops_written_anew_give_the_same_results(
    case, cluster, strategy, path, options, job_pool
):
    plain, anew = (
        job_pool.result(StepJob(case, cluster, strategy, path, flags))
        for flags in ((), options)
    )
    assert not anew.comparison.faults
    if path == "so":
        assert_same_bits(plain.results, anew.results)
    # A loop of one iteration may be none already.
    if case != "one_microbatch":
        assert plain.manifest["program_hash"] != anew.manifest["program_hash"]
    # Collectives move from iteration to iteration; none is added, and one may
    # be shared with a use beside the loop.
    before, after = moved(plain.manifest), moved(anew.manifest)
    assert before.keys() == after.keys()
    assert all(after[key] <= before[key] for key in before)
    assert case == "stacks_of_stacks" or before == after


@pytest.mark.parametrize(
    ("case", "strategy", "options", "wire"),
    [
        ("stacked", "zero3", PIPELINE, ()),
        ("stacked_even", "zero3", PIPELINE, ()),
        ("stacked_odd", "p=2x1,g=2x1,os=2x2", PIPELINE, ()),
        ("stacked_accumulated", "zero1", PEEL, ()),
        ("stacked_accumulated", "p=2x1,g=2x1,os=2x2", PIPELINE + PEEL, INT8),
    ],
)
def test_loops_written_anew_run_on_every_transport(case, strategy, options, wire, tmp_path):
    """The same bits as the loops as they stood, with and without overlap, on threads,
    with poison where nothing is alive, and over MPI. Blocks of int8 are those of
    the layer and the microbatch, wherever it is gathered and reduced."""
    ready = prepared(case, tmp_path)
    runs = [((), ()), (options, ("--poison",)), ((*options, "--overlap", "off"), ())]
    if shutil.which("mpirun"):
        runs.append((options, ("--transport", "mpi")))
    results = []
    for number, (compiled, transport) in enumerate(runs):
        step = tmp_path / f"{'_'.join(compiled)}.so"
        if not step.exists():
            tools.compile_step(
                ready.directory / "step.mlir",
                step,
                "levels=2x2",
                strategy,
                ready.batch_args,
                timeout=jobs.COMPILE_SECONDS,
                options=(*compiled, *wire),
            )
        outputs = tmp_path / f"{number}.npz"
        inputs = ready.directory / "inputs.npz"
        tools.run_step(
            step, inputs, outputs, ready.steps, *transport, timeout=jobs.RUN_SECONDS
        )
        results.append(outputs.read_bytes())
    assert all(result == results[0] for result in results)


def layers_beside_computation(program):
    """Layers whose gathers are awaited before the step's first contraction, and
    whose reductions start behind its last one."""
    lines = program.splitlines()
    # A contraction in a loop is at the loop.
    places = [i for i, line in enumerate(lines) if re.match(r"    %\S+ = stablehlo.(dot|while)", line)]
    first, last = places[0], places[-1]
    gathers, reductions = {}, set()
    early = set()
    for number, line in enumerate(lines):
        if start := re.match(r'    (%\w+)\S* = amsp\.(\w+)_start .*unit = "(layers\.\d+)"', line):
            name, kind, unit = start.groups()
            if kind == "all_gather":
                gathers[name] = unit
            elif number > last:
                reductions.add(unit)
        elif await_ := re.search(r"amsp\.await (%\w+)", line):
            if await_[1] in gathers and number < first:
                early.add(gathers[await_[1]])
    return early, reductions


def test_around_four_microbatches_one_layer_is_exposed_each_way(tmp_path):
    ready = prepared("gpt_four_microbatches", tmp_path)
    batch = ",".join(map(str, ready.batch_args))

    def exposed(options):
        program = tools.call(
            "amsp-opt",
            ready.directory / "step.mlir",
            f"--amsp-partition=levels=3 strategy=zero1 batch-args={batch}",
            f"--amsp-communicate={options} prefetch-bytes=1000000",
        ).stdout
        return layers_beside_computation(program)

    everything = {"layers.0", "layers.1", "layers.2"}
    assert exposed("peel-microbatches=false") == (everything, everything)
    gathered, reduced = exposed("peel-microbatches=true")
    assert gathered <= {"layers.0"} and reduced <= {"layers.0"}
