"""The conditional table: its cells, the rows that need no training, and what stays open."""

import json

import numpy as np
import pytest


@pytest.fixture(scope="module")
def table(benchmark):
    return benchmark("conditional_table")


def test_every_system_has_a_cell_for_each_set_length_and_seed(table):
    cells = list(table.cells([]))
    assert len(cells) == len({cell.name for cell in cells}) == 3 * 3 * 5 * 9
    assert [cell.name for cell in table.cells(["air-96-t2s-4"])] == ["air-96-t2s-4"]


@pytest.mark.parametrize("system", ["pacodi_sde", "pacodi_ddpm", "t2s", "diffusion_ts", "timevae"])
def test_every_trained_cell_is_valid_and_reads_statements(table, system):
    config = table.config_of(table.Cell("air", 48, system, 3), steps=7)
    assert (config.seed, config.data.length, config.train.steps) == (3, 48, 7)
    assert config.text.encoder == "statements"
    for way in table.MODELS[system][2]:
        config.sample.replace(**way)


def test_errors_of_a_known_window(table):
    windows = np.array([[[1.0], [3.0]], [[10.0], [10.0]]])
    found = table.scores(windows, (windows + 1)[None])
    assert found["mse_single"] == found["mse"] == pytest.approx(1)
    assert found["wape"] == pytest.approx(4 / 24)
    assert found["wape_each"] == pytest.approx((2 / 4 + 2 / 20) / 2)


def test_borrowed_statistics_are_those_of_the_window_that_is_asked_for(table):
    draw = np.random.default_rng(0)
    made = table._with_statistics(draw.normal(size=(3, 5, 24, 1)), 7 + draw.normal(size=(5, 24, 1)))
    asked = 7 + np.random.default_rng(0).normal(size=(5, 24, 1))
    again = table._with_statistics(made, asked)
    np.testing.assert_allclose(again.mean(2), np.broadcast_to(asked.mean(1), (3, 5, 1)), atol=1e-6)
    np.testing.assert_allclose(again.std(2), np.broadcast_to(asked.std(1), (3, 5, 1)), atol=1e-6)


def test_the_page_has_means_intervals_and_the_open_cells(table, tmp_path, monkeypatch):
    monkeypatch.setattr(table, "RESULTS", tmp_path)
    for seed, error in enumerate((0.1, 0.3)):
        test = dict.fromkeys(table.COLUMNS, error)
        cell = {"source": "etth1", "length": 24, "system": "timevae", "seed": seed, "test": test}
        (tmp_path / f"{seed}.json").write_text(json.dumps({**cell, "steps": 5}))
    told = table.page()
    assert "## etth1, L = 24" in told
    assert told.splitlines()[2].startswith("Not known yet: 2 of 225 trainings")
    assert "| timevae | 2 | 5 | 0.200 ± 1.271 |" in told
    assert "- etth1, L = 24: pacodi_sde (0 of 5), " in told
    assert "timevae (2 of 5)" in told
    assert "- air, L = 96: all\n" in told
