"""A byte-level GPT with AdamW, a schedule, weight decay for matrices only,
clipping by the global norm, and gradients accumulated over microbatches."""

import jax
import numpy as np
import side_by_side

from amsp.models import gpt

CONFIG = gpt.Config(layers=2, width=64, heads=4, sequence=32, batch=16, microbatches=2)
TEXT = open(__file__, "rb").read()


def main(cluster, strategy, steps):
    params = gpt.init(CONFIG)
    state = (params, gpt.optimizer(CONFIG).init(params))
    batches = list(gpt.batches(CONFIG, TEXT, steps))
    run = side_by_side.train(
        gpt.train_step(CONFIG), state, batches.__getitem__, cluster, strategy, steps
    )
    whole = sum(np.asarray(leaf).nbytes for leaf in jax.tree.leaves(state))
    print(f"state: {whole} bytes on one device, {run.plan.state_bytes} on a rank")


if __name__ == "__main__":
    main(**vars(side_by_side.options(__doc__, strategy="p=1,g=2x1,os=2x2")))
