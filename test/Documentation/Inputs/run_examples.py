"""run_examples.py AMSP-OPT PASSES.md...: the examples in descriptions of passes.

An example is a block of IR, "becomes", and a second one. Where the first is
whole (it defines a function), the pass runs on it, and must give the second.
A first line `// --pass=options` gives the options; files are named from the
root of the sources. Prints each pass that was
run, then those whose example is a fragment.
"""

import difflib
import pathlib
import re
import shlex
import subprocess
import sys

PASS = re.compile(r"^### `-([\w-]+)`$", re.MULTILINE)
EXAMPLE = re.compile(
    r"^```mlir\n(.*?)^```\n\s*becomes\n\s*```mlir\n(.*?)^```$", re.MULTILINE | re.DOTALL
)
ROOT = pathlib.Path(__file__).parents[3]
OPTIONS = re.compile(r"\A// (--\S.*)\n")


def printed(amsp_opt: str, ir: str, *options: str) -> str:
    command = [amsp_opt, "-", *options]
    done = subprocess.run(command, input=ir, capture_output=True, text=True, cwd=ROOT)
    if done.returncode:
        raise ValueError(f"{' '.join(command)}:\n{done.stderr}\non\n{ir}")
    return done.stdout


def examples(page: pathlib.Path):
    text = page.read_text()
    names = list(PASS.finditer(text))
    ends = [match.start() for match in names[1:]] + [len(text)]
    for match, end in zip(names, ends):
        for example in EXAMPLE.finditer(text, match.end(), end):
            yield match[1], example[1], example[2]


def check(amsp_opt: str, name: str, before: str, after: str) -> bool:
    """Compares what the printer makes of both, so that layout is free."""
    given = OPTIONS.match(before)
    options = shlex.split(given[1]) if given else [f"--{name}"]
    got, want = printed(amsp_opt, before, *options), printed(amsp_opt, after)
    difference = difflib.unified_diff(
        want.splitlines(), got.splitlines(), "description", name, lineterm=""
    )
    lines = list(difference)
    print(*(lines or [f"ran {name}"]), sep="\n")
    return not lines


def main() -> int:
    amsp_opt, *pages = sys.argv[1:]
    ok, fragments = True, []
    for page in map(pathlib.Path, pages):
        for name, before, after in examples(page):
            if "func.func" not in before:
                fragments.append(name)
                continue
            try:
                ok &= check(amsp_opt, name, before, after)
            except ValueError as error:
                print(f"{name}: {error}")
                ok = False
    print("fragments:", *fragments)
    return not ok


if __name__ == "__main__":
    sys.exit(main())
