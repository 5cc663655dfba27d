"""Options and fixtures of all tests.

Tests that call the compiler's tools take most of the time, and each waits for
processes; so their jobs run ahead of them on all cores. A test that has a
parameter named `job` (a `jobs.Job`) finds its result in the fixture `finished`.
"""

import concurrent.futures
import os
import pathlib
import sys

import pytest

import jobs
from amsp import tools

TOOLS = ("amsp-compile", "amsp-run")


def missing_tools():
    return [name for name in TOOLS if tools.find(name) is None]


def pytest_configure(config):
    config.addinivalue_line("markers", "needs_tools: calls amsp-compile or amsp-run")


def needs_tools(item):
    return item.get_closest_marker("needs_tools") is not None


def pytest_collection_modifyitems(items):
    missing = missing_tools()
    if not missing:
        return
    # In continuous integration, a tool that was not built is a failure.
    if os.environ.get("CI"):
        raise pytest.UsageError(f"not built: {', '.join(missing)}")
    skip = pytest.mark.skip(reason=f"not built: {', '.join(missing)}")
    for item in filter(needs_tools, items):
        item.add_marker(skip)


@pytest.fixture(autouse=True)
def numbers_do_not_depend_on_other_tests():
    if harness := sys.modules.get("linalg_harness"):
        harness.RANDOM.bit_generator.state = harness.FIRST_STATE


class JobPool:
    def __init__(self, directory: pathlib.Path):
        self.directory = directory
        self.executor = concurrent.futures.ThreadPoolExecutor(os.cpu_count())
        self.futures = {}
        self.directories = {}

    def submit(self, job):
        if job not in self.futures:
            self.directories[job] = self.directory / f"job{len(self.futures)}"
            self.futures[job] = self.executor.submit(job.run, self.directories[job])

    def result(self, job):
        """What the job gives. If no thread has begun with it yet it runs here, where
        the test would wait for all that was submitted before."""
        self.submit(job)
        if self.futures[job].cancel():
            self.futures[job] = concurrent.futures.Future()
            try:
                self.futures[job].set_result(job.run(self.directories[job]))
            except Exception as error:
                self.futures[job].set_exception(error)
        return self.futures[job].result()


def skipped(item):
    return item.get_closest_marker("skip") or any(
        mark.args[0] for mark in item.iter_markers("skipif")
    )


@pytest.fixture(scope="session")
def job_pool(request, tmp_path_factory):
    pool = JobPool(tmp_path_factory.mktemp("jobs"))
    for item in request.session.items:
        job = getattr(item, "callspec", None) and item.callspec.params.get("job")
        if isinstance(job, jobs.Job) and not skipped(item):
            pool.submit(job)
    yield pool
    pool.executor.shutdown(cancel_futures=True)


@pytest.fixture
def finished(job, job_pool):
    return job_pool.result(job)
