#!/usr/bin/env python3
"""count_tests.py DIRECTORY: prints "PASSED FAILED SKIPPED" of the result files
that the test programs wrote there: lit's and gtest's JSON, pytest's JUnit XML.
"""

import json
import pathlib
import sys
import xml.etree.ElementTree

LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}


def count_lit(report):
    codes = [test["code"] for test in report["tests"]]
    passed = sum(code in LIT_PASSED for code in codes)
    skipped = sum(code in LIT_SKIPPED for code in codes)
    return passed, len(codes) - passed - skipped, skipped


def count_gtest(report):
    cases = [case for suite in report["testsuites"] for case in suite["testsuite"]]
    failed = sum(bool(case.get("failures")) for case in cases)
    skipped = sum(
        case.get("status") == "NOTRUN" or case.get("result") == "SKIPPED"
        for case in cases
    )
    return len(cases) - failed - skipped, failed, skipped


def count_junit(path):
    cases = list(xml.etree.ElementTree.parse(path).iter("testcase"))
    failed = sum(
        any(child.tag in ("failure", "error") for child in case) for case in cases
    )
    skipped = sum(any(child.tag == "skipped" for child in case) for case in cases)
    return len(cases) - failed - skipped, failed, skipped


def count_file(path):
    if path.suffix == ".xml":
        return count_junit(path)
    report = json.loads(path.read_text())
    return count_lit(report) if "tests" in report and "testsuites" not in report else count_gtest(report)


def count(directory):
    files = sorted(pathlib.Path(directory).glob("*.json"))
    # gtest under lit is counted once, by lit.
    lit = [path for path in files if path.name == "lit.json"]
    files = (lit or files) + sorted(pathlib.Path(directory).glob("*.xml"))
    counts = [count_file(path) for path in files]
    return tuple(map(sum, zip(*counts))) if counts else (0, 0, 0)


if __name__ == "__main__":
    print(*count(sys.argv[1]))
