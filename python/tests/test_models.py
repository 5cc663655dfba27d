"""Models from configurations: their loss against one written by the formulas in
float64, variants of the step against each other, and export without weights."""

import dataclasses
import json
import sys

import jax
import ml_dtypes
import numpy as np
import pytest

import steps
from amsp import export, reference, resources, tools
from amsp.models import gpt, gpt2, layout, llama
from amsp.models.language import LanguageModel
from amsp.models.training import AdamW, Training

LLAMA = {
    "model_type": "llama",
    "hidden_size": 16,
    "intermediate_size": 24,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "num_hidden_layers": 2,
    "vocab_size": 31,
    "rms_norm_eps": 1e-5,
}
LLAMA3 = {
    "rope_type": "llama3",
    "factor": 4.0,
    "low_freq_factor": 1.0,
    "high_freq_factor": 4.0,
    "original_max_position_embeddings": 32,
}
GPT2 = {"n_embd": 16, "n_head": 4, "n_layer": 2, "n_positions": 9, "vocab_size": 31}
FAST = AdamW(learning_rate=1e-2, warmup=0)
CONFIGS = tools.REPOSITORY / "examples" / "models"


def language_model(family, rows=4, training=Training(adamw=FAST), keys={}, **options):
    data = dict(LLAMA if family == "llama" else GPT2, **keys)
    data.pop("model_type", None)
    config = {"llama": llama, "gpt2": gpt2}[family].Config.from_keys(data)
    return LanguageModel(family, config, 7, rows, training, **options)


def tokens_of(model, seed=0):
    shape = (2, model.rows, model.sequence)
    ids = np.random.default_rng(seed).integers(0, model.config.vocab_size, shape)
    return ids.astype(np.int32)


# The formulas, one sequence and one head at a time.


def softmax(x):
    x = np.exp(x - x.max(-1, keepdims=True))
    return x / x.sum(-1, keepdims=True)


def causal_attention(q, k, v):
    """Of one head: [sequence, width] each."""
    scores = q @ k.T / np.sqrt(q.shape[1])
    scores[np.triu_indices(len(q), 1)] = -np.inf
    return softmax(scores) @ v


def cross_entropy(logits, targets):
    p = softmax(logits)
    return -np.mean(np.log(p[np.arange(len(targets)), targets]))


def llama3_frequencies(config):
    """As in the published code: by wave length, one at a time."""
    scaling, found = config.rope_scaling, []
    old = scaling["original_max_position_embeddings"]
    for i in range(0, config.head_dim, 2):
        frequency = config.rope_theta ** (-i / config.head_dim)
        wave = 2 * np.pi / frequency
        low, high = scaling["low_freq_factor"], scaling["high_freq_factor"]
        if wave > old / low:
            frequency /= scaling["factor"]
        elif wave > old / high:
            kept = (old / wave - low) / (high - low)
            frequency = (1 - kept) * frequency / scaling["factor"] + kept * frequency
        found.append(frequency)
    return np.array(found)


def rotated(x, frequencies):
    pairs = x.shape[1] // 2
    waves = x[:, :pairs] + 1j * x[:, pairs:]
    waves = waves * np.exp(1j * np.outer(np.arange(len(x)), frequencies))
    return np.concatenate([waves.real, waves.imag], 1)


def llama_loss(config, params, tokens, targets):
    def norm(scale, x):
        return x / np.sqrt((x**2).mean(-1, keepdims=True) + config.rms_norm_eps) * scale

    width = config.head_dim
    group = config.num_attention_heads // config.num_key_value_heads
    frequencies = config.rope_theta ** (-np.arange(0, width, 2) / width)
    if config.rope_scaling:
        frequencies = llama3_frequencies(config)
    x = params["embedding"][tokens]
    for p in params["layers"]:
        y, heads = norm(p["input_norm"], x), []
        for head in range(config.num_attention_heads):
            own = slice(head * width, (head + 1) * width)
            shared = slice(head // group * width, (head // group + 1) * width)
            q = rotated(y @ p["q"][:, own], frequencies)
            k = rotated(y @ p["k"][:, shared], frequencies)
            heads.append(causal_attention(q, k, y @ p["v"][:, shared]))
        x = x + np.concatenate(heads, 1) @ p["o"]
        y = norm(p["mlp_norm"], x)
        gate = y @ p["gate"]
        x = x + (gate / (1 + np.exp(-gate)) * (y @ p["up"])) @ p["down"]
    head = params["embedding"].T if config.tie_word_embeddings else params["head"]
    return cross_entropy(norm(params["norm"], x) @ head, targets)


def gpt2_loss(config, params, tokens, targets):
    def norm(p, x):
        x = x - x.mean(-1, keepdims=True)
        variance = (x**2).mean(-1, keepdims=True)
        return x / np.sqrt(variance + config.layer_norm_epsilon) * p["scale"] + p["bias"]

    def dense(p, x):
        return x @ p["w"] + p["b"]

    def gelu(x):
        return 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)))

    x = params["embedding"][tokens] + params["position"][: len(tokens)]
    for p in params["layers"]:
        q, k, v = np.split(dense(p["qkv"], norm(p["norm1"], x)), 3, -1)
        heads = [np.split(t, config.n_head, -1) for t in (q, k, v)]
        mixed = np.concatenate([causal_attention(*h) for h in zip(*heads)], -1)
        x = x + dense(p["out"], mixed)
        x = x + dense(p["down"], gelu(dense(p["up"], norm(p["norm2"], x))))
    head = params["embedding"].T if config.tie_word_embeddings else params["head"]
    return cross_entropy(norm(params["norm"], x) @ head, targets)


@pytest.mark.parametrize(
    "family,keys",
    [
        ("llama", {}),
        ("llama", {"num_key_value_heads": 4, "tie_word_embeddings": True}),
        ("llama", {"head_dim": 6, "rope_theta": 500.0}),
        ("llama", {"rope_scaling": LLAMA3}),
        ("gpt2", {}),
        ("gpt2", {"tie_word_embeddings": False, "n_inner": 12}),
    ],
)
def test_loss_is_that_of_the_formulas(family, keys):
    model = language_model(family, keys=keys)
    params = layout.initial(model.parameters, 3)
    rng = np.random.default_rng(4)  # off the initial values, where norms do nothing
    params = jax.tree.map(lambda p: p + rng.normal(scale=0.3, size=p.shape), params)
    tokens, targets = tokens_of(model)
    formula = {"llama": llama_loss, "gpt2": gpt2_loss}[family]
    exact = np.mean(
        [formula(model.config, params, *row) for row in zip(tokens, targets)]
    )
    params = jax.tree.map(np.float32, params)
    got = jax.jit(model.loss)(params, tokens, targets)
    np.testing.assert_allclose(got, exact, rtol=3e-6)


def trained(model, steps=3):
    params, opt_state = model.initial_state()
    args = (params, opt_state, *tokens_of(model))
    return reference.run(model.step, args, (0, 1), [{}] * steps, float64=True)[-1]


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_microbatches_and_recomputation_do_not_change_the_step(family):
    whole = language_model(family)
    parts = dataclasses.replace(
        whole, training=dataclasses.replace(whole.training, microbatches=2), remat=True
    )
    for a, b in zip(trained(whole), trained(parts), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-7)


@pytest.mark.parametrize("family", ["llama", "gpt2"])
def test_scanned_layers_are_the_layers(family):
    listed = language_model(family)
    scanned = dataclasses.replace(listed, scan_layers=True, remat=True)
    params, _ = listed.initial_state()
    stacked = dict(
        params, layers=jax.tree.map(lambda *p: np.stack(p), *params["layers"])
    )
    shapes = scanned.argument_shapes[0]
    assert jax.tree.map(np.shape, stacked) == jax.tree.map(np.shape, shapes)
    batch = tokens_of(listed)
    value, gradients = jax.value_and_grad(listed.loss)(params, *batch)
    other, of_stacked = jax.value_and_grad(scanned.loss)(stacked, *batch)
    np.testing.assert_allclose(value, other, rtol=1e-6)
    gradients["layers"] = jax.tree.map(lambda *g: np.stack(g), *gradients["layers"])
    for a, b in zip(jax.tree.leaves(gradients), jax.tree.leaves(of_stacked)):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-7)


def test_masters_are_kept_in_float32():
    training = Training(2, "bfloat16", adamw=FAST)
    model = language_model("llama", training=training)
    args = (*model.initial_state(), *tokens_of(model))
    params, opt_state, value = jax.jit(model.step)(*args)
    assert value.dtype == np.float32
    states = jax.tree.leaves(opt_state)
    assert {str(leaf.dtype) for leaf in states} == {"float32", "int32"}
    for p, master in zip(jax.tree.leaves(params), jax.tree.leaves(opt_state["master"])):
        assert p.dtype == ml_dtypes.bfloat16
        np.testing.assert_array_equal(p, master.astype(p.dtype))
    assert (opt_state["master"]["head"] != args[1]["master"]["head"]).any()


def test_norms_and_biases_do_not_decay():
    decays = lambda keep: layout.map_layout(
        lambda p: p.is_matrix, language_model("gpt2", scan_layers=keep).parameters
    )
    one, stacked = decays(False), decays(True)
    assert one["layers"][0] == stacked["layers"]
    assert one["layers"][0]["qkv"] == {"w": True, "b": False}
    assert not one["norm"]["scale"]


@pytest.mark.needs_tools
@pytest.mark.parametrize(
    "job",
    [
        steps.StepJob("llama", "nodes=2,gpus=2", "p=1,g=2x1,os=2x2", "so"),
        steps.StepJob("llama_scanned", "levels=3", "zero3", "so"),
        steps.StepJob("gpt2", "levels=4", "zero3", "so"),
    ],
    ids=str,
)
def test_ranks_compute_what_one_device_computes(job, finished):
    assert not finished.comparison.faults


# Export.


def run_export(*arguments):
    return export.main([str(argument) for argument in arguments])


def write(path, data):
    path.write_text(json.dumps(data))
    return path


@pytest.mark.parametrize("family,keys", [("llama", LLAMA), ("gpt2", GPT2)])
@pytest.mark.parametrize("options", [(), ("--scan-layers", "--remat")])
def test_the_exported_step(family, keys, options, tmp_path):
    config, out = write(tmp_path / "config.json", keys), tmp_path / "step.mlir"
    sizes = ("--seq", 7, "--microbatch", 2, "--microbatches", 3, "--ranks", 4)
    assert not run_export(family, "--config", config, *sizes, *options, "-o", out)
    text = out.read_text()
    for name in ("params['layers']", "opt_state", "tokens", "targets"):
        assert f'loc("{name}' in text
    assert "tensor<24x7xi32> loc" in text
    assert ("params['layers'][1]" in text) == (not options)
    pairs = export.aliases(text)
    assert pairs == {i: i for i in range(len(pairs))}
    assert sorted(path.name for path in tmp_path.iterdir()) == ["config.json", out.name]


def test_7b_is_exported_from_shapes_in_seconds(tmp_path):
    out = tmp_path / "step.mlir"
    command = [sys.executable, "-m", "amsp.export", "llama", "-o", str(out)]
    command += ["--config", str(CONFIGS / "amsp-7b.json"), "--param-dtype", "bf16"]
    usage = resources.measure([*command, "--seq", "4096"])
    assert usage.status == 0, usage.output
    assert usage.user_seconds < 30
    assert usage.peak_bytes < 2**31  # 28 GB of weights were never made
    text = out.read_text()
    assert "tensor<4096x11008xbf16>" in text
    assert "params['layers'][31]['down']" in text
    assert len(text) < 5e6  # no table of positions is spelled out


def test_shapes_of_the_byte_level_gpt():
    config = gpt.Config(layers=2, tied=True)
    params = gpt.init(config)
    made = (params, gpt.optimizer(config).init(params))
    shaped = gpt.argument_shapes(config)
    describe = lambda tree: jax.tree.map(lambda a: (a.shape, str(a.dtype)), tree)
    assert describe(made) == describe(shaped[:2])


# MPT is described for amsp-plan --executor only.
READERS = {"llama": llama.Config.read, "gpt2": gpt2.Config.read, "mpt": json.loads}


@pytest.mark.parametrize("name", sorted(path.name for path in CONFIGS.glob("*.json")))
def test_ready_configurations(name):
    model = json.loads((CONFIGS / name).read_text())["model_type"]
    source = CONFIGS / name
    assert READERS[model](source.read_text() if model == "mpt" else source)


def test_parameters_of_the_papers_models():
    def elements(name):
        config = llama.Config.read(CONFIGS / name)
        shapes = layout.shapes(llama.parameters(config, 4096))
        return sum(int(np.prod(s.shape)) for s in jax.tree.leaves(shapes))

    # 4 h^2 + 3 h i of each layer, two vocabularies, norms.
    h, i, layers, vocabulary = 4096, 11008, 32, 103168
    expected = layers * (4 * h * h + 3 * h * i + 2 * h) + 2 * vocabulary * h + h
    assert elements("amsp-7b.json") == expected
    assert elements("llama-3.1-8b.json") == 8030261248


@pytest.mark.parametrize(
    "family,change,message",
    [
        ("llama", {"vocab_size": None}, "'vocab_size' must be int, not None"),
        ("llama", {"n_embd": 4}, "unknown key 'n_embd'"),
        ("llama", {"hidden_size": 18}, "'hidden_size' 18 is no multiple of"),
        ("llama", {"num_key_value_heads": 3}, "'num_key_value_heads' 3"),
        ("llama", {"hidden_act": "relu"}, "'hidden_act' is 'relu'; implemented are"),
        ("llama", {"num_hidden_layers": 0}, "'num_hidden_layers' must be positive"),
        ("llama", {"num_hidden_layers": True}, "'num_hidden_layers' must be int"),
        ("llama", {"rope_scaling": {"rope_type": "yarn"}}, "is of type 'yarn'"),
        ("llama", {"rope_scaling": {"type": "linear"}}, "missing key 'factor'"),
        ("llama", {"model_type": "gpt2"}, "'model_type' is 'gpt2', not 'llama'"),
        ("llama", {"hidden_size": ...}, "missing key 'hidden_size'"),
        ("gpt2", {"n_head": 5}, "'n_embd' 16 is no multiple of 'n_head' 5"),
        ("gpt2", {"n_positions": 6}, "sequences of 7 tokens, and 'n_positions' is 6"),
        ("gpt2", {"layer_norm_epsilon": "x"}, "must be float or int, not 'x'"),
    ],
)
def test_a_wrong_configuration_is_one_error(family, change, message, tmp_path, capsys):
    data = dict(LLAMA if family == "llama" else GPT2)
    data.update(change)
    data = {key: value for key, value in data.items() if value is not ...}
    config = write(tmp_path / "config.json", data)
    out = tmp_path / "step.mlir"
    assert run_export(family, "--config", config, "--seq", 7, "-o", out) == 1
    error = capsys.readouterr().err
    assert error.startswith("error: ") and error.count("\n") == 1
    assert message in error
    assert not out.exists()


def test_an_export_does_not_overwrite_what_it_reads(tmp_path, capsys):
    config = write(tmp_path / "config.json", LLAMA)
    (tmp_path / "link").symlink_to(config)
    text = write(tmp_path / "case.json", LLAMA)
    for out, read, *arguments in (
        (tmp_path / "link", config, "llama", "--config", config, "--seq", 7, "-o", tmp_path / "link"),
        (text, text, "gpt", "--text", text, "--out", tmp_path),
    ):  # fmt: skip
        before = read.read_bytes()
        assert run_export(*arguments) == 1
        message = f"error: output '{out}' is the input '{read}': it would be overwritten\n"
        assert capsys.readouterr().err == message
        assert read.read_bytes() == before
    assert sorted(p.name for p in tmp_path.iterdir()) == ["case.json", "config.json", "link"]


def test_a_file_that_is_no_configuration(tmp_path, capsys):
    config = tmp_path / "config.json"
    for text in ("{", "[]"):
        config.write_text(text)
        assert run_export("llama", "--config", config, "--seq", 7) == 1
        assert str(config) in capsys.readouterr().err
    assert run_export("llama", "--config", tmp_path / "none", "--seq", 7) == 1
    assert run_export("llama", "--config", config, "--seq", 7, "-o", tmp_path) == 1
    assert "error: " in capsys.readouterr().err
