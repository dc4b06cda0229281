"""The whole state of a training, in one file without pickle."""

import json
import os
from dataclasses import asdict, dataclass
from pathlib import Path

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor, nn

from kgflow.errors import KgflowError
from kgflow.training.average import Average


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
    done: bool = False


def write_atomic(path: Path, content: bytes) -> None:
    """Write a file so that a reader sees the old or the new one, whatever happens in between.

    Example:
        >>> import tempfile
        >>> file = Path(tempfile.mkdtemp()) / "note.txt"
        >>> write_atomic(file, b"kept")
        >>> file.read_text()
        'kept'
    """
    temporary = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    with temporary.open("wb") as out:
        out.write(content)
        out.flush()
        os.fsync(out.fileno())
    temporary.replace(path)


def save_model(path: Path, model: nn.Module) -> None:
    """Write parameters and buffers."""
    write_atomic(path, save(_on_cpu(model.state_dict())))


def load_model(path: Path, model: nn.Module) -> None:
    """Read parameters and buffers back into a model of the same shape."""
    tensors, _ = _read(path)
    _restore(path, model, tensors)


def save_checkpoint(
    path: Path,
    model: nn.Module,
    optimizer: torch.optim.Optimizer,
    average: Average,
    progress: Progress,
) -> None:
    """Write everything that the next step depends on."""
    tensors = {f"model.{k}": v for k, v in model.state_dict().items()}
    for name, parameter in model.named_parameters():
        for key, value in optimizer.state.get(parameter, {}).items():
            tensors[f"optimizer.{name}.{key}"] = torch.as_tensor(value)
    tensors |= {f"average.{k}": v for k, v in average.weights.items()}
    tensors["random"] = torch.get_rng_state()
    metadata = {"format": "kgflow-checkpoint-1", "progress": json.dumps(asdict(progress))}
    write_atomic(path, save(_on_cpu(tensors), metadata=metadata))


def load_checkpoint(
    path: Path, model: nn.Module, optimizer: torch.optim.Optimizer, average: Average
) -> Progress:
    """Read a training's state back into a model, its optimizer and its average."""
    tensors, metadata = _read(path)
    if metadata.get("format") != "kgflow-checkpoint-1":
        raise KgflowError(f"{path} is no checkpoint of kgflow; start a new run")
    _restore(path, model, _under(tensors, "model."))
    for name, parameter in model.named_parameters():
        state = _under(tensors, f"optimizer.{name}.")
        if state:
            # The step counter stays on the CPU, as a new optimizer would have it.
            optimizer.state[parameter] = {
                k: v if v.dim() == 0 else v.to(parameter.device) for k, v in state.items()
            }
    for name, value in _under(tensors, "average.").items():
        average.weights[name].copy_(value)
    torch.set_rng_state(tensors["random"])
    return Progress(**json.loads(metadata["progress"]))


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


def _restore(path: Path, model: nn.Module, tensors: dict[str, Tensor]) -> None:
    wanted = {k: v.shape for k, v in model.state_dict().items()}
    found = {k: v.shape for k, v in tensors.items()}
    if wanted != found:
        odd = sorted(k for k in wanted.keys() | found.keys() if wanted.get(k) != found.get(k))
        raise KgflowError(f"{path} does not fit this model: {odd[0]} differs; is it another run's?")
    model.load_state_dict(tensors)
