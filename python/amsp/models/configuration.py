"""Reads a model's `config.json` as Hugging Face's transformers write it."""

from __future__ import annotations

import dataclasses
import json
import pathlib

# Of tokenizers, inference, and bookkeeping: nothing in a training step.
IGNORED = {
    "_name_or_path",
    "architectures",
    "auto_map",
    "bos_token_id",
    "dtype",
    "eos_token_id",
    "initializer_range",
    "max_position_embeddings",
    "pad_token_id",
    "pretraining_tp",
    "task_specific_params",
    "torch_dtype",
    "transformers_version",
    "use_cache",
}


REQUIRED = object()


@dataclasses.dataclass(frozen=True)
class Key:
    """A key of config.json. Only the values in `only` are implemented, if given;
    a key without default is required."""

    name: str
    kind: type | tuple[type, ...] = int
    default: object = REQUIRED
    only: tuple = ()
    positive: bool = True


def check(key: Key, value, where: str):
    kinds = key.kind if isinstance(key.kind, tuple) else (key.kind,)
    if float in kinds:
        kinds = (*kinds, int)
    # To Python, true is an integer.
    if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
        names = " or ".join(k.__name__ for k in kinds if k is not type(None))
        raise ValueError(f"{where}: '{key.name}' must be {names}, not {value!r}")
    if key.only and value not in key.only:
        accepted = ", ".join(repr(v) for v in key.only)
        raise ValueError(
            f"{where}: '{key.name}' is {value!r}; implemented are: {accepted}"
        )
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    if key.positive and is_number and not value > 0:
        raise ValueError(f"{where}: '{key.name}' must be positive, not {value!r}")
    return value


def take(data: dict, keys: list[Key], where: str, ignored: set[str] = IGNORED) -> dict:
    """The values of `keys`. Missing and unknown keys are errors."""
    known = {key.name for key in keys}
    unknown = sorted(set(data) - known - ignored)
    if unknown:
        names = ", ".join(f"'{name}'" for name in unknown)
        raise ValueError(f"{where}: unknown key {names}")
    required = [key.name for key in keys if key.default is REQUIRED]
    missing = [name for name in required if name not in data]
    if missing:
        names = ", ".join(f"'{name}'" for name in missing)
        raise ValueError(f"{where}: missing key {names}")
    return {
        key.name: check(key, data[key.name], where) if key.name in data else key.default
        for key in keys
    }


def read(path: str | pathlib.Path, family: str) -> dict:
    """The keys of the file; its `model_type`, if it has one, must be `family`."""
    try:
        data = json.loads(pathlib.Path(path).read_text())
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: {error}") from None
    if not isinstance(data, dict):
        raise ValueError(f"{path}: not a JSON object")
    found = data.pop("model_type", family)
    if found != family:
        raise ValueError(f"{path}: 'model_type' is '{found}', not '{family}'")
    return data
