"""Where an exported step's lines come from in the program that made it."""

from __future__ import annotations

import re

PLACE = re.compile(r'"([^"]+)":(\d+):(\d+)')
REFERENCE = re.compile(r"#loc\d*")
DEFINITION = re.compile(r"^(#loc\d*) = loc\((.*)\)$")
FUNCTION = re.compile(r"^ *func\.func [^@]*@([\w.$-]+)\(")


class SourceLines:
    """Of a step's text with debug locations, as JAX writes it."""

    def __init__(self, text: str):
        self.lines = text.splitlines()
        found = (DEFINITION.match(line) for line in self.lines)
        self.locations = dict(match.groups() for match in found if match)

    def describe(self, number: int) -> str:
        """`file:line:column` of the user's program from which the line with the
        number, from 1 on, was made: its own, else that of the call of its function.
        Where nothing tells, the line's function and the op's number in it."""
        return self.place_of(number, set()) or self.number_of(number)

    def place_of(self, number: int, functions: set[str]) -> str | None:
        line = self.lines[number - 1]
        reference = re.search(r"loc\((#loc\d*)\)$", line)
        place = self.resolve(reference.group(1)) if reference else None
        function, _ = self.function_of(number)
        if place or not function or function in functions:
            return place
        call = re.compile(rf"\bcall @{re.escape(function)}\(")
        for caller, line in enumerate(self.lines, 1):
            if call.search(line):
                if place := self.place_of(caller, functions | {function}):
                    return place
        return None

    def resolve(self, reference: str) -> str | None:
        """The innermost place: a call site's callee comes first."""
        body = self.locations.get(reference, "")
        if place := PLACE.search(body):
            return ":".join(place.groups())
        # What it names is defined before it, so this ends.
        places = map(self.resolve, REFERENCE.findall(body))
        return next((place for place in places if place), None)

    def function_of(self, number: int) -> tuple[str | None, int]:
        """The function that the line is in, and its line."""
        for first in range(number, 0, -1):
            if match := FUNCTION.match(self.lines[first - 1]):
                return match.group(1), first
        return None, 0

    def number_of(self, number: int) -> str:
        function, first = self.function_of(number)
        if function is None:
            return f"line {number} of the exported step"
        made = sum(" = " in line for line in self.lines[first:number])
        return f"@{function}, op {made}"


def in_the_program(message: str, path: str, text: str) -> str:
    """A tool's message about the exported step at the path, which is gone when it is
    read: places in it become those of the program."""
    source = SourceLines(text)

    def replace(match: re.Match) -> str:
        number = int(match.group(1))
        known = 0 < number <= len(source.lines)
        return source.describe(number) if known else "the exported step"

    message = re.sub(rf"{re.escape(path)}:(\d+):\d+", replace, message)
    return message.replace(path, "the exported step")
