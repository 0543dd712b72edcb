"""The project's own files: one version, bounds and pins that fit, YAML that parses."""

import re
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
import yaml
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import pacodi_jax

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def _direct() -> list[Requirement]:
    """Every requirement that pyproject.toml names, of the package and of its extras."""
    project = PROJECT["project"]
    lists = [project["dependencies"], *project["optional-dependencies"].values()]
    named = [Requirement(line) for lines in lists for line in lines]
    return [requirement for requirement in named if requirement.name != project["name"]]


def _pins() -> dict[str, str]:
    lines = (ROOT / "constraints.txt").read_text().splitlines()
    pins = dict(line.split("==") for line in lines if not line.startswith("#"))
    return {canonicalize_name(name): version for name, version in pins.items()}


def _minors() -> list[str]:
    """The versions of Python that the classifiers promise."""
    prefix = "Programming Language :: Python :: 3."
    found = [c for c in PROJECT["project"]["classifiers"] if c.startswith(prefix)]
    return [c.rpartition(" ")[2] for c in found]


def test_version_is_written_once():
    assert "version" not in PROJECT["project"]
    source = PROJECT["tool"]["setuptools"]["dynamic"]["version"]
    assert source == {"attr": "pacodi_jax.__version__"}
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == pacodi_jax.__version__


@pytest.mark.parametrize("requirement", _direct(), ids=lambda r: r.name)
def test_every_requirement_has_a_lower_bound_that_the_pin_meets(requirement):
    assert {s.operator for s in requirement.specifier} == {">="}
    assert requirement.specifier.contains(_pins()[canonicalize_name(requirement.name)])


@pytest.mark.parametrize("requirement", _direct(), ids=lambda r: r.name)
def test_what_is_installed_here_meets_the_bounds(requirement):
    try:
        installed = metadata.version(requirement.name)
    except metadata.PackageNotFoundError:
        pytest.skip(f"{requirement.name} belongs to an extra that is not installed")
    assert requirement.specifier.contains(installed)


def test_lowest_python_is_the_first_classifier():
    assert PROJECT["project"]["requires-python"] == f">={_minors()[0]}"
    assert PROJECT["tool"]["mypy"]["python_version"] == _minors()[0]
    assert PROJECT["tool"]["ruff"]["target-version"] == "py" + _minors()[0].replace(".", "")


def test_every_promised_python_is_tested():
    workflow = yaml.safe_load((ROOT / ".github/workflows/test.yml").read_text())
    assert workflow["jobs"]["suite"]["strategy"]["matrix"]["python"] == _minors()
    assert f'versions="{" ".join(_minors())}"' in (ROOT / "launch/test_matrix.sh").read_text()


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda p: p.name)
def test_workflows_call_scripts_that_exist(path):
    workflow = yaml.safe_load(path.read_text())
    assert workflow.keys() >= {"name", True, "permissions", "jobs"}  # YAML 1.1 reads `on` as true
    steps = [step for job in workflow["jobs"].values() for step in job["steps"]]
    named = re.findall(r"bash (\S+\.sh)", " ".join(step.get("run", "") for step in steps))
    assert named
    assert all((ROOT / script).is_file() for script in named)


def test_citation_names_the_paper():
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation.keys() >= {"cff-version", "message", "title", "authors"}
    assert citation["license"] == PROJECT["project"]["license"]
    (paper,) = citation["references"]
    assert paper["title"] == "Parallel Complex Diffusion for Scalable Time Series Generation"
    assert paper["authors"][0] == {"given-names": "Rongyao", "family-names": "Cai"}


def test_hooks_before_a_commit_are_those_of_ci():
    (local,) = yaml.safe_load((ROOT / ".pre-commit-config.yaml").read_text())["repos"]
    assert local["repo"] == "local"
    assert [hook["id"] for hook in local["hooks"]] == ["ruff-check", "ruff-format", "mypy"]


def test_every_extra_is_explained():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    for extra in PROJECT["project"]["optional-dependencies"]:
        assert f"`{extra}`" in guide, extra
