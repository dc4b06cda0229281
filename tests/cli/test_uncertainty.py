"""kgflow uncertainty, from its arguments to what it prints."""

import shutil

import pytest

import kgflow as library


def test_for_people_and_for_programs(kgflow, answer, world_run):
    found = answer("uncertainty", world_run, "-k", 3)
    assert [len(found[key]) for key in ("most_certain", "least_certain")] == [3, 3]
    assert found["most_certain"][0]["entropy_change"] < found["least_certain"][0]["entropy_change"]
    assert {row["variable"] for row in found["associations"]} >= {"degree", "type", "facts"}
    code, out, _ = kgflow("uncertainty", world_run, "-k", 3)
    assert code == 0
    assert found["most_certain"][0]["entity"] in out
    assert "Spearman" in out
    assert "entropy_change" not in out
    assert "entropy_change" in kgflow("uncertainty", world_run, "-k", 3, "--entropy")[1]


def test_one_entity_relation_and_triple(kgflow, answer, world_run):
    words = (
        "--entity",
        "France",
        "--relation",
        "borders",
        "--triple",
        "France",
        "borders",
        "Spain",
    )
    found = answer("uncertainty", world_run, *words)
    assert found["entities"][0]["entity"] == "France"
    assert [row["relation"] for row in found["relations"]] == ["borders"]
    (row,) = found["triples"]
    assert row["head_change"] == pytest.approx(found["entities"][0]["entropy_change"])
    code, out, _ = kgflow("uncertainty", world_run, *words)
    assert code == 0
    assert "rank among country" in out


@pytest.mark.parametrize("words", [(), ("--entity", "France", "--entity", "Peru")], ids=str)
def test_plots(kgflow, world_run, tmp_path, words):
    code, _, err = kgflow("uncertainty", world_run, *words, "--plot", tmp_path / "x.png")
    assert code == 0, err
    assert (tmp_path / "x.png").read_bytes().startswith(b"\x89PNG")


def test_coordinates_of_the_picture(kgflow, world_run, tmp_path):
    for number, coordinate in enumerate(("3", "mean")):
        words = ("--entity", "Peru", "--coordinate", coordinate)
        drawn = tmp_path / f"{number}.png"
        code, _, err = kgflow("uncertainty", world_run, *words, "--plot", drawn)
        assert code == 0, err
    assert (tmp_path / "0.png").read_bytes() != (tmp_path / "1.png").read_bytes()


def test_a_point_is_null_and_first(answer, world_run, tmp_path):
    from safetensors.torch import load_file, save_file

    copy = shutil.copytree(world_run, tmp_path / "run")
    tensors = load_file(copy / "model.safetensors")
    weight = next(tensors[name] for name in tensors if "entity" in name)
    weight[7, 32:] = 0
    save_file(tensors, copy / "model.safetensors")
    (copy / "calibration.json").unlink()  # it was learned from the model as it was
    first = answer("uncertainty", copy)["most_certain"][0]
    assert first["entropy_change"] is None
    assert first["name"] == library.open(copy).data.entities[7]


def test_refusals(refusal, world_run, tmp_path):
    def refused(*words):
        return refusal("uncertainty", world_run, *words)

    assert "did you mean France" in refused("--entity", "Frnace")
    assert "unknown relation" in refused("--relation", "nonsense")
    assert "add --entity and --plot" in refused("--coordinate", "3")
    drawn = ("--plot", tmp_path / "x.png")
    assert "give 1 to 32" in refused("--entity", "France", "--coordinate", "99", *drawn)
    assert "number or mean" in refused("--entity", "France", "--coordinate", "first", *drawn)
    assert "does not exist" in refused("--plot", tmp_path / "no" / "x.png")
    assert not list(tmp_path.iterdir())


def test_models_without_the_notion_say_so(refusal, tmp_path):
    for name, options in (("distmult", {}), ("nfe-1", {"uncertainty": 0})):
        out = tmp_path / name
        library.train(
            "world",
            name,
            dim=2,
            epochs=1,
            settings={f"model.{k}": v for k, v in options.items()},
            out=out,
        )
        assert f"{name} has no entropies" in refusal("uncertainty", out)
        assert f"{name} has no entropies" in refusal("uncertainty", out, "--entity", "Peru")


def test_wrong_extensions_are_refused_first(refusal, world_run):
    assert "ends in .png" in refusal("uncertainty", world_run, "--plot", "x.xyz")
