import io
import tarfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from kgflow.data import catalog, download, downloads, load
from kgflow.data.catalog import CatalogEntry
from kgflow.data.downloads import blob_id, fetch
from kgflow.errors import KgflowError

FACTS = b"a\tr\tb\n"


def archive(*members):
    """A gzipped tar of (name, content) or ready members."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz") as tar:
        for member in members:
            if isinstance(member, tarfile.TarInfo):
                tar.addfile(member)
                continue
            info = tarfile.TarInfo(member[0])
            info.size = len(member[1])
            tar.addfile(info, io.BytesIO(member[1]))
    return out.getvalue()


def special(name, kind, link=""):
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, link
    return info


SPLITS = [(f"./some/{split}.txt", FACTS) for split in ("train", "valid", "test")]
GOOD = archive(special("some", tarfile.DIRTYPE), *SPLITS, ("some/README", b"hello"))


@pytest.fixture
def serve():
    """Serve bytes on this machine and give an entry that points at them."""
    servers = []

    def _serve(body, status=200, blob=None):
        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(status)
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = HTTPServer(("127.0.0.1", 0), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, args=(0.01,)).start()
        address = f"http://127.0.0.1:{server.server_port}/mine.tar.gz"
        return CatalogEntry("mine", "", archive=address, blob=blob or blob_id(io.BytesIO(body)))

    yield _serve
    for server in servers:
        server.shutdown()
        server.server_close()


def test_a_good_archive_arrives_and_loads(serve, tmp_path):
    received = []
    place = fetch(serve(GOOD), tmp_path / "cache" / "mine", received.append)
    assert sorted(p.name for p in place.iterdir()) == ["test.txt", "train.txt", "valid.txt"]
    assert [p.name for p in place.parent.iterdir()] == ["mine"]
    assert received[-1] == len(GOOD)
    assert load(place).entities.names == ("a", "b")


BAD = {
    "escape": (archive(*SPLITS, ("../evil", b"x")), "unsafe member '../evil'"),
    "nested escape": (archive(("a/../../evil", b"x"), *SPLITS), "unsafe member"),
    "absolute": (archive(*SPLITS, ("/tmp/kgflow-evil", b"x")), "unsafe member"),
    "symlink": (archive(*SPLITS, special("s", tarfile.SYMTYPE, "/etc/passwd")), "unsafe member"),
    "hard link": (archive(*SPLITS, special("l", tarfile.LNKTYPE, "/etc/passwd")), "unsafe member"),
    "device": (archive(*SPLITS, special("d", tarfile.CHRTYPE)), "unsafe member"),
    "fifo": (archive(*SPLITS, special("f", tarfile.FIFOTYPE)), "unsafe member"),
    "incomplete": (archive(*SPLITS[:2]), "no test.txt"),
    "twice": (archive(*SPLITS, ("other/train.txt", FACTS)), "not a valid archive"),
    "not an archive": (b"hello", "not a valid archive"),
    "truncated": (GOOD[:-30], "not a valid archive"),
}


@pytest.mark.parametrize("case", BAD)
def test_a_bad_archive_leaves_nothing_behind(case, serve, tmp_path):
    body, what = BAD[case]
    with pytest.raises(KgflowError, match=what):
        fetch(serve(body), tmp_path / "cache" / "mine")
    assert [p for p in tmp_path.rglob("*") if p.name != "cache"] == []


def test_another_checksum_is_refused(serve, tmp_path):
    with pytest.raises(KgflowError, match="checksum differs from the known one"):
        fetch(serve(GOOD, blob="0" * 40), tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_too_large_a_body_or_member_is_refused(serve, tmp_path, monkeypatch):
    monkeypatch.setattr(downloads, "MAX_MEMBER_BYTES", 3)
    with pytest.raises(KgflowError, match="too large"):
        fetch(serve(GOOD), tmp_path / "mine")
    monkeypatch.setattr(downloads, "MAX_ARCHIVE_BYTES", 100)
    with pytest.raises(KgflowError, match="more than 100 bytes"):
        fetch(serve(GOOD), tmp_path / "mine")
    assert list(tmp_path.iterdir()) == []


def test_a_failing_server_is_reported(serve, tmp_path):
    with pytest.raises(KgflowError, match="download failed"):
        fetch(serve(b"", status=404), tmp_path / "mine")


def test_only_pinned_data_sets_are_downloaded_and_only_once(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(KgflowError, match="codex-m has no address"):
        download("codex-m")
    with pytest.raises(KgflowError, match="unknown data set"):
        download("../umls")
    (catalog.cache_directory() / "umls").mkdir(parents=True)
    assert download("umls") == tmp_path / "kgflow" / "umls"
