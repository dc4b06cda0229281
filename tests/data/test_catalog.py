from pathlib import Path

import pytest

from kgflow.data import catalog, list_datasets, load
from kgflow.errors import KgflowError

NAMES = """wn18rr fb15k-237 yago3-10 wn18 fb15k umls kinship nations countries-s1 countries-s2
countries-s3 codex-s codex-m codex-l nell-995 cn15k nl27k ppi5k yago3-10-quarter humanbio world"""


@pytest.fixture(autouse=True)
def machine(tmp_path, monkeypatch):
    """An empty machine: no data sets in $KGFLOW_DATA, none in the cache."""
    monkeypatch.setenv("KGFLOW_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_name_has_an_entry():
    assert set(catalog.entries()) == set(NAMES.split())


def test_only_pinned_entries_have_an_address_and_all_checksums_are_whole():
    for entry in catalog.entries().values():
        assert (entry.archive is None) == (entry.blob is None)
        assert entry.blob is None or len(entry.blob) == 40
        assert set(entry.sha256) in (set(), {"train", "valid", "test"})
        assert all(len(digest) == 64 for digest in entry.sha256.values())


def test_data_sets_are_found_in_the_chosen_folder_and_then_in_the_cache(write, machine):
    write("cache/kgflow/umls/train.tsv", "a\tr\tb\n")
    assert {e.name: p for e, p in list_datasets()}["umls"] == machine / "cache/kgflow/umls"
    write("data/umls/train.tsv", "a\tr\tb\n")
    assert catalog.find_directory("umls") == machine / "data/umls"


def test_without_variables_the_cache_is_in_the_home_directory(monkeypatch):
    monkeypatch.delenv("KGFLOW_DATA")
    monkeypatch.delenv("XDG_CACHE_HOME")
    assert catalog.data_directory() == Path.home() / ".cache" / "kgflow"


def test_unexpected_counts_give_a_notice(write):
    write("data/umls/train.tsv", "a\tr\tb\na\tr\tb\n")
    notices = load("umls").notices
    assert any(
        "2 entities instead of 135" in n and "2 train instead of 5,216" in n for n in notices
    )


def test_a_local_directory_serves_when_the_catalogue_has_none(write, machine):
    write("umls/train.tsv", "a\tr\tb\n")
    assert load("umls").notices == ()
    write("data/umls/train.tsv", "a\tr\tc\n")
    assert "c" in load("umls").entities


def test_the_error_for_a_missing_data_set_names_its_directory(machine):
    with pytest.raises(KgflowError) as caught:
        load("umls")
    assert str(machine / "data" / "umls") in str(caught.value)
    assert "kgflow data download umls" in str(caught.value)
    with pytest.raises(KgflowError) as caught:
        load("codex-m")
    assert "download" not in str(caught.value)


def test_an_unknown_name_gets_suggestions():
    with pytest.raises(KgflowError, match=r"unknown data set 'fb15k237'; did you mean fb15k-237"):
        load("fb15k237")
    with pytest.raises(KgflowError, match="kgflow data list"):
        load("zzz")
