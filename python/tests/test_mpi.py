"""amsp-run --transport mpi: the same bits as threads, and how it fails.

Uses the step written by hand (unittests/Runtime/Fixtures; the target
amsp-run-fixtures) and, where amsp-compile is built, compiled ones.
"""

import json
import os
import pathlib
import shutil
import signal
import subprocess
import time

import numpy as np
import pytest

import jobs
import steps
from amsp import tools
from test_run import BUILD, STEP, TOOL, expect_error, files, make_inputs, run_files  # noqa: F401

MPIRUN = shutil.which("mpirun")
# In continuous integration MPI is installed: its absence is a failure.
pytestmark = pytest.mark.skipif(
    MPIRUN is None and not os.environ.get("CI"), reason="there is no mpirun in PATH"
)

# What amsp-run sets when it calls mpirun itself.
LAUNCHER_ENVIRONMENT = {
    "OMPI_ALLOW_RUN_AS_ROOT": "1",
    "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1",
    "OMPI_MCA_rmaps_base_oversubscribe": "1",
    "OMPI_MCA_hwloc_base_binding_policy": "none",
    "OMPI_MCA_orte_execute_quiet": "1",
}
MPI = ("--transport", "mpi")
OVERLAP = BUILD / "fixtures" / "OverlapStep.so"


def mpirun(*arguments, timeout=60):
    return subprocess.run(
        [MPIRUN, *map(str, arguments)],
        env=os.environ | LAUNCHER_ENVIRONMENT,
        capture_output=True,
        text=True,
        timeout=timeout,
    )


def run_arguments(step, inputs, outputs):
    return [TOOL, step, "--inputs", inputs, "--outputs", outputs, *MPI]


def outputs_of(files, *options, **kwargs):
    result = run_files(files, *options, **kwargs)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    return (files / "out.npz").read_bytes(), result.stdout


def losses(stdout):
    return [line.split("  (")[0] for line in stdout.splitlines() if line.startswith("step ")]


def test_the_same_file_as_threads(files):
    expected, threads_stdout = outputs_of(files, "--steps", 5)
    written, stdout = outputs_of(files, "--steps", 5, *MPI)
    assert written == expected
    assert losses(stdout) == losses(threads_stdout)  # once, not once per rank
    assert len(stdout.splitlines()) == len(threads_stdout.splitlines())


def test_under_a_launcher(files):
    expected, _ = outputs_of(files, "--steps", 2)
    (files / "out.npz").unlink()
    arguments = run_arguments(STEP, files / "in.npz", files / "out.npz")
    result = mpirun("-np", 4, *arguments, "--steps", 2)
    assert result.returncode == 0, result.stderr
    assert (files / "out.npz").read_bytes() == expected
    assert len(losses(result.stdout)) == 2


def test_a_delay_changes_nothing(files):
    expected, _ = outputs_of(files, "--steps", 2)
    written, _ = outputs_of(files, "--steps", 2, "--inject-fault", "1,reduce.w,delay", *MPI)
    assert written == expected


def test_batches_log_and_trace_of_all_ranks(files):
    inputs = make_inputs()
    np.savez(files / "in.npz", arg0=inputs["arg0"], arg1=inputs["arg1"])
    (files / "batches").mkdir()
    for step in range(2):
        batch = make_inputs(seed=10 + step)
        np.savez(files / "batches" / f"{step}.npz", arg2=batch["arg2"], arg3=batch["arg3"])
    options = ("--batches", files / "batches")
    expected, _ = outputs_of(files, *options)
    reports = ("--trace", files / "t.json", "--log", files / "l.jsonl")
    written, _ = outputs_of(files, *options, *reports, "--poison", *MPI)
    assert written == expected
    log = [json.loads(line) for line in (files / "l.jsonl").read_text().splitlines()]
    assert [entry["step"] for entry in log] == [1, 2]
    events = json.loads((files / "t.json").read_text())["traceEvents"]
    assert {event["pid"] for event in events} == {0, 1, 2, 3}
    transfers = [event for event in events if event["cat"] == "transfer"]
    assert len(transfers) == 2 * 3 * 4 + 4  # as with threads


def compiled(tmp_path, source, cluster, strategy, *options):
    tools.compile_step(source, tmp_path / "step.so", cluster, strategy, options=options)
    return tmp_path / "step.so"


def expect_equal_transports(tmp_path, step, inputs, monkeypatch):
    """Ten steps, with whole messages and in chunks of 1000 elements."""
    contents = []
    for name, chunk in (("threads", None), ("mpi", None), ("mpi", "4000")):
        if chunk:
            monkeypatch.setenv("AMSP_MPI_CHUNK_BYTES", chunk)
        tools.run_step(
            step, inputs, tmp_path / "out.npz", 10, "--transport", name, timeout=120
        )
        contents.append((tmp_path / "out.npz").read_bytes())
    assert contents[0] == contents[1]
    assert contents[0] == contents[2]


INT8 = ("--quantize-gathers", "--quantize-reductions")
CASES = [
    ("mlp_momentum", "levels=2x2", "zero3", ()),
    ("mlp_momentum", "levels=2x2", "zero3", INT8),
    ("gpt_accumulate", "levels=2x2", "p=1,g=2x1,os=2x2", ()),
    ("gpt_accumulate", "levels=4", "zero3", ()),
]


@pytest.mark.needs_tools
@pytest.mark.skipif(
    not jobs.cases_directory().is_dir(),
    reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
)
@pytest.mark.parametrize("case, cluster, strategy, options", CASES)
def test_compiled_steps_give_the_bits_of_threads(
    tmp_path, monkeypatch, case, cluster, strategy, options
):
    directory = jobs.cases_directory() / case
    step = compiled(tmp_path, directory / "step.mlir", cluster, strategy, *options)
    expect_equal_transports(tmp_path, step, directory / "inputs.npz", monkeypatch)


@pytest.mark.needs_tools
def test_odd_sizes_give_the_bits_of_threads(tmp_path, monkeypatch):
    ready = steps.prepared("odd_sizes", tmp_path)
    step = compiled(tmp_path, ready.directory / "step.mlir", "levels=3", "zero3")
    expect_equal_transports(
        tmp_path, step, ready.directory / "inputs.npz", monkeypatch
    )


def test_transfers_proceed_during_computation(tmp_path):
    """The computation takes 200 ms, and a transfer that is sent in it does not
    wait for its end."""
    np.savez(tmp_path / "in.npz", arg0=np.ones(262144, np.float32))
    trace = ("--trace", tmp_path / "t.json")
    result = run_files(tmp_path, "--steps", 5, *trace, *MPI, step=OVERLAP)
    assert result.returncode == 0, result.stderr
    events = json.loads((tmp_path / "t.json").read_text())["traceEvents"]
    for category in ("transfer", "await"):
        times = [
            event["dur"] / 1000
            for event in events
            if event["cat"] == category and event["name"] == "reduce.w"
        ]
        assert len(times) == 5 * 4
        assert np.median(times) < 100, category
    assert np.load(tmp_path / "out.npz")["out0"][0] == 4**5


@pytest.mark.parametrize("rank", [0, 2])
def test_a_failing_rank_is_named(files, rank):
    result = run_files(files, "--inject-fault", f"{rank},reduce.w,fail", *MPI)
    expect_error(files, result, f"rank {rank}, ", "'reduce.w' (id 1)", "injected failure")


@pytest.mark.parametrize("rank", [0, 3])
def test_a_stalled_rank_is_named(files, rank):
    fault = ("--inject-fault", f"{rank},gather.w,stall", "--stall-limit", 0.5)
    begin = time.monotonic()
    result = run_files(files, *fault, *MPI)
    expect_error(files, result, f"rank {rank}, ", "'gather.w' (id 0)", "waited 0.5 s")
    assert time.monotonic() - begin < 6


def process_of(rank, outputs):
    """The process id of a running rank that writes `outputs`."""
    variable = f"OMPI_COMM_WORLD_RANK={rank}".encode()
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            environment = (process / "environ").read_bytes().split(b"\0")
            arguments = (process / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue  # it ended, or is not ours
        if variable in environment and str(outputs).encode() in arguments:
            return int(process.name)
    return None


def run_and_signal(files, rank, number, *options):
    """Sends a signal to a rank in the middle of a run. Also the time from then
    to the end."""
    log = files / "log.jsonl"
    arguments = run_arguments(STEP, files / "in.npz", files / "out.npz")
    process = subprocess.Popen(
        [*arguments, "--steps", "10000000", "--quiet", "--log", log, *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        deadline = time.monotonic() + 30
        while not (log.exists() and log.stat().st_size):
            assert time.monotonic() < deadline, "the run does not begin"
            time.sleep(0.05)
        os.kill(process_of(rank, files / "out.npz"), number)
        begin = time.monotonic()
        stdout, stderr = process.communicate(timeout=30)
    finally:
        process.kill()
    log.unlink()
    result = subprocess.CompletedProcess([], process.returncode, stdout, stderr)
    return result, time.monotonic() - begin


@pytest.mark.parametrize("rank", [0, 2])
def test_a_killed_rank_is_named(files, rank):
    result, seconds = run_and_signal(files, rank, signal.SIGKILL)
    expect_error(files, result, f"rank {rank}, collective '", "its process ended")
    assert seconds < 5


@pytest.mark.parametrize("rank, options", [(0, ()), (1, ("--stall-limit", "1"))])
def test_a_stopped_rank_is_named_within_ten_seconds(files, rank, options):
    result, seconds = run_and_signal(files, rank, signal.SIGSTOP, *options)
    expect_error(files, result, f"rank {rank}, collective '", "does not answer")
    assert seconds < 10


def test_another_world_than_compiled_for(files):
    arguments = run_arguments(STEP, files / "in.npz", files / "out.npz")
    expect_error(files, mpirun("-np", 3, *arguments), "compiled for 4 ranks", "started 3")


def test_a_launcher_without_the_transport(files):
    arguments = run_arguments(STEP, files / "in.npz", files / "out.npz")[: -len(MPI)]
    expect_error(files, mpirun("-np", 4, *arguments), "started 4 processes", "--transport mpi")


def test_a_rank_without_its_input(files):
    good = run_arguments(STEP, files / "in.npz", files / "out.npz")
    bad = run_arguments(STEP, files / "none.npz", files / "out.npz")
    result = mpirun("-np", 3, *good, ":", "-np", 1, *bad)
    expect_error(files, result, "none.npz", "No such file")


@pytest.mark.needs_tools
@pytest.mark.skipif(
    not jobs.cases_directory().is_dir(),
    reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
)
def test_different_programs_are_refused(tmp_path):
    case = jobs.cases_directory() / "mlp_momentum"
    programs = []
    for strategy in ("zero1", "zero3"):
        step = tmp_path / f"{strategy}.so"
        tools.compile_step(case / "step.mlir", step, "levels=4", strategy)
        programs.append(run_arguments(step, case / "inputs.npz", tmp_path / "out.npz"))
    result = mpirun("-np", 3, *programs[0], ":", "-np", 1, *programs[1])
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1, result.stderr
    assert result.stderr.startswith("error: rank 3: runs another program than rank 0")
    hashes = {tools.manifest(program[1])["program_hash"] for program in programs}
    assert all(text in result.stderr for text in hashes)
    lists = [tools.manifest(program[1])["collectives"] for program in programs]
    first = next(i for i, (a, b) in enumerate(zip(*lists)) if a != b)
    for entries, where in zip(lists, ("on rank 0 ", f"collective number {first + 1} is ")):
        named = f"'{entries[first]['name']}' (id {first}, {entries[first]['kind']} of "
        assert where + named in result.stderr
    assert not (tmp_path / "out.npz").exists()


def test_outputs_that_cannot_be_written(files):
    (files / "batches").mkdir()  # a directory in the place of the file
    arguments = run_arguments(STEP, files / "in.npz", files / "batches")
    result = subprocess.run(arguments, capture_output=True, text=True, timeout=60)
    expect_error(files, result, "batches")


def test_a_chunk_that_is_none(files, monkeypatch):
    monkeypatch.setenv("AMSP_MPI_CHUNK_BYTES", "3")
    expect_error(files, run_files(files, *MPI), "AMSP_MPI_CHUNK_BYTES=3", "8 to")


def test_no_mpirun(files, monkeypatch):
    monkeypatch.setenv("PATH", str(files))
    expect_error(files, run_files(files, *MPI), "no mpirun in PATH")


def test_threads_do_not_load_mpi(files):
    code = "import subprocess, sys; subprocess.run(sys.argv[1:], check=True)"
    arguments = [TOOL, STEP, "--inputs", files / "in.npz", "--outputs", files / "out.npz"]
    loaded = subprocess.run(
        ["python3", "-c", code, *map(str, arguments)],
        env=os.environ | {"LD_DEBUG": "libs"},
        capture_output=True,
        text=True,
        timeout=60,
    ).stderr
    assert "libamsp_runtime.so" in loaded
    assert "libmpi" not in loaded and "libamsp_runtime_mpi" not in loaded
