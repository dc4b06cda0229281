"""Bad input gets one sentence, exit code 2, and nothing is written."""

import shutil

import pytest

BAD_FILES = {
    "empty.tsv": (b"", "empty.tsv"),
    "short.tsv": (b"a\tr\tb\na\tr\n", "short.tsv:2"),
    "nan.tsv": (b"a\tr\tb\tnan\n", "nan.tsv:1"),
    "zero.tsv": (b"a\tr\tb\t0\n", "zero.tsv:1"),
    "negative.tsv": (b"a\tr\tb\t0.5\nb\tr\ta\t-1\n", "negative.tsv:2"),
    "heavy.tsv": (b"a\tr\tb\t1.5\n", "heavy.tsv:1"),
    "bytes.tsv": (b"a\tr\tb\n\xff\xfe\tr\tb\n", "bytes.tsv:2"),
    "facts.xyz": (b"a\tr\tb\n", "facts.xyz"),
}


@pytest.mark.parametrize("name", BAD_FILES)
def test_bad_files(refusal, tmp_path, name):
    content, named = BAD_FILES[name]
    (tmp_path / name).write_bytes(content)
    sentence = refusal("train", tmp_path / name, "--out", tmp_path / "run")
    assert named in sentence
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_missing_file(refusal, tmp_path):
    assert "nowhere.tsv" in refusal("train", tmp_path / "nowhere.tsv", "--out", tmp_path / "run")


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--model", "nfe1"), "unknown model 'nfe1'; did you mean nfe-1"),
        (("--dim", "0"), "'model.dim' is 0"),
        (("--epochs", "0"), "'training.epochs' is 0"),
        (("--lr", "nan"), "'training.optimizer.lr'"),
        (("--set", "model.x1=normal"), "unknown key 'model.x1'; nfe-1 knows"),
        (("--set", "model.x0=gaussian"), "allowed values: normal, uniform"),
        (("--set", "model.x0"), "--set takes KEY=VALUE"),
        (("--set", "trainig.epochs=3"), "unknown key 'trainig'; did you mean training"),
        (("--set", "training.loss.dropuot=3"), "unknown key 'training.loss.dropuot'; did you mean"),
        (("--device", "toaster"), "device 'toaster'"),
        (("--epohcs", "1"), "--epohcs"),
        (("--dim", "many"), "--dim"),
    ],
)
def test_bad_flags(refusal, tmp_path, flags, said):
    assert said in refusal("train", "world", *flags, "--out", tmp_path / "run")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("flags", [("--epochs", "5"), ("--dim", "9"), ("--force",)])
def test_resume_goes_with_nothing_else(refusal, world_run, flags):
    assert f"{flags[0]} cannot be combined with --resume" in refusal(
        "train", "--resume", world_run, *flags
    )
    assert "DATA cannot be combined" in refusal("train", "world", "--resume", world_run)


@pytest.mark.parametrize(
    "flags",
    [
        ("--seed", "9" * 23),
        ("--batch-size", "9" * 23),
        ("--dim", "999999999"),
    ],
)
def test_absurd_sizes(refusal, tmp_path, flags):
    name = flags[0].removeprefix("--").replace("-", "_")
    assert f"{name}' is " in refusal("train", "world", *flags, "--out", tmp_path / "run")
    assert not list(tmp_path.iterdir())


def test_outputs_are_checked_before_the_work(refusal, world_run, tmp_path):
    nowhere = tmp_path / "no" / "ranks.tsv"
    assert "does not exist" in refusal("evaluate", world_run, "--ranks", nowhere)
    assert "directory" in refusal("evaluate", world_run, "--ranks", tmp_path)


def test_unknown_data_set_suggests(refusal):
    assert "did you mean world?" in refusal("train", "wrold")


def test_nothing_to_train_on(refusal):
    assert "--config" in refusal("train")


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            'data = "world"\n[training]\nepoch = 3\n',
            "unknown key 'training.epoch'; did you mean epochs",
        ),
        ('[model]\nname = "nfe-1"\n', "'data' is missing"),
        ("data = \n", "is not TOML"),
        ('data = "world"\n[training.optimizer]\nlr = "fast"\n', "'training.optimizer.lr'"),
    ],
)
def test_bad_config(refusal, tmp_path, text, said):
    config = tmp_path / "mine.toml"
    config.write_text(text)
    assert said in refusal("train", "--config", config, "--out", tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_existing_directories_are_not_touched(refusal, world_run, tmp_path):
    assert "--resume continues it, --force replaces it" in refusal(
        "train", "world", "--dim", 2, "--out", world_run
    )
    (tmp_path / "precious.txt").write_text("mine")
    for force in ((), ("--force",)):
        sentence = refusal("train", "world", "--dim", 2, "--out", tmp_path, *force)
        assert "no run of kgflow" in sentence
    assert (tmp_path / "precious.txt").read_text() == "mine"


def test_damaged_runs(refusal, world_run, tmp_path):
    def damaged(change):
        copy = tmp_path / "copy"
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(world_run, copy)
        change(copy)
        return refusal("evaluate", copy)

    def shorten(name):
        return lambda run: (run / name).write_bytes((run / name).read_bytes()[:-100])

    assert "no config.toml" in damaged(lambda run: (run / "config.toml").unlink())
    assert "model.safetensors is missing" in damaged(
        lambda run: (run / "model.safetensors").unlink()
    )
    assert "model.safetensors is damaged" in damaged(shorten("model.safetensors"))
    assert "damaged run" in damaged(shorten("vocabulary.json"))
    assert "damaged run" in damaged(shorten("splits.safetensors"))
    older = (world_run / "config.toml").read_text().replace("format = 2", "format = 99")
    assert "format 99" in damaged(lambda run: (run / "config.toml").write_text(older))
    assert "is no run" in refusal("evaluate", tmp_path / "nowhere")


def test_bad_queries(refusal, world_run, tmp_path):
    ask = ("predict", world_run)
    assert "did you mean" in refusal(*ask, "--head", "Frnace", "--relation", "borders")
    assert "did you mean borders" in refusal(*ask, "--head", "France", "--relation", "border")
    assert "two of head" in refusal(*ask, "--head", "France")
    assert "k is 0" in refusal(*ask, "--head", "France", "--relation", "borders", "-k", "0")
    assert "no entity has type 'dog'" in refusal(
        *ask, "--head", "France", "--relation", "borders", "--type", "dog"
    )
    file = tmp_path / "q.tsv"
    file.write_text("France\tborders\t?\nFrance borders ?\n")
    assert "q.tsv:2" in refusal(*ask, "--file", file)
    assert "use either --file" in refusal(*ask, "--file", file, "--head", "France")
    assert "does not exist" in refusal(*ask, "--file", tmp_path / "none.tsv")


def test_bad_evaluations(refusal, world_run):
    assert "unknown split 'dev'" in refusal("evaluate", world_run, "--split", "dev")
    assert "unknown group" in refusal("evaluate", world_run, "--by", "colour")
    assert "did you mean" in refusal("discover", world_run, "--relation", "border")


def test_bad_coverages(refusal, world_run, tmp_path):
    ask = ("predict", world_run, "--head", "France")
    borders = (*ask, "--relation", "borders")
    assert "between 0 and 1" in refusal(*borders, "--coverage", "1")
    assert "between 0 and 1" in refusal("evaluate", world_run, "--coverage", "0")
    assert "ask with a relation" in refusal(*ask, "--tail", "Spain", "--coverage", "0.9")
    assert "k is 0" in refusal(*borders, "--coverage", "0.9", "-k", "0")
    assert "needs --coverage" in refusal(*borders, "--by-relation")
    assert "needs --coverage" in refusal("evaluate", world_run, "--nonconformity", "aps")
    said = refusal("evaluate", world_run, "--coverage", "0.9", "--nonconformity", "softmx")
    assert "did you mean softmax?" in said
    assert "--type cannot be used" in refusal(*borders, "--coverage", "0.9", "--type", "currency")
    assert "'training.conformal_fraction' is 1" in refusal(
        "train", "world", "--set", "training.conformal_fraction=1", "--out", tmp_path / "run"
    )
    old = shutil.copytree(world_run, tmp_path / "old")
    config = (old / "config.toml").read_text()
    changed = config.replace("conformal_fraction = 0.3", "conformal_fraction = 0.0")
    (old / "config.toml").write_text(changed)
    assert "training.conformal_fraction=0.3" in refusal("evaluate", old, "--coverage", "0.9")


def test_a_damaged_or_stale_calibration(refusal, kgflow, world_run, tmp_path):
    run = shutil.copytree(world_run, tmp_path / "run")
    ask = ("predict", run, "--head", "France", "--relation", "borders")
    file = run / "calibration.json"
    text = file.read_text()
    for damaged in ("", "{}", text[:-9], text.replace('"margin":', '"margin":1')):
        file.write_text(damaged)
        assert f"run kgflow calibrate {run}" in refusal(*ask)
    file.write_text(text.replace('"model":"', '"model":"0').replace('"model": "', '"model": "0'))
    assert "of another model" in refusal(*ask)
    assert kgflow("evaluate", run)[0] == 0
    assert kgflow("calibrate", run)[0] == 0
    assert file.read_text() == text
    assert kgflow(*ask)[0] == 0


def test_what_would_be_silently_dropped_is_refused(refusal, world_run, tmp_path):
    ask = ("predict", world_run, "--head", "France", "--relation", "borders")
    assert "leave out --out" in refusal(*ask, "--explain", 1, "--out", tmp_path / "o.tsv")
    assert "--explain cannot be used with" in refusal(*ask, "--explain", 1, "--coverage", 0.9)
    evaluate = ("evaluate", world_run, "--coverage", 0.9)
    assert "cannot be used with" in refusal(*evaluate, "--confidence", "--by", "relation")
    assert "--filter cannot be used" in refusal(*evaluate, "--filter", tmp_path / "facts.tsv")
    assert "take test" in refusal(*evaluate, "--split", "valid")
