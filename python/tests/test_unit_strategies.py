"""A strategy of its own for each unit, in a plan file: numbers as one device's."""

import dataclasses
import itertools
import json
import math
import pathlib

import pytest

import jobs
import matrix
from amsp import check, tools

# Every grid, and each case where units meet: norms over all gradients (the gpt
# cases), gradients kept in pieces between microbatches (gpt_accumulate).
CHOSEN = [
    ("mlp_momentum", (1,), 0, "so"),
    ("mlp_momentum", (4, 2), 0, "so"),
    ("mlp_momentum", (3, 2), 1, "stablehlo"),
    ("gpt_adamw", (2,), 0, "stablehlo"),
    ("gpt_adamw", (3,), 2, "so"),
    ("gpt_adamw", (2, 2), 3, "so"),
    ("gpt_adamw", (2, 4), 5, "stablehlo"),
    ("gpt_masked_loss", (8,), 3, "stablehlo"),
    ("gpt_accumulate", (2, 2), 4, "so"),
    ("gpt_accumulate", (2, 3), 0, "stablehlo"),
]


def units_of(step: pathlib.Path, cluster: str, directory: pathlib.Path) -> list[str]:
    output = directory / "ddp.mlir"
    tools.compile_step(step, output, cluster, "ddp", emit="stablehlo")
    return list(jobs.manifest_of(output, "stablehlo")["units"])


def write_plan(path: pathlib.Path, units: dict[str, str], others="") -> pathlib.Path:
    lines = ["version: 1", *([f"strategy: {others}"] if others else [])]
    lines += ["units:", *(f"  {name}: {text}" for name, text in units.items())]
    path.write_text("\n".join(lines) + "\n")
    return path


@dataclasses.dataclass(frozen=True)
class MixedJob(jobs.Job):
    """Three steps of a case; its units take one strategy of the grid after the
    other, from the `first` on."""

    case: str
    grid: tuple
    first: int
    path: str

    def __str__(self):
        return f"{self.case}-{matrix.cluster(self.grid)}-{self.first}-{self.path}"

    def run(self, directory: pathlib.Path):
        directory.mkdir(parents=True)
        case = jobs.cases_directory() / self.case
        cluster = matrix.cluster(self.grid)
        units = units_of(case / "step.mlir", cluster, directory)
        strategies = itertools.islice(
            itertools.cycle(matrix.strategies(self.grid)), self.first, None
        )
        plan = write_plan(
            directory / "plan.yaml", dict(zip(units, strategies, strict=False))
        )
        return units, jobs.compile_and_run(
            case / "step.mlir",
            case / "inputs.npz",
            directory,
            cluster,
            plan,
            self.path,
            steps=3,
        )


JOBS = [MixedJob(*chosen) for chosen in CHOSEN]
needs_cases = pytest.mark.skipif(
    not jobs.cases_directory().is_dir(),
    reason=f"no {jobs.cases_directory()}; set AMSP_CASES_DIR",
)


@needs_cases
@pytest.mark.needs_tools
@pytest.mark.parametrize("job", JOBS, ids=str)
def test_ranks_equal_one_device(job, finished):
    units, (results, manifest) = finished
    assert not check.check_case(jobs.cases_directory() / job.case, results).faults
    assert sorted(manifest["units"]) == sorted(units) and len(units) > 1
    if job.grid != (1,):
        assert manifest["strategy"] is None
        assert len({json.dumps(s) for s in manifest["units"].values()}) > 1
    for argument in manifest["arguments"]:
        if argument["unit"] and argument["placement"]["kind"] == "flat":
            pieces = manifest["units"][argument["unit"]]["os"]
            digits = argument["placement"]["digits"]
            assert math.prod(pieces) == math.prod(n for _, n in digits)
