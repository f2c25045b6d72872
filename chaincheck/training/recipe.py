"""A training recipe: every setting that a trained judge depends on, in one TOML file.

Every key has a default; a file holds only what it changes::

    objective = "triplet"
    seed = 3
    [loss]
    invariance_weight = 0.1
    [mix]
    real = 1.0
    fict = 1.0
"""

from __future__ import annotations

import hashlib
import math
import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Any, Literal

import msgspec

from chaincheck.errors import PathLike, UsageError, quote
from chaincheck.items import VARIANTS
from chaincheck.toml_files import nearest, read_toml
from chaincheck.training.loss import LossTerms

__all__ = [
    "LoraSettings",
    "Recipe",
    "load_recipe",
    "parse_settings",
    "read_recipe",
    "settings_digest",
]


_LARGE = 1e6  # no setting that helps is larger, and products of larger ones overflow
_LARGEST = {"learning_rate": 1.0, "seed": 2**32 - 1, "triplets": 2**63 - 1}


class LoraSettings(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The low-rank adapter (Hu et al., 2021) that is trained while the base stays as it is.

    Attributes:
        rank: r of the update s B A.
        alpha: s = alpha / r.
        dropout: share of the adapter's inputs that is dropped while training.
        targets: "all-linear" (every linear layer but the output head) or names of layers.
    """

    rank: int = 16
    alpha: float = 32.0
    dropout: float = 0.0
    targets: str | tuple[str, ...] = "all-linear"


class Recipe(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Settings of one training run.

    Attributes:
        objective: "triplet" (A and B above D) or "nominal" (A above the broken context, no B).
        broken: what a nominal objective holds below A: cell "D" or "C".
        mix: how many triplets of each variant are taken for one of the others; a variant that is
            not named is not used. Empty takes every triplet of the file.
        triplets: at most this many triplets a pass; 0 takes all.
        later: variants whose triplets come after those of all others in each pass: what is
            harder to learn is learned sooner by a model that has learned the easier.
        passes: how often each triplet is seen.
        batch: triplets that are computed at once on one device.
        accumulation: batches that make one step.
        learning_rate: the highest one.
        warmup: share of the steps over which it rises from 0; afterwards it falls to 0.
        schedule: how it falls.
        weight_decay: of the adapter's weights.
        clip: largest norm of the gradient; 0 for no limit.
        dtype: what the base is kept and computed in; the adapter is in float32.
        gradient_checkpointing: compute the forward pass twice to keep less of it.
        attention: kernel, as transformers calls it.
        seed: of the adapter's start, the order and the dropout.
        eval_every: steps between two validations, among whose states the best is kept; 0 for none
            before the end: then the last state is kept.
        patience: validations without a better one after which training stops; 0 never stops.
        save_every: steps between two checkpoints, from which an interrupted run goes on; 0 for
            none. Where ``eval_every`` is set, a checkpoint is made with each validation instead.
        prompt: a prompt's name or file, as judges take it.
        loss: weights of the loss's terms.
        lora: the adapter.
    """

    objective: Literal["triplet", "nominal"] = "triplet"
    broken: Literal["D", "C"] = "D"
    mix: dict[str, float] = {}
    triplets: int = 0
    later: tuple[str, ...] = ()
    passes: int = 1
    batch: int = 4
    accumulation: int = 1
    learning_rate: float = 2e-4
    warmup: float = 0.1
    schedule: Literal["linear", "cosine", "constant"] = "linear"
    weight_decay: float = 0.0
    clip: float = 1.0
    dtype: Literal["float32", "bfloat16"] = "bfloat16"
    gradient_checkpointing: bool = False
    attention: str = "sdpa"
    seed: int = 0
    eval_every: int = 0
    patience: int = 0
    save_every: int = 0
    prompt: str = "sufficiency"
    loss: LossTerms = LossTerms()
    lora: LoraSettings = LoraSettings()

    @property
    def cells(self) -> tuple[str, ...]:
        """The cells that a step computes, in order."""
        if self.objective == "nominal":
            return ("A", self.broken)
        return ("A", "B", "D", "C") if self.loss.cell_c_weight else ("A", "B", "D")

    @property
    def settings(self) -> dict[str, Any]:
        """Everything, as it reads back from JSON."""
        plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(self))
        return plain

    @property
    def digest(self) -> str:
        """The first 16 hexadecimal digits of the SHA-256 of the settings."""
        return settings_digest(self.settings)


def settings_digest(settings: Mapping[str, Any]) -> str:
    """The digest of a recipe's settings, as ``Recipe.digest`` gives it."""
    canonical = msgspec.json.encode(settings, order="sorted")
    return hashlib.sha256(canonical).hexdigest()[:16]


def read_recipe(settings: Mapping[str, Any], *, path: PathLike | None = None) -> Recipe:
    """Check settings and fill in the defaults.

    Args:
        settings: keys of a recipe.
        path: the file that they are from, for messages.

    Raises:
        UsageError: a key is unknown (with the nearest known one) or a value cannot be.
    """
    where = f"{path}: " if path else ""
    for table, kind in ((settings, Recipe), *_tables(settings)):
        for key in table:
            if key not in kind.__struct_fields__:
                raise UsageError(
                    f"{where}unknown key {key!r} in a training recipe",
                    remedy=nearest(str(key), kind.__struct_fields__),
                )
    try:
        recipe = msgspec.convert(dict(settings), Recipe)
    except msgspec.ValidationError as cause:
        raise UsageError(f"{where}{cause}", remedy="Correct this key") from None
    problem = _problem(recipe)
    if problem:
        raise UsageError(f"{where}{problem}", remedy="Correct this key")
    return recipe


def parse_settings(pairs: Iterable[tuple[str, str]]) -> dict[str, Any]:
    """Read keys and values of a command line.

    Args:
        pairs: each a key, dotted if it is of a table, and a value as TOML writes it; what is no
            TOML value is a text.

    Raises:
        UsageError: a key that cannot be one, or that stands twice.
    """
    found: dict[str, Any] = {}
    for key, value in pairs:
        *tables, name = key.split(".")
        place = found
        for table in tables:
            place = place.setdefault(table, {})
            if not isinstance(place, dict):
                raise UsageError(f"{table!r} is a key and cannot be a table as well")
        if name in place:
            raise UsageError(f"the key {key!r} is given twice", remedy="Give it once")
        try:
            place[name] = tomllib.loads(f"value = {value}")["value"]
        except (ValueError, KeyError, RecursionError):  # ValueError: also a number of no end
            place[name] = value
    return found


def load_recipe(path: PathLike, changes: Mapping[str, Any] = MappingProxyType({})) -> Recipe:
    """Read a recipe's TOML file.

    Args:
        path: the file.
        changes: keys to put in the place of the file's; tables key by key.

    Raises:
        UnreadableFile: missing or not TOML.
        UsageError: as ``read_recipe``.
    """
    settings = read_toml(path)
    prompt = settings.get("prompt")
    if isinstance(prompt, str) and prompt.endswith(".toml"):
        settings["prompt"] = str(Path(path).parent / prompt)
    for key, value in changes.items():
        known = settings.get(key)
        if isinstance(value, Mapping) and isinstance(known, dict):
            settings[key] = {**known, **value}
        else:
            settings[key] = value
    return read_recipe(settings, path=path)


def _tables(settings: Mapping[str, Any]) -> list[tuple[Mapping[str, Any], Any]]:
    found = [(settings.get("loss"), LossTerms), (settings.get("lora"), LoraSettings)]
    return [(table, kind) for table, kind in found if isinstance(table, Mapping)]


def _number_problem(recipe: Recipe) -> str | None:
    """Say which number is out of its range."""
    numbers = {
        **{key: getattr(recipe, key) for key in ("passes", "batch", "accumulation")},
        "lora.rank": recipe.lora.rank,
    }
    for key, value in numbers.items():
        if value < 1:
            return f"{key} must be at least 1, not {value}"
        if value > _LARGE:
            return f"{key} must be at most {_LARGE:g}, not {quote(value)[1:-1]}"
    amounts = {
        key: getattr(recipe, key)
        for key in (
            *("triplets", "warmup", "weight_decay", "clip", "seed"),
            *("eval_every", "patience", "save_every", "learning_rate"),
        )
    }
    amounts.update(
        {f"loss.{key}": value for key, value in msgspec.to_builtins(recipe.loss).items()}
    )
    amounts.update({f"mix.{key}": value for key, value in recipe.mix.items()})
    amounts.update({"lora.alpha": recipe.lora.alpha, "lora.dropout": recipe.lora.dropout})
    for key, value in amounts.items():
        if not 0 <= value < math.inf:  # NaN is not either
            return f"{key} must be a finite number of at least 0, not {quote(value)[1:-1]}"
        if value > _LARGEST.get(key, _LARGE):
            return f"{key} must be at most {_LARGEST.get(key, _LARGE):g}, not {quote(value)[1:-1]}"
    return None


def _problem(recipe: Recipe) -> str | None:
    """Say what no training can be run with."""
    problem = _number_problem(recipe)
    if problem:
        return problem
    if recipe.warmup > 1 or recipe.lora.dropout >= 1:
        return "warmup is a share of the steps, at most 1, and lora.dropout is below 1"
    for key, names in (("mix.", recipe.mix), ("later: ", recipe.later)):
        for name in names:
            if name not in VARIANTS:
                return f"{key}{name} is no variant; {nearest(name, VARIANTS)}"
    if recipe.mix and not any(recipe.mix.values()):
        return "mix leaves no triplet"
    for name in recipe.later:
        if recipe.mix and not recipe.mix.get(name):
            return f"later: {name} is not in the mix, so that nothing comes later"
    return _objective_problem(recipe)


def _objective_problem(recipe: Recipe) -> str | None:
    nominal = recipe.objective == "nominal"
    if nominal and (recipe.loss.invariance_weight or recipe.loss.cell_c_weight):
        return "a nominal objective has neither an invariance term nor one of cell C"
    if not nominal and recipe.broken != "D":
        return "a triplet objective holds D below; broken = 'C' belongs to a nominal one"
    if recipe.patience and not recipe.eval_every:
        return "patience counts validations, and eval_every is 0"
    return None
