"""The paper's tables as a grid: cells are commands that run, the page is made of records."""

import importlib
import json

import pytest

from pacodi_jax.cli import overrides
from pacodi_jax.metrics import Estimate, Panel


@pytest.fixture(scope="module")
def tables(benchmark):
    return benchmark("tables")


class Paced(dict):
    """Every step of every model takes ten milliseconds."""

    def __contains__(self, name):
        return True

    def __missing__(self, name):
        return 10.0


@pytest.fixture
def paced(tables, monkeypatch):
    """The number of steps of timed cells is known."""
    monkeypatch.setattr(tables, "known_pace", Paced)


def settings(cell):
    """The cell's config, with its overrides applied as the command applies them."""
    spec, texts, _ = overrides.split(cell.command)
    return overrides.make(spec, texts)


def test_every_cell_has_a_name_of_its_own_and_valid_settings(tables, paced):
    cells = tables.grid(seeds=2)
    assert len({cell.name for cell in cells}) == len(cells)
    for cell in cells:
        config = settings(cell)
        assert config.data.length == cell.length
        assert config.seed == cell.seed
        diffusion = getattr(config.family, "diffusion", None)
        assert (getattr(diffusion, "statistics", "") == "oracle") == (cell.protocol == "paper")
        assert config.train.steps == cell.steps
        named = [part for part in cell.arguments.split(",") if part.startswith("model=")]
        assert [f"model={config.model.name}"] == (named or ["model=pacodi"])


def test_timed_cells_have_the_steps_of_their_minutes_and_stop_at_the_authors(tables, paced):
    steps = {cell.name: cell.steps for cell in tables.grid() if cell.budget in tables.MINUTES}
    assert steps["etth1-24-timegan-own-honest-equal"] == 10 * 6000
    assert steps["etth1-24-timegan-own-honest-hour"] == 150_000
    assert steps["etth1-24-timevae-own-honest-hour"] == 60 * 6000
    assert steps["stocks-24-diffusion_ts-own-honest-hour"] == 10_000
    systems = {"pacodi", "ddpm", "freqdiff", "diffusion_ts", "timevae", "timegan", "decoupled"}
    for data in tables.SETS:
        found = [name for name in steps if name.startswith(f"{data}-24-") and "equal" in name]
        assert {name.split("-")[2] for name in found if "honest" in name} == systems


def test_a_cell_without_a_pace_is_open(tables, tmp_path, monkeypatch):
    cell = next(c for c in tables.grid() if c.budget == "equal")
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    cell.result.write_text("{}")
    assert not cell.is_paced
    assert not cell.done
    (tmp_path / "pace.json").write_text(json.dumps({cell.paced: 2.0}))
    assert (cell.is_paced, cell.steps) == (True, 300_000)


def test_the_grid_holds_what_the_paper_compares(tables):
    short = {(c.data, c.length, c.model, c.variant, c.protocol) for c in tables.grid()}
    for data in ("etth1", "stocks", "sines", "air"):
        for kind in ("pacodi", "temporal"):
            assert {(data, 24, kind, v, "honest") for v in ("sde", "ddpm")} <= short
        assert {(data, 24, kind, "sde", "honest") for kind in ("decoupled", "monolithic")} <= short
        assert {(data, 24, "pacodi", v, "paper") for v in ("sde", "ddpm")} <= short
        for length in (64, 128, 256):
            long = {(data, length, kind, "sde", "honest") for kind in ("pacodi", "temporal")}
            assert long <= short
        assert (data, 64, "pacodi", "ddpm", "honest") in short
    for data in ("etth1", "sines"):
        relatives = {(data, 128, kind, "sde", "honest") for kind in ("decoupled", "monolithic")}
        assert relatives <= short


#: The settings of a record: what decided its numbers.
METHOD = {
    "seeds": [0],
    "windows": 3000,
    "encoder_steps": 600,
    "discriminative_steps": 2000,
    "predictive_steps": 5000,
    "strong_steps": 500,
    "encoder": "TS2Vec",
    "correlational_windows": 1000,
    "projections": 256,
    "neighbours": 5,
    "scale": "min-max",
    "interval": "Student's t",
}


def made_result(tables, cell, value):
    """The record as the page reads it."""
    panel = Panel.from_record(made_record(tables, cell, value))
    return importlib.import_module("results_format").Result(cell.name, panel)


def made_record(tables, cell, value):
    """A record as ``run`` keeps it, every score at ``value`` between a floor and a ceiling."""
    page = importlib.import_module("results_page")
    part = {"value": 0.02, "interval": [0.01, 0.03], "windows": 3000}
    scores = [
        {
            "name": name,
            "split": split,
            "better": "lower",
            "word": "close to real",
            "value": value,
            "interval": [value - 0.001, value + 0.001],
            "floor": part,
            "ceiling": part,
        }
        for name in {**page.PAPER_SCORES, **page.FURTHER_SCORES}
        for split in ("train", "held_out")
    ]
    return {
        "cell": cell._asdict(),
        "command": cell.said,
        "machine": {"cores": 2},
        "windows_per_second": 1000.0,
        **cell.recorded,
        "training_minutes": 1.0,
        "processor_minutes": 10.0,
        "authors_steps": cell.authors_steps,
        "evaluations": 500,
        "drawn_per_second": 3.14,
        "peak_megabytes": 900,
        "validation": 0.8,
        "model": {"steps": cell.steps, "parameters": 353_531},
        "protocol": cell.protocol,
        "settings": METHOD,
        "memorisation": {"synthetic": 0.1, "train_apart": 0.1, "held_out": 0.2, "ratio": 1.0},
        "scores": scores,
    }


def test_minutes_of_training_count_all_parts_of_a_run_once(tables):
    lines = [
        {"step": 100, "loss": 1.0, "windows_per_second": 32.0},
        {"step": 200, "loss": 1.0, "windows_per_second": 8.0},  # lost to a kill
        {"step": 200, "validation": 0.5},
        {"step": 200, "loss": 1.0, "windows_per_second": 16.0},
    ]
    assert tables.training_minutes(lines, 32) == pytest.approx((100 + 200) / 60)


def test_processor_minutes_are_summed_over_lines_and_unknown_for_old_runs(tables):
    lines = [{"step": s, "loss": 1.0, "processor_seconds": 30.0} for s in (10, 20, 20)]
    assert tables.table_runs.processor_minutes(lines) == 1.0
    assert tables.table_runs.processor_minutes([{"step": 1, "loss": 1.0}]) is None


def test_the_pages_say_where_the_aim_is_missed(tables, paced, tmp_path):
    page = importlib.import_module("results_page")
    (tmp_path / "paper.json").write_text((tables.RESULTS / "paper.json").read_text())
    parts = {"floor": {"0": 0.01, "1": 0.03}, "7": [0.1, 0.2, 0.3, 0.4, 0.5, 0.6]}
    scores = {"context_fid_v1": parts, "correlational_v1": parts}
    (tmp_path / "history.json").write_text(json.dumps({"air": {"scores": scores}}))
    (tmp_path / "speed").mkdir()
    speeds = {"24": {"training": {"ours": [20.0, 30.0], "theirs": [10.0, 10.0]}}}
    (tmp_path / "speed" / "diffusion_ts.json").write_text(json.dumps(speeds))
    for cell in tables.grid():
        value = 0.5 if cell.data == "air" else 0.001
        record = made_record(tables, cell, value)
        (tmp_path / f"{cell.name}.json").write_text(json.dumps(record))
    copies = [tmp_path / path.name for path in tables.PAGES]
    for path, copy in zip(tables.PAGES, copies, strict=True):
        copy.write_text(path.read_text())
    found = {path.stem: path.read_text() for path in page.write(tmp_path, copies)}
    assert "12 of 16 cells; by the mean alone 12." in found["paper"]
    assert found["paper"].count("**no**") == 4
    assert all("Not run yet" not in text for name, text in found.items() if name != "few_steps")
    assert "| Air, Context-FID | 0.020 | 0.350 (0.150 to 0.550) |" in found["perfect_generator"]
    assert "|  | floor | blocks of 7 L |" in found["perfect_generator"]
    assert "| 24, training | 25.0 | 10.0 | 2.50 (2.00 to 3.00) |" in found["baselines"]
    system = "| 1.00 | 353,531 | 60,000 of 150,000 | 10.0 | 500 | 3.1 |"
    assert found["baselines"].count(system) == 4  # TimeGAN on four sets
    assert found["baselines"].count("*floor: real windows*") == 4
    rows = "".join(found.values()).split("\n| PaCoDi SDE, 40,000 steps |")[1:]
    assert len(rows) == 2 * len(page.PAPER_SCORES) + len(page.FURTHER_SCORES)
    assert "paper: PaCoDi SDE | 0.015 | 0.022 | 0.007 | 0.026" in found["paper"]
    assert f"PaCoDi DDPM, {tables.STEPS['short']:,} steps, **paper protocol**" in found["paper"]
    assert "| PaCoDi, here | 0.001 ± " in found["results"]


def test_a_system_that_was_not_run_is_told_as_open(tables, paced):
    page = importlib.import_module("results_baselines")
    cell = next(c for c in tables.grid() if c.name == "air-24-timevae-own-honest-equal")
    told = page.equal_minutes([made_result(tables, cell, 0.4)])
    assert "**Air**" in told
    assert "ETTh1" not in told
    assert "| TimeVAE | 0.400 ± 0.001 |" in told
    assert told.count("| open |") >= 7
    assert "| TimeVAE | open | open | open | 0.805 | 0.786 |" in page.published([])


def test_tables_of_the_pages_are_those_of_the_kept_results(tables):
    page = importlib.import_module("results_page")
    paper = json.loads((tables.RESULTS / "paper.json").read_text())
    made = page.tables(page.read(tables.RESULTS), paper, tables.RESULTS)
    texts = {path: path.read_text() for path in tables.PAGES}
    stale = [path.name for path, text in texts.items() if page.fill(text, made) != text]
    assert not stale, "run: python benchmarks/tables.py write"
    assert {name for text in texts.values() for _, name, *_ in page.MARKED.findall(text)} == {*made}


def test_the_first_training_of_a_cell_is_read_first(tables, tmp_path):
    page = importlib.import_module("results_page")
    for seed in (1, 0):
        cell = tables.grid()[0]._replace(seed=seed)
        record = made_record(tables, cell, 0.1)
        (tmp_path / f"{cell.name}.json").write_text(json.dumps(record))
    assert [result.cell["seed"] for result in page.read(tmp_path)] == [0, 1]


def test_the_page_says_who_is_lower_and_whether_clearly(tables):
    page = importlib.import_module("results_page")
    near, far = (Estimate(v, (v - 0.01, v + 0.01)) for v in (0.02, 0.05))
    between = Estimate(0.035, (0.025, 0.045))
    assert page.verdict(near, far, "rival") == "clearly PaCoDi"
    assert page.verdict(far, near, "rival") == "clearly **rival**"
    assert page.verdict(between, near, "rival") == "**rival**"
    cells = [c for c in tables.grid() if c.length == 24 and c.model in ("pacodi", "temporal")]
    cells = [c for c in cells if c.budget in ("short", "final")]
    results = [made_result(tables, c, 0.1 if c.model == "temporal" else 0.5) for c in cells]
    told = page.against(results, "temporal", page.FIRST)
    assert told.count("clearly **temporal DiT**") == 8
    assert told.count(" 8,000 and 11,200 steps |") == 4
    assert told.count("40,000 and 56,000 steps |") == 4
    again = [made_result(tables, c._replace(seed=1), 0.3) for c in cells if c.data == "air"]
    told = page.against(results + again, "temporal", page.FIRST)
    both = "0.400 ± 1.271 (0.500, 0.300) | 0.200 ± 1.271 (0.100, 0.300) |"  # t of one freedom
    assert told.count(both) == 2
    assert told.count("clearly **temporal DiT**") == 6
    for result in results:
        if result.cell["model"] == "temporal":
            result.panel.facts["learning_rate"] = 1.4e-3
    assert page.against(results, "temporal", page.FIRST) == ""


def test_few_steps_are_measured_against_the_long_baseline(benchmark):
    page = benchmark("results_few_steps")
    point = lambda value, speed: {  # noqa: E731
        "context_fid_v1": [value - 0.001, value, value + 0.001],
        "windows_per_second": speed,
    }
    points = {
        ("euler_maruyama", "500"): point(0.030, 10.0),
        ("heun", "10"): point(0.040, 400.0),
        ("wiener_ab2", "20"): point(0.032, 250.0),
        ("wiener_ab2", "50"): point(0.010, 100.0),
    }
    told = page.baseline("ETTh1", points)
    assert "0.032 (`wiener_ab2`, 20)" in told
    assert "within or below the interval, at 25 times its speed" in told
    points["wiener_ab2", "20"] = point(0.036, 250.0)
    assert "above the interval" in page.baseline("ETTh1", points)


def test_a_cell_is_done_only_by_its_own_command_and_defaults(tables, tmp_path, monkeypatch):
    cell = tables.grid()[0]
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    assert not cell.done
    own = {"command": cell.said, **cell.recorded}
    cell.result.write_text(json.dumps(own))
    assert cell.done
    longer = {"command": cell.said + " --config.train.steps=1"}
    for other in (longer, {"learning_rate": 1.0}, {"weighting": "elbo"}, {"scaling": "robust"}):
        cell.result.write_text(json.dumps(own | other))
        assert not cell.done


def test_a_setting_counts_by_its_value_whether_a_command_names_it_or_not(
    tables, tmp_path, monkeypatch
):
    cell = next(c for c in tables.grid() if c.budget == "short" and c.protocol == "honest")
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    named = "--config.train.calibration=0"
    assert named in cell.said.split()
    silent = " ".join(part for part in cell.said.split() if part != named)
    cell.result.write_text(json.dumps({"command": silent, **cell.recorded}))
    assert cell.done
    cell.result.write_text(json.dumps({"command": silent, **cell.recorded, "calibration": 100}))
    assert not cell.done


def test_a_run_is_kept_shortened_as_the_other_results_are(tables, tmp_path, monkeypatch):
    cell = tables.grid()[0]
    path = tables.RESULTS / f"{cell.name}.json"
    known = json.loads(path.read_text())
    full = {**known, "schema": 1, "verdict": ["It is."], "seconds": 3.0, "sampler": {"steps": 20}}
    scores = tmp_path / cell.name / "scores" / "scores.json"
    scores.parent.mkdir(parents=True)
    told = {"title": "t", "about": "a", "group": "paper", "seeds": [0], "position": 0.1}
    bounds = {role: {**known["scores"][0][role], "values": [1.0]} for role in ("floor", "ceiling")}
    first = {**known["scores"][0], **told, "above_floor": False, **bounds}
    scores.write_text(json.dumps({**full, "scores": [first, *known["scores"][1:]]}))
    facts = {key: known[key] for key in known if key not in ("model", "protocol", "settings")}
    rest = {key: facts[key] for key in facts if key not in ("memorisation", "scores")}
    monkeypatch.setattr(tables, "RUNS", tmp_path)
    monkeypatch.setattr(tables, "RESULTS", tmp_path)
    monkeypatch.setattr(tables, "train", lambda *_: 900)
    monkeypatch.setattr(tables, "facts", lambda *_: rest)
    monkeypatch.setattr(tables, "keep_samples", lambda *_: None)
    tables.run(cell)
    assert json.loads(cell.result.read_text()) == known


@pytest.mark.parametrize("parts", [1, 3, 1000])
def test_shards_of_the_grid_share_all_cells_and_none_twice(tables, paced, parts):
    shares = [tables.chosen(["*-short"], 1, tables.Shard(i, parts)) for i in range(parts)]
    every = [cell.name for share in shares for cell in share]
    assert sorted(every) == sorted(cell.name for cell in tables.chosen(["*-short"], 1))
