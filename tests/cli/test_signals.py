"""Ctrl-C, SIGTERM and kill -9 on a real process: nothing is lost, and the numbers stay the same."""

import os
import signal
import subprocess
import sys
import time

import pytest

ARGUMENTS = ["train", "world", "--dim", "16", "--epochs", "5", "--lr", "0.02"]


def start(*arguments):
    # A test run in the background may have SIGINT ignored, and children inherit that.
    return subprocess.Popen(
        [sys.executable, "-c", "from kgflow.__main__ import main; main()", *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),
    )


def wait_for_epochs(run, count):
    history, deadline = run / "history.jsonl", time.monotonic() + 120
    while not history.exists() or history.read_text().count("\n") < count:
        assert time.monotonic() < deadline, "the training does not get on"
        time.sleep(0.02)


def finish(process):
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err


@pytest.mark.slow
def test_interrupted_and_killed_trainings_resume_to_the_same_bytes(tmp_path):
    """One training gets each signal in turn and is resumed after it."""
    whole, out = tmp_path / "whole", tmp_path / "run"
    uninterrupted = start(*ARGUMENTS, "--out", whole)
    arguments = (*ARGUMENTS, "--out", out)
    for epochs, number in enumerate((signal.SIGINT, signal.SIGTERM, signal.SIGKILL), start=1):
        process = start(*arguments)
        wait_for_epochs(out, epochs)
        process.send_signal(number)
        _, err = process.communicate(timeout=60)
        if number == signal.SIGKILL:
            assert process.returncode == -signal.SIGKILL
        else:
            assert process.returncode == 130
            assert f"kgflow train --resume {out}" in err
        arguments = ("train", "--resume", out)
    finish(start(*arguments))
    finish(uninterrupted)
    weights = [(run / "model.safetensors").read_bytes() for run in (out, whole)]
    assert weights[0] == weights[1]
