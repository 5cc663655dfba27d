"""Compiled schedules under ThreadSanitizer, and with late data.

A rank's compute thread and its two channels share buffers; what keeps them apart
are the starts and awaits of the compiled step. Here the step itself is
instrumented and runs on an instrumented runtime (unittests/Runtime/Races): a
buffer that is touched while it is in flight is a data race.
"""

import os
import re
import shutil
import subprocess

import pytest

import steps
from amsp import exposure, tools

TOOL = "amsp-run-races"
COMPILER = "clang-22"
RACE = 66  # exit status

pytestmark = [
    pytest.mark.needs_tools,
    pytest.mark.skipif(
        not os.environ.get("CI") and (tools.find(TOOL) is None or not shutil.which(COMPILER)),
        reason=f"needs {TOOL} and {COMPILER}",
    ),
]

LOOPS = ("--peel-microbatches", "--pipeline-loops")
INT8 = ("--quantize-gathers", "--quantize-reductions")
OVERLAPPED = [
    ("mlp", "levels=2x2", "zero3", ()),
    ("mlp", "levels=2x2", "p=1,g=2x1,os=2x2", ()),
    ("norms", "levels=3", "zero1", ()),
    ("gpt_tied_accumulated", "levels=2x2", "zero2", ()),
    # Two buffers for each carry, which iterations alternate between.
    ("stacked_accumulated", "levels=2x2", "zero3", LOOPS),
    ("odd_sizes", "levels=2", "ddp", ()),
    ("stacked_accumulated", "levels=2x2", "zero3", (*LOOPS, *INT8)),
]


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    return tmp_path_factory.mktemp("exported")


def instrumented(ready, directory, cluster, strategy, options=(), edit=lambda lines: lines):
    """The step as a library that tells ThreadSanitizer what it touches."""
    text, library = directory / "step.ll", directory / "races.so"
    step = ready.directory / "step.mlir"
    tools.compile_step(step, text, cluster, strategy, emit="llvm", options=options)
    source = re.sub(r"^(define .*) \{$", r"\1 sanitize_thread {", text.read_text(), flags=re.M)
    text.write_text("\n".join(edit(source.splitlines())))
    flags = ("-O1", "-fsanitize=thread", "-fPIC", "-shared", "-Wno-override-module")
    subprocess.run([COMPILER, *flags, text, "-o", library, "-lmvec", "-lm"], check=True)
    return library


def run_under_sanitizer(library, ready, outputs, count):
    return subprocess.run(
        tools.command(
            *(TOOL, library, "--inputs", ready.directory / "inputs.npz"),
            *("--outputs", outputs, "--steps", count),
        ),
        env=os.environ | {"TSAN_OPTIONS": f"halt_on_error=1 exitcode={RACE}"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.parametrize("case, cluster, strategy, options", OVERLAPPED)
def test_overlap_has_no_data_race(tmp_path, exported, case, cluster, strategy, options):
    ready = steps.prepared(case, exported)
    library = instrumented(ready, tmp_path, cluster, strategy, options)
    result = run_under_sanitizer(library, ready, tmp_path / "races.npz", 3)
    assert result.returncode == 0, result.stderr
    assert (tmp_path / "races.npz").exists()


def without_gathers_awaited(lines):
    """The gathers' awaits go to the end of the step, behind what reads them."""
    begin = next(i for i, line in enumerate(lines) if "@amsp_execute(" in line and "define" in line)
    end = next(i for i in range(begin, len(lines)) if lines[i].strip() == "ret void")
    isAwait = lambda line: "call void @amsp_collective_await(" in line
    body = lines[begin:end]
    awaits = [line for line in body if isAwait(line)]
    assert awaits
    kept = [line for line in body if not isAwait(line)]
    return lines[:begin] + kept + awaits + lines[end:]


def test_a_buffer_used_in_flight_is_found(tmp_path, exported):
    """So that the tests above can fail."""
    ready = steps.prepared("mlp", exported)
    library = instrumented(ready, tmp_path, "levels=2x2", "zero3", edit=without_gathers_awaited)
    result = run_under_sanitizer(library, ready, tmp_path / "races.npz", 3)
    assert result.returncode == RACE, (result.returncode, result.stderr)
    assert "data race" in result.stderr


@pytest.mark.parametrize("case, cluster, strategy, options", OVERLAPPED[:5])
def test_late_data_and_late_ranks_change_no_bit(
    tmp_path, exported, case, cluster, strategy, options
):
    """Producers and consumers of every collective are delayed in turn; what is
    freed is poisoned."""
    ready = steps.prepared(case, exported)
    step, inputs = tmp_path / "step.so", ready.directory / "inputs.npz"
    tools.compile_step(
        ready.directory / "step.mlir", step, cluster, strategy, options=options
    )
    manifest = tools.manifest(step)
    ids = [entry["id"] for entry in manifest["collectives"]]

    def outputs(*options):
        tools.run_step(step, inputs, tmp_path / "out.npz", 2, *options, timeout=300)
        return (tmp_path / "out.npz").read_bytes()

    expected = outputs()
    assert outputs("--poison") == expected
    for kind in ("delay", "lag"):
        faults = []
        for number in ids[:: max(1, len(ids) // 8)]:
            faults += ["--inject-fault", f"{number % manifest['world']},{number},{kind}"]
        assert outputs("--poison", *faults) == expected, kind


def in_flight_together(step, digits):
    """Pairs of a gather and a reduction over other ranks, of which each was started
    before the other was awaited. What a rank starts and awaits, and in which order,
    is the same in every step."""
    return [
        (gather.id, reduction.id)
        for gather in step.of_channel("gather")
        for reduction in step.of_channel("reduce")
        if digits.get(gather.id) != digits.get(reduction.id)
        and gather.started < reduction.taken
        and reduction.started < gather.taken
    ]


def test_two_channels_in_flight_for_a_thousand_steps(tmp_path, exported):
    """Gathers and reductions on different communicators of 2x2 ranks."""
    ready = steps.prepared("gpt", exported)
    step, inputs = tmp_path / "step.so", ready.directory / "inputs.npz"
    tools.compile_step(ready.directory / "step.mlir", step, "levels=2x2", "p=2x1,g=2x1,os=2x2")
    trace, output = tmp_path / "trace.json", tmp_path / "out.npz"
    tools.run_step(step, inputs, output, 2, "--quiet", "--trace", trace)
    digits = {c["id"]: str(c["digits"]) for c in tools.manifest(step)["collectives"]}
    traced = exposure.read(trace)
    assert len(traced) == 4 * 2
    for one in traced:
        assert in_flight_together(one, digits), f"rank {one.rank}"
    contents = set()
    for options in ((), ("--poison",)):
        tools.run_step(step, inputs, output, 1000, "--quiet", *options, timeout=300)
        contents.add(output.read_bytes())
    assert len(contents) == 1
