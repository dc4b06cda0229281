"""When, from which commit and on what machine a number comes."""

import platform
import subprocess
from datetime import UTC, datetime
from pathlib import Path


def provenance() -> str:
    """Date, commit and machine in one line; the commit is left out outside a repository."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False
    ).stdout.strip()
    date = datetime.now(UTC).date().isoformat()
    return ", ".join([date, *([f"commit {commit}"] if commit else []), machine()])


def machine() -> str:
    """How many processors of what kind."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    names = [line.split(":")[1].strip() for line in lines if line.startswith("model name")]
    return f"{len(names)} x {names[0]}" if names else platform.processor() or platform.machine()
