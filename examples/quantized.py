"""A byte-level GPT under ZeRO-3, its parameters gathered and its gradients summed as
int8 with a scale for each block, beside the exact step."""

import jax
import numpy as np
import side_by_side

import amsp
from amsp.models import gpt

CONFIG = gpt.Config(layers=2, width=64, heads=4, sequence=32, batch=16)
TEXT = open(__file__, "rb").read()
KINDS = {
    "exact": (),
    "int8 gathers": ("--quantize-gathers",),
    "and reductions": ("--quantize-gathers", "--quantize-reductions"),
}


def sent_bytes(run):
    """What a rank sends in a step for parameters and gradients."""
    moved = [c for c in run.manifest["collectives"] if c["parameters"] or c["unit"]]
    return sum(c["count"] * c["sent_bytes"] for c in moved)


def main(cluster, strategy, steps):
    step = gpt.train_step(CONFIG)
    params = gpt.init(CONFIG)
    state = (params, gpt.optimizer(CONFIG).init(params))
    batches = list(gpt.batches(CONFIG, TEXT, steps))
    runs, held = {}, {}
    for name, options in KINDS.items():
        runs[name] = amsp.compile(
            step,
            (*state, *batches[0]),
            batch_argnums=range(2, 2 + len(batches[0])),
            cluster=cluster,
            strategy=strategy,
            options=options,
        )
        held[name] = runs[name].shard(*state)
    print("step   one device " + "".join(f"{name:>16}" for name in KINDS))
    reference = jax.jit(step)
    for number, batch in enumerate(batches):
        *state, expected = reference(*state, *batch)
        losses = []
        for name, run in runs.items():
            *_, loss = run(*held[name], *batch)
            held[name] = run.state()
            losses.append(float(loss))
        columns = "".join(f"{loss:>16.6f}" for loss in losses)
        print(f"{number + 1:>4}   {float(expected):.6f}   {columns}")
        # Rounded parameters and gradients take a path of their own, close by.
        if not np.allclose(losses, expected, rtol=2e-2):
            raise SystemExit(f"error: the losses of step {number + 1} differ")
    for name, run in runs.items():
        print(f"{name}: {sent_bytes(run):.0f} bytes sent by a rank in a step")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__)))
