"""What was saved comes back exactly; anything else is refused in one sentence, unused."""

import json
import os
import threading

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from torch import nn

from kgflow.config import OPTIMIZERS
from kgflow.errors import KgflowError
from kgflow.io import write_atomic
from kgflow.training import History, load_model, read_history
from kgflow.training.checkpoint import Progress, TrainingState
from kgflow.training.ema import MovingAverage


def training(steps=2, beta=0.9, seed=0, name="adam", progress=None):
    """A small model with its optimizer and average; one parameter never has a gradient."""
    torch.manual_seed(seed)
    model = nn.Module()
    model.layer, model.idle = nn.Linear(3, 2), nn.Parameter(torch.ones(4))
    settings = OPTIMIZERS[name](lr=1e-3)
    optimizer, average = settings.build(model.parameters()), MovingAverage(model, beta)
    for _ in range(steps):
        optimizer.zero_grad()
        model.layer(torch.rand(5, 3)).sum().backward()
        optimizer.step()
    progress = progress or Progress()
    return TrainingState(model, optimizer, settings.initial_state, average, progress)


def contents(path):
    with safe_open(path, framework="pt") as file:
        return {k: file.get_tensor(k) for k in file.keys()}, file.metadata()  # noqa: SIM118


def everything(state):
    moments = [state.optimizer.state.get(p, {}) for p in state.model.parameters()]
    parts = enumerate([state.model.state_dict(), state.average.weights, *moments])
    return {(i, k): v.clone() for i, part in parts for k, v in part.items()}


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "last.safetensors"
    training(progress=Progress(epoch=3, batch=2, best=0.5)).save(path)
    return path


@pytest.mark.parametrize("name", OPTIMIZERS.members)
@pytest.mark.parametrize("beta", [0.0, 0.9])
@pytest.mark.parametrize("steps", [0, 2])
def test_saved_and_loaded_is_the_same_and_goes_on_the_same(tmp_path, steps, beta, name):
    path, again = tmp_path / "a", tmp_path / "b"
    progress = Progress(epoch=3, loss=1.5, done=True)
    training(steps, beta, 0, name, progress).save(path)
    other = training(5, beta, 1, name)
    other.load(path)
    assert other.progress == progress
    other.save(again)
    (one, about), (two, same) = contents(path), contents(again)
    assert about == same
    assert one.keys() == two.keys()
    assert all(torch.equal(one[k], two[k]) for k in one)
    for parameter, state in other.optimizer.state.items():
        assert all(v.device == parameter.device for v in state.values())
    other.model.layer(torch.ones(1, 3)).sum().backward()
    other.optimizer.step()


def changes():
    """Ways to spoil one tensor of a file."""
    yield "missing", lambda tensors, name: tensors.pop(name)
    yield "type", lambda tensors, name: tensors.update({name: tensors[name].double()})
    yield "shape", lambda tensors, name: tensors.update({name: tensors[name].new_zeros(7, 1)})
    yield "more", lambda tensors, name: tensors.update({f"{name}.more": torch.zeros(1)})


NAMES = ["model.idle", "average.layer.bias"] + [
    f"optimizer.layer.weight.{k}" for k in ("step", "exp_avg", "exp_avg_sq")
]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("change", [c for _, c in changes()], ids=[n for n, _ in changes()])
def test_a_tensor_that_would_not_have_been_saved_is_refused(saved, name, change):
    tensors, metadata = contents(saved)
    change(tensors, name)
    save_file(tensors, saved, metadata)
    state = training(1, seed=2)
    before = everything(state)
    with pytest.raises(KgflowError, match=r"is damaged or another run's: \S*" + name):
        state.load(saved)
    after = everything(state)
    assert before.keys() == after.keys()
    assert all(torch.equal(before[k], after[k]) for k in before)


def test_states_of_other_settings_are_refused(saved):
    smaller = training()
    smaller.model = nn.Linear(3, 2)
    for state in (training(name="adagrad"), training(beta=0.0), smaller):
        with pytest.raises(KgflowError, match="another run's"):
            state.load(saved)
    with pytest.raises(KgflowError, match="another run's"):
        load_model(saved, training().model)


@pytest.mark.parametrize(
    "progress",
    [
        None,
        "",
        "[]",
        "{}",
        "{",
        "[" * 100_000,
        {"epoch": "3"},
        {"epoch": 3.0},
        {"epoch": True},
        {"epoch": -1},
        {"epoch": 10**400},
        {"done": 1},
        {"loss": float("nan")},
        {"best": None},
        {"more": 1},
    ],
    ids=lambda p: str(p)[:20],
)
def test_progress_that_no_training_writes_is_refused(saved, progress):
    tensors, metadata = contents(saved)
    if isinstance(progress, dict):
        progress = json.dumps(json.loads(metadata["progress"]) | progress)
    metadata |= {"progress": progress}
    save_file(tensors, saved, {k: v for k, v in metadata.items() if v is not None})
    with pytest.raises(KgflowError, match=r"is damaged or another run's: its progress"):
        training().load(saved)


def test_a_failed_write_keeps_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    path = tmp_path / "file"
    write_atomic(path, b"old")

    def fail(_):
        raise OSError("no space")

    monkeypatch.setattr(os, "fsync", fail)
    with pytest.raises(OSError, match="no space"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_pipes_are_written_to_and_links_stay(tmp_path):
    pipe, found = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    write_atomic(pipe, b"through")
    reader.join(timeout=10)
    assert found == [b"through"]
    assert pipe.is_fifo()
    link = tmp_path / "link"
    link.symlink_to(tmp_path / "target")
    write_atomic(link, b"kept")
    assert link.is_symlink()
    assert (tmp_path / "target").read_bytes() == b"kept"


def test_a_missing_folder_is_named(tmp_path):
    with pytest.raises(KgflowError, match="give a file in a directory that exists"):
        write_atomic(tmp_path / "nowhere" / "file", b"")


GOOD = [{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}]
LINES = b"".join(json.dumps(record).encode() + b"\n" for record in GOOD)


@pytest.mark.parametrize(
    "bad",
    [
        b"",
        b"{",
        b"[]",
        b"3",
        b"{}",
        b'{"epoch": "3"}',
        b'{"epoch": true}',
        b'{"epoch": null}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
    ids=lambda b: repr(b[:12]),
)
def test_history_ends_at_the_first_line_that_is_none(tmp_path, bad):
    path = tmp_path / "history.jsonl"
    assert read_history(path) == []
    path.write_bytes(LINES + bad + b"\n" + LINES)
    assert read_history(path) == GOOD
    History(path, epochs=1).on_epoch({"epoch": 2, "loss": 0.125})
    assert read_history(path) == [GOOD[0], {"epoch": 2, "loss": 0.125}]


def test_history_killed_while_rewriting_is_whole(tmp_path, monkeypatch):
    path = tmp_path / "history.jsonl"
    path.write_bytes(LINES)

    def killed(_):
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "fsync", killed)
    with pytest.raises(KeyboardInterrupt):
        History(path, epochs=1)
    assert read_history(path) == GOOD
