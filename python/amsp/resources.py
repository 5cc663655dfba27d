"""What a command took: processor time and peak memory."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import NamedTuple


class Usage(NamedTuple):
    status: int  # as subprocess has it: -N for an end by signal N
    output: str  # both streams, in the order of writing
    user_seconds: float  # of processor time, the command's own children included
    peak_bytes: int  # of resident memory, of its largest process


# Linux counts the memory of the process that starts a command among the
# command's own peak. So this small one starts it, and not the caller, which
# may hold gigabytes. It writes what it found to the descriptor argv[1].
_STARTER = """
import json, os, resource, subprocess, sys
status = subprocess.run(sys.argv[2:]).returncode
usage = resource.getrusage(resource.RUSAGE_CHILDREN)
found = status, usage.ru_utime, usage.ru_maxrss * 1024
os.write(int(sys.argv[1]), json.dumps(found).encode())
"""


def measure(command: Sequence) -> Usage:
    """Runs the command to its end, whatever its status."""
    reader, writer = os.pipe()
    with open(reader) as found:
        try:
            done = subprocess.run(
                [sys.executable, "-I", "-S", "-c", _STARTER, str(writer)]
                + [str(argument) for argument in command],
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                pass_fds=[writer],
            )
        finally:
            os.close(writer)
        text = found.read()
    if not text:
        raise RuntimeError(done.stdout.strip() or f"{command[0]} was not started")
    status, seconds, peak = json.loads(text)
    return Usage(status, done.stdout, seconds, peak)
