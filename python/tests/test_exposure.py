"""What amsp.exposure says of timelines made by hand."""

import json

import pytest

from amsp import exposure


def event(category, begin, end, rank=0, **args):
    return {
        "ph": "X",
        "name": args.get("unit", category),
        "cat": category,
        "pid": rank,
        "ts": begin,
        "dur": end - begin,
        "args": args,
    }


def collective(id, unit, started, transfer, awaited, channel="gather", link=None):
    args = {"id": id, "unit": unit, "channel": channel}
    moved = args if link is None else args | {"link_us": link}
    return [
        event("start", started - 10, started, **args),
        event("transfer", *transfer, **moved),
        event("await", *awaited, **args),
    ]


def one_step(*events, end=50_000):
    (step,) = exposure.steps({"traceEvents": [event("step", 0, end), *events]})
    return step


def test_parts_of_a_wait():
    step = one_step(
        *collective(0, "a", 100, (100, 8000), (100, 8000)),
        # Started at once, its turn is at 8000; a member comes 2000 later; the
        # links take 5000; the rank wakes up 500 after the end.
        *collective(1, "b", 150, (8000, 15000), (6000, 15500), link=5000),
    )
    first, second = exposure.waits(step)
    assert first.transfer.unit == "a" and first.total == 7900
    assert (second.queue, second.late, second.link) == (2000, 2000, 5000)
    assert second.wake == 500 and second.total == 9500
    assert second.busy == 8000 - 0 and second.pause is None


def test_causes_of_pauses():
    step = one_step(
        *collective(0, "a", 1000, (1000, 2000), (1500, 2000)),
        event("gemm", 2000, 9000),
        # Behind the await of b, which its bytes had to wait for.
        *collective(1, "b", 2000, (2001, 4000), (9000, 9010)),
        *collective(2, "c", 9030, (9040, 10000), (9500, 10000)),
        event("gemm", 10000, 20000),
        # Behind a computation.
        *collective(3, "d", 20020, (20030, 21000), (21000, 21001)),
        # Handed over long before it began.
        *collective(4, "e", 21100, (25000, 26000), (25500, 26000)),
    )
    pauses = exposure.pauses(step, "gather")
    assert [(p.next.unit, p.cause) for p in pauses] == [
        ("a", "at its turn"),
        ("c", "after 1 b"),
        ("d", "at its turn"),
        ("e", "wake-up"),
    ]
    assert [p.total for p in pauses] == [1000, 5040, 10030, 4000]
    (wait,) = exposure.waits(step, least=490)[-1:]
    assert wait.pause.cause == "wake-up" and wait.busy == 0


def test_runs_of_a_loop_belong_together():
    step = one_step(
        *collective(0, "a", 100, (100, 1000), (900, 1000)),
        *collective(0, "a", 2000, (2000, 3000), (2500, 3000)),
    )
    assert [wait.total for wait in exposure.waits(step)] == [100, 500]
    assert [t.started for t in step.transfers] == [100, 2000]


def test_predicted_timelines_have_no_starts():
    step = one_step(
        event("transfer", 0, 1000, id=0, channel="reduce", unit="a"),
        event("await", 400, 1000, id=0, channel="reduce", unit="a"),
        event("transfer", 5000, 6000, id=1, channel="reduce", unit="b"),
    )
    (pause,) = exposure.pauses(step, "reduce")
    assert pause.cause == "" and pause.total == 4000
    assert [wait.link for wait in exposure.waits(step)] == [600]


def test_the_report(tmp_path, monkeypatch, capsys):
    trace = tmp_path / "t.json"
    events = [
        event("step", 0, 20_000),
        *collective(0, "a", 100, (100, 8000), (100, 8000)),
        *collective(1, "b", 12_000, (12_000, 13_000), (12_500, 13_000), "reduce"),
    ]
    trace.write_text(json.dumps({"traceEvents": events}))
    monkeypatch.setattr("sys.argv", ["exposure", str(trace)])
    exposure.main()
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].split() == ["rank", "0:", "step", "of", "20.00", "ms"]
    assert printed[-3:] == [
        "gather: 7.90 ms exposed",
        "reduce: 0.50 ms exposed",
        "all: 8.40 ms exposed",
    ]
    assert any("reduce idle until 1 b at its turn" in line for line in printed)
    monkeypatch.setattr("sys.argv", ["exposure", str(trace), "--rank", "3"])
    with pytest.raises(SystemExit, match="no step -1 of rank 3"):
        exposure.main()


BAD = {
    "missing": (None, "No such file or directory"),
    "no text": (b"\xff\xfe", "codec can't decode"),
    "malformed": (b'{"traceEvents": [', "Expecting value: line 1 column 18"),
    "other JSON": (b'{"events": []}', "no timeline: it has no list 'traceEvents'"),
    "no object": (b"[]", "no timeline: it has no list 'traceEvents'"),
    "no rank": (b'{"traceEvents": [{"ph": "X"}]}', "an event without 'pid'"),
    "no event": (b'{"traceEvents": [1]}', "an event that amsp does not write"),
}


@pytest.mark.parametrize("text, reason", BAD.values(), ids=BAD)
def test_bad_files_give_one_line(tmp_path, monkeypatch, text, reason):
    trace = tmp_path / "t.json"
    if text is not None:
        trace.write_bytes(text)
    monkeypatch.setattr("sys.argv", ["exposure", str(trace)])
    with pytest.raises(SystemExit) as end:
        exposure.main()
    # A text as status is printed to stderr, and is status 1.
    assert end.value.code.startswith(f"error: {trace}: ")
    assert reason in end.value.code and "\n" not in end.value.code
