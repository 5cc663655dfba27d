"""What a step may take if its communication overlaps with its computation, from a
timeline of it: what `amsp-run --trace` or `amsp-plan --timeline` wrote, as
`amsp.exposure.steps` reads it. All times are in microseconds.

The bound is the sum over forward, backward and update of the larger of
computation and communication, plus the first gather and the last reduction, which
have nothing to hide behind. Computation is the time that a phase takes without its
awaits; communication, what the links need for the transfers that the phase awaits,
of the busier channel, or of both if they share the links.
"""

from __future__ import annotations

import collections
import dataclasses

from . import exposure


@dataclasses.dataclass
class Phase:
    compute: float = 0
    gathers: float = 0
    reductions: float = 0

    def bound(self, is_shared: bool) -> float:
        both = self.gathers, self.reductions
        return max(self.compute, sum(both) if is_shared else max(both))


def _started(transfer: exposure.Transfer) -> float:
    return transfer.begin if transfer.started is None else transfer.started


def _awaited(transfer: exposure.Transfer) -> float:
    """When the rank is past the transfer's await. A predicted timeline has awaits
    only where the rank waits."""
    return transfer.end if transfer.taken is None else transfer.taken


def _awaits(step: exposure.Step) -> list[dict]:
    return [event for event in step.events if event["cat"] == "await"]


def split(step: exposure.Step) -> list[Phase]:
    """Forward, backward and update. Forward ends where the first gradient's
    reduction starts, backward where the last does; gradients are what the
    reductions of units move."""
    starts = [_started(t) for t in step.of_channel("reduce") if t.unit is not None]
    limits = [min(starts), max(starts), step.end]
    phases = [Phase(), Phase(), Phase()]

    def phase_at(time: float) -> Phase:
        before = min(time, step.end)
        return next(p for p, limit in zip(phases, limits, strict=True) if before <= limit)

    begin = step.begin
    for phase, limit in zip(phases, limits, strict=True):
        phase.compute = limit - begin
        begin = limit
    for event in _awaits(step):
        # An await belongs to the phase that it ends in.
        phase_at(event["ts"] + event["dur"]).compute -= event["dur"]
    for transfer in step.transfers:
        if transfer.channel == "gather":
            phase_at(_awaited(transfer)).gathers += transfer.link
        else:
            # What backward makes is to be reduced behind backward.
            phase_at(transfer.begin).reductions += transfer.link
    return phases


def ends(step: exposure.Step) -> float:
    """The first gather and the last reduction."""
    gathers, reductions = step.of_channel("gather"), step.of_channel("reduce")
    return sum(t.link for t in (*gathers[:1], *reductions[-1:]))


def bound(step: exposure.Step, is_shared: bool) -> float:
    return sum(phase.bound(is_shared) for phase in split(step)) + ends(step)


def largest_use(
    step: exposure.Step, channel: str, parameters: dict[int, list] | None = None
) -> float:
    """What the links need for a unit's parameters once, at most. A use of a unit
    ends where another one's begins, or where a parameter comes again: of those
    that `parameters` gives by id; without it, where a collective does."""
    largest, now, unit, moved = 0.0, 0.0, None, set()
    for transfer in step.of_channel(channel):
        if transfer.unit is None:
            continue
        own = set(parameters[transfer.id]) if parameters else {transfer.id}
        if transfer.unit != unit or own & moved:
            now, unit, moved = 0.0, transfer.unit, set()
        now += transfer.link
        moved |= own
        largest = max(largest, now)
    return largest


def exposed(ranks: list[exposure.Step], channel: str) -> float:
    """What one step's awaits of a channel cost, given what each rank did: of each
    transfer, the least that a rank waits. Whoever comes to an await first also waits
    for the ranks that compute longer, be it that they begin the transfer late or that
    they are late with one before it; the last one waits for the links alone."""
    least = {}
    for step in ranks:
        runs = collections.Counter()
        for transfer in step.of_channel(channel):
            key = transfer.id, runs[transfer.id]
            runs[transfer.id] += 1
            wait = transfer.taken - transfer.needed
            least[key] = min(wait, least.get(key, wait))
    return sum(least.values())
