"""Where a step's communication is exposed and why, read off a timeline.

    .venv/bin/python -m amsp.exposure T.json [--rank R] [--step N] [--least-us N]

Reads what `amsp-run --trace` and `amsp-plan --timeline` write. Prints, for one
step of one rank, each await that waits longer than --least-us and each time at
least as long at which a channel has nothing to move, in the order of time.

A wait has parts: what was moved before on the channel (queue), a member that
began later (late), the links (link), and from the transfer's end to the await's
(wake). Its last column is the cause: how long the channel had been busy without
a pause, and what ended the pause before.

A pause ends with a start. That comes `after NAME` if it follows the await of
NAME, of the same channel, with no computation between: the bytes in flight did
not allow it before. It is `at its turn` if it comes from the program elsewhere.
Where the transfer had been started before, the channel was slow to begin
(`wake-up`). Predicted timelines have no starts, so causes are empty there.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
import pathlib
import sys

# A channel that takes up the next transfer makes a pause shorter than this.
TURN_US = 300.0


@dataclasses.dataclass
class Transfer:
    """One run of a collective; times in microseconds, None where not traced."""

    id: int
    name: str
    channel: str
    unit: str | None
    begin: float
    end: float
    link: float | None = None
    started: float | None = None  # handed to the channel
    needed: float | None = None  # the await begins
    taken: float | None = None  # and ends

    @property
    def label(self) -> str:
        return f"{self.id} {self.unit or self.name}"


@dataclasses.dataclass
class Wait:
    transfer: Transfer
    queue: float
    late: float
    link: float
    wake: float
    busy: float  # for how long the channel had moved without a pause
    pause: Pause | None  # the one before

    @property
    def total(self) -> float:
        return self.transfer.taken - self.transfer.needed


@dataclasses.dataclass
class Pause:
    channel: str
    begin: float
    end: float
    next: Transfer
    cause: str

    @property
    def total(self) -> float:
        return self.end - self.begin


@dataclasses.dataclass
class Step:
    """What one rank did in one step."""

    rank: int
    begin: float
    end: float
    events: list[dict]  # in the order of their begin
    transfers: list[Transfer]  # in the order of their begin

    def of_channel(self, channel: str) -> list[Transfer]:
        return [t for t in self.transfers if t.channel == channel]


def _end(event: dict) -> float:
    return event["ts"] + event["dur"]


def _transfers(events: list[dict]) -> list[Transfer]:
    """Runs of one collective follow each other, so that its n-th start, transfer
    and await belong together."""
    runs = collections.defaultdict(list)
    for event in events:
        if event["cat"] == "transfer":
            args = event["args"]
            runs[args["id"]].append(
                Transfer(
                    id=args["id"],
                    name=event["name"],
                    channel=args["channel"],
                    unit=args.get("unit"),
                    begin=event["ts"],
                    end=_end(event),
                    link=args.get("link_us"),
                )
            )
    counts = collections.Counter()
    for event in events:
        if event["cat"] not in ("start", "await"):
            continue
        key = event["cat"], event["args"]["id"]
        if counts[key] == len(runs[key[1]]):
            continue  # a group of one rank moves nothing
        transfer = runs[key[1]][counts[key]]
        counts[key] += 1
        if event["cat"] == "start":
            transfer.started = _end(event)
        else:
            transfer.needed, transfer.taken = event["ts"], _end(event)
    found = [transfer for of_one in runs.values() for transfer in of_one]
    return sorted(found, key=lambda t: (t.begin, t.id))


def steps(trace: dict) -> list[Step]:
    """All steps of all ranks, by rank, then in time."""
    by_rank = collections.defaultdict(list)
    for event in trace["traceEvents"]:
        if event.get("ph") == "X":
            by_rank[event["pid"]].append(event)
    found = []
    for rank, events in sorted(by_rank.items()):
        events.sort(key=lambda e: e["ts"])
        for step in events:
            if step["cat"] != "step":
                continue
            inside = [
                e for e in events if step["ts"] <= e["ts"] <= _end(step) and e is not step
            ]
            transfers = _transfers(inside)
            found.append(Step(rank, step["ts"], _end(step), inside, transfers))
    return found


def _start_cause(step: Step, transfer: Transfer, idle_since: float) -> str:
    """Why a channel that was idle did not begin a transfer before."""
    if transfer.started is None:
        return ""
    if transfer.started < transfer.begin - TURN_US:
        return "wake-up"
    before = [
        t
        for t in step.of_channel(transfer.channel)
        if t.taken is not None and idle_since <= t.taken <= transfer.started
    ]
    if before:
        last = max(before, key=lambda t: t.taken)
        computed = any(
            e["cat"] in ("gemm", "compute") and last.taken <= e["ts"] < transfer.started
            for e in step.events
        )
        if not computed:
            return f"after {last.label}"
    return "at its turn"


def pauses(step: Step, channel: str, least: float = TURN_US) -> list[Pause]:
    """Times of `least` microseconds at which the channel had nothing to move,
    from the step's begin to its last transfer."""
    found, idle_since = [], step.begin
    for transfer in step.of_channel(channel):
        if transfer.begin - idle_since >= least:
            cause = _start_cause(step, transfer, idle_since)
            found.append(Pause(channel, idle_since, transfer.begin, transfer, cause))
        idle_since = max(idle_since, transfer.end)
    return found


def waits(step: Step, least: float = 0) -> list[Wait]:
    """The awaits of at least so many microseconds, in time."""
    of_channel = {c: pauses(step, c) for c in {t.channel for t in step.transfers}}
    found = []
    for transfer in step.transfers:
        if transfer.needed is None or transfer.taken - transfer.needed < least:
            continue

        def inside(begin: float, end: float, transfer: Transfer = transfer) -> float:
            begin, end = max(begin, transfer.needed), min(end, transfer.taken)
            return max(0.0, end - begin)

        all_began = transfer.begin
        # Predicted members are never late; their transfers share the links.
        if transfer.link is not None and transfer.started is not None:
            all_began = max(transfer.begin, transfer.end - transfer.link)
        pause = None
        for each in of_channel[transfer.channel]:
            if each.end <= transfer.begin:
                pause = each
        busy_since = pause.end if pause else step.begin
        found.append(
            Wait(
                transfer,
                queue=inside(transfer.needed, transfer.begin),
                late=inside(transfer.begin, all_began),
                link=inside(all_began, transfer.end),
                wake=inside(transfer.end, transfer.taken),
                busy=max(0.0, transfer.begin - busy_since),
                pause=pause,
            )
        )
    return sorted(found, key=lambda wait: wait.transfer.needed)


def _ms(microseconds: float) -> str:
    return f"{microseconds / 1e3:8.2f}"


def report(step: Step, least: float) -> list[str]:
    """The lines that the program prints."""
    lines = [f"rank {step.rank}: step of{_ms(step.end - step.begin)} ms"]
    lines.append(
        "      at     ms   queue     late     link     wake  (waits)   (ms, from the step's begin)"
    )
    rows = []
    for wait in waits(step, least):
        parts = " ".join(map(_ms, (wait.queue, wait.late, wait.link, wait.wake)))
        cause = ""
        if wait.pause and wait.pause.cause:
            cause = f"; busy for {wait.busy / 1e3:.1f}, begun {wait.pause.cause}"
        text = f"{_ms(wait.total)} {parts}  {wait.transfer.channel} {wait.transfer.label}{cause}"
        rows.append((wait.transfer.needed, text))
    for channel in sorted({t.channel for t in step.transfers}):
        for pause in pauses(step, channel, least):
            text = f"{_ms(pause.total)} {'':35}  {channel} idle until {pause.next.label}"
            rows.append((pause.begin, f"{text} {pause.cause}".rstrip()))
    lines += [f"{_ms(at - step.begin)}{text}" for at, text in sorted(rows)]
    total = sum(wait.total for wait in waits(step))
    for channel in sorted({t.channel for t in step.transfers}):
        of_channel = [w for w in waits(step) if w.transfer.channel == channel]
        exposed = sum(w.total for w in of_channel)
        lines.append(f"{channel}: {_ms(exposed).strip()} ms exposed")
    lines.append(f"all: {_ms(total).strip()} ms exposed")
    return lines


def read(path: pathlib.Path) -> list[Step]:
    """All steps of a timeline's file. Raises OSError, and ValueError for what is
    no timeline; both begin with the file's path."""
    try:
        trace = json.loads(path.read_text())
    except OSError as error:
        raise OSError(f"{path}: {error.strerror}") from None
    except ValueError as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(trace, dict) or not isinstance(trace.get("traceEvents"), list):
        raise ValueError(f"{path}: no timeline: it has no list 'traceEvents'")
    try:
        return steps(trace)
    except KeyError as error:
        raise ValueError(f"{path}: an event without {error}") from None
    except (AttributeError, TypeError):
        raise ValueError(f"{path}: an event that amsp does not write") from None


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trace", type=pathlib.Path)
    parser.add_argument("--rank", type=int, default=0)
    parser.add_argument("--step", type=int, default=-1, help="default: the last")
    parser.add_argument("--least-us", type=float, default=500)
    given = parser.parse_args()
    try:
        of_rank = [s for s in read(given.trace) if s.rank == given.rank]
    except (OSError, ValueError) as error:
        sys.exit(f"error: {error}")
    try:
        step = of_rank[given.step]
    except IndexError:
        sys.exit(f"error: {given.trace} has no step {given.step} of rank {given.rank}")
    print("\n".join(report(step, given.least_us)))


if __name__ == "__main__":
    main()
