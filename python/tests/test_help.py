"""--help, its examples, the tools' page and the completion of options agree."""

import re
import shutil
import subprocess

import pytest

from amsp import tools

pytestmark = pytest.mark.needs_tools

TOOLS = ("amsp-compile", "amsp-plan", "amsp-profile", "amsp-run")
PAGE = tools.REPOSITORY / "docs" / "tools.md"
COMPLETION = tools.REPOSITORY / "scripts" / "completion.bash"


def help_of(tool):
    return tools.call(tool, "--help").stdout


def options_of(text):
    return set(re.findall(r"^  -{1,2}([a-z][\w-]*)", text, re.MULTILINE))


def calls_in(text):
    """(tool, options) of each call, without what is a comment."""
    for line in text.splitlines():
        words = line.split("#")[0].replace("=", " ").split()
        for number, word in enumerate(words):
            if word in TOOLS:
                options = [w.lstrip("-") for w in words[number:] if re.match(r"--?[a-z]", w)]
                yield word, options


@pytest.mark.parametrize("tool", TOOLS)
def test_help_teaches(tool):
    text = help_of(tool)
    examples = text.split("EXAMPLES:\n")[1].split("\n\n")[0]
    assert len(list(calls_in(examples))) >= 3
    assert "docs/tools.md" in text and f"USAGE: {tool} [options]" in text
    # Options under names, and of LLVM's own none.
    assert len(re.findall(r"^[A-Z][\w -]+:$", text, re.MULTILINE)) >= 3
    assert len(options_of(text)) < 50
    assert max(map(len, text.splitlines())) <= 130


@pytest.mark.parametrize("source", [*TOOLS, "tools.md"])
def test_calls_use_options_that_exist(source):
    text = PAGE.read_text() if source == "tools.md" else help_of(source)
    calls = list(calls_in(text))
    assert calls
    for tool, options in calls:
        known = options_of(help_of(tool))
        assert set(options) <= known, (tool, set(options) - known)


def test_the_page_tells_of_every_tool():
    page = PAGE.read_text()
    for tool in (*TOOLS, "amsp-opt", "amsp-lsp-server"):
        assert f"\n## {tool}\n" in page


@pytest.mark.parametrize("tool", TOOLS)
def test_completion_knows_every_option(tool):
    # As a shell completes `TOOL --`, with the tools in its PATH.
    script = f'source {COMPLETION}; _amsp_complete {tool} --; printf "%s\\n" "${{COMPREPLY[@]}}"'
    binaries = tools.REPOSITORY / "build" / "bin"
    done = subprocess.run(
        [shutil.which("bash"), "-c", script],
        env={"PATH": f"{binaries}:/usr/bin:/bin"},
        capture_output=True,
        text=True,
        check=True,
    )
    offered = {line.lstrip("-") for line in done.stdout.split()}
    assert offered == options_of(help_of(tool))
