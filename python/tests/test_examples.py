"""Every example trains, and agrees with one device; it says so itself."""

import dataclasses
import pathlib
import subprocess
import sys

import pytest

import jobs

pytestmark = pytest.mark.needs_tools

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "side_by_side")


@dataclasses.dataclass(frozen=True)
class ExampleJob(jobs.Job):
    name: str
    options: tuple[str, ...] = ()

    def __str__(self):
        return "-".join((self.name, *self.options))

    def run(self, directory: pathlib.Path) -> subprocess.CompletedProcess:
        command = [sys.executable, EXAMPLES / f"{self.name}.py", "--steps", "4", *self.options]
        return subprocess.run(command, capture_output=True, text=True, timeout=300)


JOBS = [ExampleJob(name) for name in NAMES] + [ExampleJob("accumulate", ("--rows", "every"))]
# What examples print besides losses, of 4 steps.
PRINTED = {
    "ema_weights": "of the average on held-out rows: ",
    "mixed_precision": "loss scale: 512.0",
    "multi_steps": "updates: 2 of 4 steps",
    # Norms and the loss; no gradient among them.
    "lamb": "bytes of all-reduces: 84\n",
}


@pytest.mark.parametrize("job", JOBS, ids=str)
def test_example(job, finished):
    assert finished.returncode == 0, finished.stderr
    assert len([line for line in finished.stdout.splitlines() if line[:4] == "   4"]) == 1
    assert PRINTED.get(job.name, "") in finished.stdout


def test_the_page_lists_them():
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"[`{name}.py`]({name}.py)" in page for name in NAMES)
