"""Writes the page of a tool in docs/reference from what its --help says.

    tool_page.py TOOL OUT.md
"""

import pathlib
import re
import subprocess
import sys

OPTION = re.compile(r"  (-{1,2}\S.*?) +- (.*)")
VALUE = re.compile(r"    =(\S+) +- *(.*)")


def parse(text):
    """The overview, the examples, the usage, and (group, [(option, text)])."""
    head, _, options = text.partition("\nOPTIONS:\n")
    overview, _, rest = head.partition("\n\nEXAMPLES:\n")
    examples, _, rest = rest.partition("\n\n")
    usage = rest.split("USAGE: ")[1].strip()
    groups = []
    for line in options.splitlines():
        if re.fullmatch(r"[A-Z][\w -]*:", line):
            groups.append((line[:-1], []))
        elif found := OPTION.fullmatch(line):
            groups[-1][1].append([found[1].strip(), found[2]])
        elif found := VALUE.fullmatch(line):
            groups[-1][1][-1][1] += f" `{found[1]}`"
        elif line.strip() and groups and groups[-1][1]:
            groups[-1][1][-1][1] += " " + line.strip()
    return overview.removeprefix("OVERVIEW: "), examples, usage, groups


def page(name, text):
    overview, examples, usage, groups = parse(text)
    lines = ["<!-- From --help, by scripts/tool_page.py; ninja amsp-doc renews it. -->"]
    lines += [f"# {name}", "", overview, "", "```", usage, "```", ""]
    lines += ["## Examples", "```", examples, "```", ""]
    lines += ["What goes in and comes out, and what is printed: [tools.md](../tools.md)."]
    for group, options in groups:
        if group == "Generic Options":
            continue
        lines += ["", f"## {group}", "| | |", "|---|---|"]
        for option, description in options:
            cells = (f"`{option}`", description)
            lines.append("| " + " | ".join(c.replace("|", "\\|") for c in cells) + " |")
    return "\n".join(lines) + "\n"


def main():
    tool, output = sys.argv[1:]
    text = subprocess.run([tool, "--help"], capture_output=True, text=True, check=True).stdout
    pathlib.Path(output).write_text(page(pathlib.Path(tool).name, text))


if __name__ == "__main__":
    main()
