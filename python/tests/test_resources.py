"""What a command took is its own, whatever its caller holds."""

import signal
import sys

import numpy as np
import pytest

from amsp import resources


def test_memory_of_the_caller_is_not_counted():
    held = np.ones(2**27, np.uint8)  # 128 MiB
    usage = resources.measure([sys.executable, "-c", "print('x')"])
    assert usage.output == "x\n"
    assert usage.status == 0
    assert 2**20 < usage.peak_bytes < held.nbytes


def test_memory_and_time_of_the_command_are():
    program = "x = b'1' * 2**28; [hash(str(i)) for i in range(500_000)]"
    usage = resources.measure([sys.executable, "-c", program])
    assert usage.peak_bytes > 2**28
    assert usage.user_seconds > 0.01


def test_a_status_is_handed_on():
    assert resources.measure(["false"]).status == 1
    program = f"import os; os.kill(os.getpid(), {int(signal.SIGKILL)})"
    assert resources.measure([sys.executable, "-c", program]).status == -9


def test_a_missing_program():
    with pytest.raises(RuntimeError, match="no-such-program"):
        resources.measure(["no-such-program"])
