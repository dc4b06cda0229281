"""Checkpoints: the whole state of a training in one file, without pickle."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from kgflow.training.ema import MovingAverage
from kgflow.training.row_updates import InitialState

FORMAT = "kgflow-checkpoint-3"


@dataclass
class Progress:
    """Progress of a training: finished epochs, and finished batches of the current one."""

    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    triples: int = 0
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0
    stale: int = 0
    done: bool = False


def save_model(path: Path, model: nn.Module) -> None:
    """Write the parameters and buffers of a model."""
    write_atomic(path, save(_on_cpu(model.state_dict())))


def load_model(path: Path, model: nn.Module) -> None:
    """Read parameters and buffers into a model of the same shape."""
    tensors, _ = _read(path)
    _check(path, tensors, model.state_dict())
    model.load_state_dict(tensors)


@dataclass
class TrainingState:
    """Everything that the next step of a training depends on."""

    model: nn.Module
    optimizer: torch.optim.Optimizer
    initial_state: InitialState
    average: MovingAverage
    progress: Progress

    def save(self, path: Path) -> None:
        """Write a checkpoint."""
        tensors = _tensors(self.model, self.average)
        if self.optimizer.state:
            for name, parameter in self.model.named_parameters():
                found = self.optimizer.state.get(parameter) or self.initial_state(parameter)
                tensors |= {f"optimizer.{name}.{k}": v for k, v in found.items()}
        metadata = {"format": FORMAT, "progress": json.dumps(asdict(self.progress))}
        write_atomic(path, save(_on_cpu(tensors), metadata=metadata))

    def load(self, path: Path) -> None:
        """Read a checkpoint, all of it or nothing."""
        tensors, metadata = _read(path)
        if metadata.get("format") != FORMAT:
            raise KgflowError(f"{path} is not a checkpoint of this version: start a new run")
        parameters = dict(self.model.named_parameters())
        wanted = _tensors(self.model, self.average)
        if _under(tensors, "optimizer."):
            for name, parameter in parameters.items():
                state = self.initial_state(parameter)
                wanted |= {f"optimizer.{name}.{k}": v for k, v in state.items()}
        # Adam's kernel trusts the shapes of its moments, so all are checked before any is used.
        _check(path, tensors, wanted)
        self.progress = _progress(path, metadata.get("progress", ""))
        self.model.load_state_dict(_under(tensors, "model."))
        for name, value in _under(tensors, "average.").items():
            self.average.weights[name].copy_(value)
        self.optimizer.state.clear()
        for name, parameter in parameters.items():
            state = _under(tensors, f"optimizer.{name}.")
            if state:
                state = {k: v.to(parameter.device) for k, v in state.items()}
                self.optimizer.state[parameter] = state


def _tensors(model: nn.Module, average: MovingAverage) -> dict[str, Tensor]:
    tensors = {f"model.{k}": v for k, v in model.state_dict().items()}
    return tensors | {f"average.{k}": v for k, v in average.weights.items()}


def _progress(path: Path, text: str) -> Progress:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    kinds = {field.name: field.type for field in fields(Progress)}
    if not isinstance(found, dict) or {k: type(v) for k, v in found.items()} != kinds:
        raise _damaged(path, "its progress is not what a training writes")
    for name, value in found.items():
        if not (-1 if name == "best" else 0) <= value < 2**63:
            raise _damaged(path, f"its progress has {name} {value}")
    return Progress(**found)


def _damaged(path: Path, what: str) -> KgflowError:
    return KgflowError(f"{path} is damaged or another run's: {what}")


def _on_cpu(tensors: dict[str, Tensor]) -> dict[str, Tensor]:
    return {k: v.detach().to("cpu").contiguous() for k, v in tensors.items()}


def _under(tensors: dict[str, Tensor], prefix: str) -> dict[str, Tensor]:
    return {k.removeprefix(prefix): v for k, v in tensors.items() if k.startswith(prefix)}


def _read(path: Path) -> tuple[dict[str, Tensor], dict[str, str]]:
    try:
        with safe_open(path, framework="pt") as file:
            return {k: file.get_tensor(k) for k in file.keys()}, file.metadata() or {}  # noqa: SIM118
    except FileNotFoundError:
        raise KgflowError(f"{path} is missing: the run is incomplete") from None
    except (SafetensorError, OSError) as error:
        reason = str(error).split("\n")[0]
        raise KgflowError(f"{path} is damaged or not of kgflow ({reason})") from None


def _check(path: Path, found: dict[str, Tensor], wanted: dict[str, Tensor]) -> None:
    kinds = [{k: (v.dtype, v.shape) for k, v in side.items()} for side in (found, wanted)]
    odd = sorted(k for k in found.keys() | wanted.keys() if kinds[0].get(k) != kinds[1].get(k))
    if odd:
        name = odd[0]
        what = "is missing" if name not in found else "is not of this model's shape and type"
        raise _damaged(path, f"{name} {what if name in wanted else 'does not belong there'}")
