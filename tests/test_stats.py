"""The sizes that `make stats` prints."""

import importlib.util
import subprocess
from pathlib import Path

SCRIPT = Path(__file__).parents[1] / "scripts" / "stats.py"


def load():
    spec = importlib.util.spec_from_file_location("stats", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_limits_are_checked(tmp_path, capsys):
    main, source = load().main, tmp_path / "src" / "kgflow"
    source.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)
    (source / "__init__.py").write_text("")
    many = ", ".join("abcdefgh")
    (source / "good.py").write_text(f"class A:\n    def f(self, {many}): ...\n" + "\n" * 40)
    assert main(["--root", str(tmp_path)]) == 0
    assert "missed" not in capsys.readouterr().out
    (source / "bad.py").write_text(f"def f(x, {many}): ...\n")
    assert main(["--root", str(tmp_path)]) == 1
    out = capsys.readouterr().out
    assert "bad.py: f has 9 arguments" in out
    assert "short: bad.py" in out
    assert main(["--root", str(tmp_path), "--report"]) == 0
