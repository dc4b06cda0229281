"""Plots of data with $ in names."""

import pytest

pytest.importorskip("matplotlib", reason="the extra `plot` is not installed")


def test_names_are_not_parsed_as_formulas(tmp_path):
    from kgflow.analysis.plots import new_figure, save_figure, to_svg

    with new_figure() as figure:
        figure.subplots().set_title(r"$\frac$ and $x^$")
        assert r"$\frac$ and $x^$" in to_svg(figure)
        assert save_figure(figure, tmp_path / "name.png").stat().st_size > 0
