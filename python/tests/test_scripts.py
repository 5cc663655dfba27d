"""How scripts/test.sh counts tests."""

import importlib.util
import json
import pathlib

SCRIPTS = pathlib.Path(__file__).resolve().parents[2] / "scripts"


def counted(directory):
    spec = importlib.util.spec_from_file_location(
        "count_tests", SCRIPTS / "count_tests.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.count(directory)


def write(path, content):
    path.write_text(content if isinstance(content, str) else json.dumps(content))


def test_lit(tmp_path):
    codes = "PASS XFAIL FAIL XPASS TIMEOUT UNRESOLVED UNSUPPORTED SKIPPED".split()
    write(tmp_path / "lit.json", {"tests": [{"code": code} for code in codes]})
    assert counted(tmp_path) == (2, 4, 2)


GTEST = {
    "tests": 3,
    "testsuites": [
        {
            "testsuite": [
                {"status": "RUN", "result": "COMPLETED"},
                {"status": "RUN", "result": "COMPLETED", "failures": [{}]},
                {"status": "RUN", "result": "SKIPPED"},
                {"status": "NOTRUN", "result": "SUPPRESSED"},
            ]
        }
    ],
}


def test_gtest(tmp_path):
    write(tmp_path / "a.json", GTEST)
    write(tmp_path / "b.json", GTEST)
    assert counted(tmp_path) == (2, 2, 4)


def test_gtest_under_lit_is_counted_once(tmp_path):
    write(tmp_path / "a.json", GTEST)
    write(tmp_path / "lit.json", {"tests": [{"code": "PASS"}]})
    assert counted(tmp_path) == (1, 0, 0)


def test_pytest(tmp_path):
    write(
        tmp_path / "pytest.xml",
        "<testsuites><testsuite><testcase/><testcase><failure/></testcase>"
        "<testcase><error/></testcase><testcase><skipped/></testcase>"
        "</testsuite></testsuites>",
    )
    assert counted(tmp_path) == (1, 2, 1)


def test_nothing(tmp_path):
    assert counted(tmp_path) == (0, 0, 0)
