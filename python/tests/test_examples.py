"""Every example trains, and agrees with one device; it says so itself."""

import pathlib
import subprocess
import sys

import pytest

pytestmark = pytest.mark.needs_tools

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
NAMES = sorted(path.stem for path in EXAMPLES.glob("*.py") if path.stem != "side_by_side")


@pytest.mark.parametrize("name", NAMES)
def test_example(name):
    command = [sys.executable, EXAMPLES / f"{name}.py", "--steps", "4"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert len([line for line in done.stdout.splitlines() if line[:4] == "   4"]) == 1
    if name == "mixed_precision":
        assert "loss scale: 512.0" in done.stdout


def test_the_page_lists_them():
    page = (EXAMPLES / "README.md").read_text()
    assert all(f"[`{name}.py`]({name}.py)" in page for name in NAMES)
