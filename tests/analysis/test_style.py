"""Pictures of data whose names are what they are."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


def test_a_name_is_no_formula(tmp_path):
    from kgflow.analysis.plots import picture, save, svg

    with picture() as figure:
        figure.subplots().set_title(r"$\frac$ and $x^$")
        assert r"$\frac$ and $x^$" in svg(figure)
        assert save(figure, tmp_path / "name.png").stat().st_size > 0
