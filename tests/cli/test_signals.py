"""Ctrl-C, SIGTERM and kill -9 on a real process: nothing is lost, and the numbers stay the same."""

import os
import signal
import subprocess
import sys
import time

import pytest

ARGUMENTS = ["train", "world", "--dim", "48", "--epochs", "6", "--lr", "0.02"]


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


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    out = tmp_path_factory.mktemp("whole") / "run"
    process = start(*ARGUMENTS, "--out", out)
    _, err = process.communicate(timeout=300)
    assert process.returncode == 0, err
    return (out / "model.safetensors").read_bytes()


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_signal_and_then_resume(whole, tmp_path, number):
    out = tmp_path / "run"
    process = start(*ARGUMENTS, "--out", out)
    wait_for_epochs(out, 2)
    process.send_signal(number)
    _, err = process.communicate(timeout=60)
    if number == signal.SIGKILL:
        assert process.returncode == -signal.SIGKILL
    else:
        assert process.returncode == 130
        assert f"kgflow train --resume {out}" in err
    again = start("train", "--resume", out)
    _, err = again.communicate(timeout=300)
    assert again.returncode == 0, err
    assert (out / "model.safetensors").read_bytes() == whole
