"""The catalogue: what a file must be, where it is looked for, and how it is fetched once."""

import functools
import gzip
import hashlib
import http.server
import io
import threading
import zipfile

import numpy as np
import pandas as pd
import pytest

from pacodi_jax import data
from pacodi_jax.data import builders, catalogue
from pacodi_jax.errors import PacodiError


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *arguments):
        pass


def _made(name: str) -> bytes:
    """A file of an entry's exact format with made values."""
    entry = catalogue.CATALOGUE[name]
    values = np.random.default_rng(0).normal(size=(entry.rows, len(entry.channels))).round(3)
    frame = pd.DataFrame(values, columns=list(entry.channels))
    if entry.time == ("date",):
        step = entry.frequency
        stamps = pd.date_range("2016-07-01", periods=entry.rows, freq=step)
        frame.insert(0, "date", stamps.strftime("%Y-%m-%d %H:%M:%S"))
    content = frame.to_csv(index=False, header=entry.header).encode()
    return gzip.compress(content, 1) if entry.file.endswith(".gz") else content


def _publish(monkeypatch, name, content, **changes):
    """Makes ``content`` the published file of an entry."""
    digest = "sha256:" + hashlib.sha256(content).hexdigest()
    entry = catalogue.CATALOGUE[name]._replace(digest=digest, **changes)
    monkeypatch.setattr(catalogue, "CATALOGUE", {**catalogue.CATALOGUE, name: entry})
    return entry


@pytest.fixture
def server(tmp_path):
    folder = tmp_path / "served"
    folder.mkdir()
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as found:
        thread = threading.Thread(target=found.serve_forever)
        thread.start()
        yield folder, f"http://127.0.0.1:{found.server_port}/"
        found.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv(catalogue.VARIABLE, raising=False)
    return tmp_path / "cache" / "pacodi_jax"


@pytest.mark.parametrize("name", ["etth2", "ettm1", "ettm2", "energy"])
def test_a_file_of_the_published_format_is_read(name, tmp_path, monkeypatch):
    content = _made(name)
    entry = _publish(monkeypatch, name, content)
    (tmp_path / entry.file).write_bytes(content)
    found = data.load(data.DataSettings(source=name, path=tmp_path, length=24))
    assert found.report.rows == entry.rows
    assert found.recipe.channels == entry.channels
    assert found.recipe.licence == entry.licence
    if entry.time:
        assert found.recipe.clock.frequency == entry.frequency


def test_the_wide_headerless_electricity_file_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(
        catalogue,
        "CATALOGUE",
        {**catalogue.CATALOGUE, "ecl": catalogue.CATALOGUE["ecl"]._replace(rows=400)},
    )
    content = _made("ecl")
    entry = _publish(monkeypatch, "ecl", content)
    (tmp_path / entry.file).write_bytes(content)
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path))
    assert data.load(data.DataSettings(source="ecl", length=8)).train.channels == 321


def test_both_published_forms_of_the_air_data_are_one_table(data_dir, tmp_path):
    entry = catalogue.CATALOGUE["air"]
    plain = catalogue.read(data_dir / entry.file, entry)
    names = {"CO_GT": "CO(GT)", "PT08_S1_CO": "PT08.S1(CO)", "NOx_GT": "NOx(GT)"}
    text = plain.rename(columns=names).to_csv(sep=";", decimal=",", index=False)
    text = "\n".join(line + ";;" for line in text.splitlines()) + "\n" + ";" * 16 + "\n"
    original = tmp_path / entry.file
    original.write_text(text.replace(":", "."))
    a, b = (
        data.load(data.DataSettings(source="air", path=p, length=24)) for p in (data_dir, original)
    )
    np.testing.assert_array_equal(a.train.values(), b.train.values())
    assert "NMHC_GT" in a.report.left_out


def test_a_damaged_file_has_the_wrong_checksum(data_dir, tmp_path):
    content = (data_dir / "ETTh1.csv").read_bytes()
    (tmp_path / "ETTh1.csv").write_bytes(content.replace(b"5.827", b"5.828", 1))
    with pytest.raises(PacodiError, match=r"wrong checksum.*ETDataset.*source='table'"):
        data.load(data.DataSettings(source="etth1", path=tmp_path, length=24))


def test_git_digests_are_those_of_git(tmp_path):
    (tmp_path / "f").write_bytes(b"hello\n")
    entry = catalogue.CATALOGUE["ettm1"]
    catalogue.verify(
        tmp_path / "f", entry._replace(digest="git:ce013625030ba8dba906f756967f9e9ca394464a")
    )
    with pytest.raises(PacodiError, match="wrong checksum"):
        catalogue.verify(tmp_path / "f", entry)


def test_a_download_is_checked_and_prepared_once(server, cache, monkeypatch):
    folder, url = server
    content = _made("etth2")
    entry = _publish(monkeypatch, "etth2", content, url=url + "ETTh2.csv")
    (folder / "ETTh2.csv").write_bytes(content)
    first = data.load(data.DataSettings(source="etth2", length=24))
    (folder / "ETTh2.csv").unlink()
    second = data.load(data.DataSettings(source="etth2", length=24))
    direct = data.load(
        data.DataSettings(source="etth2", path=cache / "files" / entry.file, length=24)
    )
    assert first.fingerprint == second.fingerprint == direct.fingerprint
    assert list(cache.rglob("*.array_record*"))


def test_a_download_in_an_archive_is_unpacked(server, cache, monkeypatch):
    folder, url = server
    content = _made("stocks")
    entry = _publish(monkeypatch, "stocks", content, url=url + "stocks.zip")
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as file:
        file.writestr(entry.file, content)
    (folder / "stocks.zip").write_bytes(archive.getvalue())
    assert builders.download("stocks", cache / "files").read_bytes() == content


def test_a_tampered_download_is_refused_and_not_kept(server, cache, monkeypatch):
    folder, url = server
    _publish(monkeypatch, "stocks", _made("stocks"), url=url + "stock_data.csv")
    (folder / "stock_data.csv").write_bytes(b"something else")
    with pytest.raises(PacodiError, match="wrong checksum"):
        data.load(data.DataSettings(source="stocks", length=24))
    assert not list((cache / "files").iterdir())


def test_offline_the_error_names_url_file_folder_and_variable(cache, monkeypatch, tmp_path):
    _publish(monkeypatch, "energy", b"", url="http://127.0.0.1:9/energy_data.csv")
    monkeypatch.setenv(catalogue.VARIABLE, str(tmp_path))
    with pytest.raises(PacodiError) as caught:
        data.load(data.DataSettings(source="energy", length=24))
    for word in (
        "http://127.0.0.1:9/",
        "energy_data.csv",
        str(tmp_path),
        str(cache),
        "PACODI_DATA_DIR",
    ):
        assert word in str(caught.value)
