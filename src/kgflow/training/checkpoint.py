"""The whole state of a training, in one file without pickle."""

import json
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from kgflow.training.average import Average
from kgflow.training.optimizers import beginning

FORMAT = "kgflow-checkpoint-2"


@dataclass
class Progress:
    """Where a training stands: so many whole epochs, so many batches into the next one."""

    epoch: int = 0
    batch: int = 0
    loss: float = 0.0
    triples: int = 0
    seconds: float = 0.0
    best: float = -1.0
    best_epoch: int = 0
    stale: int = 0
    drops: int = 0
    done: bool = False


def save_model(path: Path, model: nn.Module) -> None:
    """Write parameters and buffers."""
    write_atomic(path, save(_on_cpu(model.state_dict())))


def load_model(path: Path, model: nn.Module) -> None:
    """Read parameters and buffers back into a model of the same shape."""
    tensors, _ = _read(path)
    _check(path, tensors, model.state_dict())
    model.load_state_dict(tensors)


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average,
    progress: Progress,
) -> None:
    """Write everything that the next step depends on."""
    tensors = _state(model, average)
    if optimizer.state:
        for name, parameter in model.named_parameters():
            # A parameter that had no gradient yet is as the optimizer would begin with it.
            found = optimizer.state.get(parameter) or beginning(optimizer, parameter)
            tensors |= {f"optimizer.{name}.{k}": v for k, v in found.items()}
    metadata = {"format": FORMAT, "progress": json.dumps(asdict(progress))}
    write_atomic(path, save(_on_cpu(tensors), metadata=metadata))


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average
) -> Progress:
    """Read a state back into a model, its optimizer and its average, all of it or nothing."""
    tensors, metadata = _read(path)
    if metadata.get("format") != FORMAT:
        raise KgflowError(f"{path} is no checkpoint of kgflow; start a new run")
    parameters = dict(model.named_parameters())
    wanted = _state(model, average)
    if _under(tensors, "optimizer."):
        for name, parameter in parameters.items():
            moments = beginning(optimizer, parameter)
            wanted |= {f"optimizer.{name}.{k}": v for k, v in moments.items()}
    # Adam's kernel trusts the shapes of its moments, so all is checked before any is used.
    _check(path, tensors, wanted)
    progress = _progress(path, metadata.get("progress", ""))
    model.load_state_dict(_under(tensors, "model."))
    for name, value in _under(tensors, "average.").items():
        average.weights[name].copy_(value)
    optimizer.state.clear()
    for name, parameter in parameters.items():
        state = _under(tensors, f"optimizer.{name}.")
        if state:
            optimizer.state[parameter] = {k: v.to(parameter.device) for k, v in state.items()}
    return progress


def _state(model: nn.Module, average: Average) -> dict[str, Tensor]:
    tensors = {f"model.{k}": v for k, v in model.state_dict().items()}
    return tensors | {f"average.{k}": v for k, v in average.weights.items()}


def _progress(path: Path, text: str) -> Progress:
    try:
        found = json.loads(text)
    except (ValueError, RecursionError):
        found = None
    if isinstance(found, dict):
        found = {"drops": 0} | found  # which older checkpoints do not count
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
