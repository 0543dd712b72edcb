"""The wheel, built from the sdist and installed into an empty environment outside the clone.

By default that environment borrows the installed dependencies, which takes seconds and no network.
``PACODI_WHEEL_FROM_REGISTRY=1`` installs them from the registry instead.
"""

import os
import shutil
import site
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import pytest

import pacodi_jax

ROOT = Path(__file__).parents[2]
FROM_REGISTRY = os.environ.get("PACODI_WHEEL_FROM_REGISTRY") == "1"
#: The trained reader of sentences, a part of the package.
READER = "pacodi_jax/text/encoders/statement_reader.safetensors"
DATA = (".csv", ".gz", ".npy", ".npz", ".parquet", ".safetensors", ".txt")

LIBRARY = """
import numpy as np
import pandas as pd
import pacodi_jax as pj

steps = np.arange(400)
columns = {"load": np.sin(steps / 5), "heat": np.cos(steps / 7)}
frame = pd.DataFrame({"date": pd.date_range("2024-01-01", periods=400, freq="h"), **columns})
model = pj.PaCoDi(length=8, time="date", seed=0, settings={"train.steps": 5})
model.fit(frame)
drawn = model.sample(3)
assert {"date", "load", "heat"} <= set(drawn.columns), drawn.columns
assert model.sample(3, output="numpy").shape == (3, 8, 2)
model.save("load.pacodi")
pd.testing.assert_frame_equal(pj.load("load.pacodi").sample(3), drawn)
"""


def run(*command: object, cwd: Path, **environ: str) -> str:
    """Runs a program without this clone on its path; returns what it prints."""
    clean = {k: v for k, v in os.environ.items() if k not in ("PYTHONPATH", "VIRTUAL_ENV")}
    done = subprocess.run(
        [str(part) for part in command],
        cwd=cwd,
        env=clean | {"JAX_PLATFORMS": "cpu"} | environ,
        capture_output=True,
        text=True,
        timeout=900,
    )
    assert done.returncode == 0, f"{command}: {done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    return done.stdout


@pytest.fixture(scope="session")
def built(tmp_path_factory) -> tuple[Path, Path]:
    """The sdist, and the wheel that was built from it; nothing is left in the clone."""
    folder = tmp_path_factory.mktemp("built")
    unwanted = shutil.ignore_patterns(
        ".git", ".venv*", ".*_cache", ".hypothesis", "__pycache__", "*.egg-info", "build", "dist",
        "runs",
    )  # fmt: skip
    source = shutil.copytree(ROOT, folder / "source", ignore=unwanted)
    run(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder / "dist", cwd=source)
    (sdist,), (wheel,) = (list((folder / "dist").glob(f"*{end}")) for end in (".tar.gz", ".whl"))
    return sdist, wheel


@pytest.fixture(scope="session")
def environment(built, tmp_path_factory) -> Path:
    """The programs of an environment that holds the wheel and knows nothing of the clone."""
    home = tmp_path_factory.mktemp("environment")
    run(sys.executable, "-m", "venv", "--without-pip", home, cwd=home)
    python = home / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", python, "install", "--quiet", built[1]]
    if not FROM_REGISTRY:
        # A folder that a .pth file names is searched, but its own .pth files are not read. So an
        # editable install of the clone stays out of sight.
        (found,) = home.glob("lib/python*/site-packages")
        (found / "borrowed.pth").write_text("\n".join(site.getsitepackages()))
        install += ["--no-deps", "--no-index", "--ignore-installed"]
    run(*install, cwd=home)
    return python.parent


@pytest.fixture
def folder(tmp_path: Path, cache: Path, monkeypatch) -> Path:
    """An empty folder outside the clone."""
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(cache / "programs"))
    return tmp_path


def test_registry_would_accept_the_files(built, tmp_path):
    assert "PASSED" in run(
        sys.executable, "-m", "twine", "check", "--strict", *built, cwd=tmp_path, NO_COLOR="1"
    )


def test_wheel_holds_the_package_and_no_more(built):
    with zipfile.ZipFile(built[1]) as wheel:
        names = wheel.namelist()
        (points,) = [n for n in names if n.endswith("entry_points.txt")]
        assert "pacodi = pacodi_jax.cli.pacodi:script" in wheel.read(points).decode()
    info = f"pacodi_jax-{pacodi_jax.__version__}.dist-info"
    assert {n.split("/")[0] for n in names} == {"pacodi_jax", info}
    viewer = {f"pacodi_jax/report/viewer/viewer.{kind}" for kind in ("css", "js")}
    assert viewer | {"pacodi_jax/py.typed", READER} <= set(names)
    modules = {str(p.relative_to(ROOT)) for p in (ROOT / "pacodi_jax").rglob("*.py")}
    assert {n for n in names if n.endswith(".py")} == modules


def test_sdist_holds_tests_and_pages_but_no_data(built):
    with tarfile.open(built[0]) as sdist:
        names = [member.name.partition("/")[2] for member in sdist if member.isfile()]
    wanted = {
        "tests/conftest.py",
        "docs/reference/data.md",
        "configs/sines.py",
        "launch/test.sh",
        "LICENSE",
    }
    assert wanted <= set(names)
    data = [n for n in names if n.endswith(DATA) and not n.startswith("tests/fixtures/")]
    assert {n for n in data if ".egg-info/" not in n} == {"constraints.txt", READER}


def test_package_is_imported_from_the_wheel(environment, folder):
    code = "import pacodi_jax; print(pacodi_jax.__file__, pacodi_jax.__version__)"
    file, version = run(environment / "python", "-W", "error", "-c", code, cwd=folder).split()
    assert Path(file).is_relative_to(environment.parent)
    assert version == pacodi_jax.__version__


def test_requirements_of_the_package_are_met(environment, folder):
    check = [sys.executable, "-m", "pip", "--python", environment / "python", "check"]
    done = subprocess.run([*map(str, check)], cwd=folder, capture_output=True, text=True)
    mine = [line for line in done.stdout.splitlines() if line.startswith("pacodi-jax ")]
    assert not mine
    assert done.returncode == 0 or not FROM_REGISTRY, done.stdout


def test_console_script_explains_itself(environment, folder):
    assert "usage: pacodi" in run(environment / "pacodi", "--help", cwd=folder)


def test_command_finds_the_packaged_preset_in_an_empty_folder(environment, folder):
    run(
        environment / "python",
        "-m",
        "pacodi_jax.main",
        "--config=configs/sines.py:size=tiny,length=8",
        "--workdir=run",
        "--config.train.steps=5",
        "--samples=3",
        cwd=folder,
    )
    assert (folder / "run" / "samples" / "samples.csv").is_file()
    assert [path.name for path in folder.iterdir()] == ["run"]


def test_library_fits_samples_saves_and_loads(environment, folder):
    run(environment / "python", "-c", LIBRARY, cwd=folder)
    assert [path.name for path in folder.iterdir()] == ["load.pacodi"]
