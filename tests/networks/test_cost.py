"""The operations of the networks, and the command that counts them."""

import json
from functools import cache
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from pacodi_jax.cli import flops, network_costs
from pacodi_jax.networks import DualBranch, SingleBranch, choices
from pacodi_jax.networks.cost import abstract_inputs, count, product_flops, xla_flops
from pacodi_jax.report.costs import draw, lines
from tests.networks.parameters import quick


@cache
def costs(length, interaction="iso_flops"):
    pair = DualBranch(7, 128, 4, 4, interaction=interaction), SingleBranch(7, 128, 4, 4)
    return [count(network, length) for network in pair]


TOTALS = {24: 1.10, 64: 1.0, 128: 1.0, 256: 1.0, 512: 0.80, 1024: 0.70, 4096: 0.60}
HALVES = {64: 0.55, 128: 0.52, 256: 0.51, 512: 0.51, 1024: 0.505, 4096: 0.501}


@pytest.mark.parametrize(("length", "bound"), TOTALS.items())
def test_iso_flops_costs_no_more_than_a_temporal_network_once_windows_are_long(length, bound):
    spectral, temporal = costs(length)
    assert spectral.total + network_costs.fft_flops(length, 7) <= bound * temporal.total


@pytest.mark.parametrize(("length", "bound"), HALVES.items())
def test_attention_costs_half_as_the_window_grows(length, bound):
    spectral, temporal = costs(length)
    assert 0.5 * temporal.attention < spectral.attention <= bound * temporal.attention


@pytest.mark.parametrize("interaction", ["iso_flops", "time", "long"])
def test_training_step_on_long_windows_needs_less_than_six_gibibytes(interaction):
    """L = 4096, batch 8, D = 128, 4 layers: what XLA allots to the program, nothing is run."""
    network = DualBranch(7, 128, 4, 4, interaction=interaction)
    inputs = abstract_inputs(network, 4096, batch=8)
    params = jax.eval_shape(network.init, jax.random.key(0), *inputs)

    def loss(params, inputs):
        return sum(jnp.sum(part**2) for part in network.apply(params, *inputs))

    used = quick(jax.grad(loss)).lower(params, inputs).compile().memory_analysis()
    held = used.temp_size_in_bytes + used.argument_size_in_bytes + used.output_size_in_bytes
    assert 0.1 * 2**30 < held < 6 * 2**30


LONG = {64: 1.03, 128: 0.9, 256: 0.73, 1024: 0.36, 4096: 0.13}


@pytest.mark.parametrize(("length", "bound"), LONG.items())
def test_long_costs_less_than_a_temporal_network_once_windows_are_long(length, bound):
    spectral, temporal = costs(length, interaction="long")
    assert spectral.total + network_costs.fft_flops(length, 7) <= bound * temporal.total


def test_interaction_as_in_the_paper_costs_more_than_a_temporal_network_below_twice_the_width():
    spectral, temporal = costs(128, interaction="paper")
    assert spectral.total > 1.1 * temporal.total


@pytest.mark.parametrize("interaction", ["iso_flops", "paper", "time", "long"])
def test_the_program_that_is_counted_has_all_its_layers_written_out(interaction):
    """A loop's body counts once: three layers of four would be missing in all but products."""
    for counted in costs(24, interaction=interaction):
        assert 0.01 * counted.total < counted.elementwise < 0.03 * counted.total


@pytest.mark.parametrize("choice", ["stacks_branches", "copies_matrices"])
@pytest.mark.parametrize("length", [9, 24])
def test_counts_are_the_same_whatever_form_the_platform_likes(choice, length, monkeypatch):
    network = DualBranch(2, 16, 2, 2, interaction="time")
    here, other = count(network, length), not getattr(choices, choice)()
    monkeypatch.setattr(choices, choice, lambda: other)
    assert count(network, length) == here


def test_product_count_is_that_of_the_matrices_and_counts_every_turn_of_a_loop():
    x, w = jnp.ones((3, 4)), jnp.ones((4, 4))
    loop = lambda x, w: jax.lax.scan(lambda x, _: (x @ w, None), x, None, length=5)[0]  # noqa: E731
    assert product_flops(loop, x, w) == 5 * 2 * 3 * 4 * 4
    assert xla_flops(jnp.matmul, x, w) == 2 * 3 * 4 * 4
    batched = jnp.ones((2, 3, 4)), jnp.ones((2, 4, 4))
    assert product_flops(jnp.matmul, *batched) == 2 * 2 * 3 * 4 * 4


def test_product_count_of_a_condition_is_that_of_its_most_expensive_branch():
    x, w = jnp.ones((3, 4)), jnp.ones((4, 4))
    either = lambda x, w: jax.lax.cond(x[0, 0] > 0, lambda: x @ w @ w, lambda: x @ w)  # noqa: E731
    assert product_flops(either, x, w) == 2 * 2 * 3 * 4 * 4


def test_blocks_alone_cost_what_arithmetic_says():
    spectral, _ = costs(64)
    bins, width, hidden = 33, 128, 168
    block = bins * (4 * width**2 + 3 * width * hidden) + 6 * width**2
    ends = bins * 14 * width + 2 * width**2
    assert spectral.linear == 2 * (2 * 4 * block + 2 * ends + 2 * width**2)


def test_meeting_in_time_adds_its_mlp_and_its_transform():
    (spectral, _), (concatenated, _) = costs(48, interaction="time"), costs(48)
    bins, steps, width = 25, 48, 128
    less = 2 * bins * 3 * width * (168 - 88)
    assert spectral.linear - concatenated.linear == 2 * 4 * (steps * 6 * width**2 - less)
    assert spectral.transform == 2 * 4 * 2 * steps * 2 * bins * width
    assert concatenated.transform == 0
    assert spectral.attention == concatenated.attention


def test_command_counts_every_length_and_model(tmp_path, capsys):
    assert flops.main(["--lengths", "24,9", "--out", str(tmp_path / "new"), "--rounds", "0"]) == 0
    rows = json.loads((tmp_path / "new" / "flops.json").read_text())["rows"]
    assert [row["length"] for row in rows] == [24] * 5 + [9] * 5
    assert [row["model"] for row in rows[:5]] == [
        "temporal",
        "iso_flops",
        "paper",
        "time",
        "long",
    ]
    assert rows[0]["fft"] == 0 < rows[1]["fft"] < 0.001 * rows[1]["total"]
    assert (tmp_path / "new" / "flops.png").read_bytes().startswith(b"\x89PNG")
    assert capsys.readouterr().out.count("iso_flops") == 2


def test_command_has_a_folder_of_its_own_where_none_is_named(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert flops.main(["--lengths", "8", "--rounds", "0", "--depth", "1"]) == 0
    assert {path.name for path in Path("runs/flops").iterdir()} == {"flops.json", "flops.png"}


def test_times_are_compared_round_by_round(tmp_path):
    networks = {
        "temporal": SingleBranch(1, 4, 1, 1),
        "iso_flops": DualBranch(1, 4, 1, 1, interaction="iso_flops"),
    }
    times = network_costs.time_rows(networks, length=4, channels=1, tokens=8, rounds=3)
    assert times.shape == (3, 2, 2)
    assert np.all(times > 0)
    rows = [network_costs.count_row(name, network, 4, 1) for name, network in networks.items()]
    network_costs.add_times(rows, np.array([[[1.0, 2.0], [2.0, 2.0]], [[3.0, 4.0], [6.0, 2.0]]]))
    assert rows[0]["step_ratio"] == 1.0
    assert (rows[1]["forward_ratio"], rows[1]["step_ratio"]) == (2.0, 0.75)
    assert rows[1]["forward_quartiles_ms"] == [3.0, 5.0]
    draw([row | {"total_ratio": 1.0, "attention_ratio": 1.0} for row in rows], tmp_path / "a")
    assert (tmp_path / "a").stat().st_size > 0


def test_interactions_that_cost_the_same_are_one_line_of_the_picture():
    models = ("temporal", "iso_flops", "paper", "time")
    table = [
        {"model": model, "length": length, "alike": 1 / length, "unlike": i}
        for length in (8, 16)
        for i, model in enumerate(models)
    ]
    assert lines(table, "alike") == {"iso_flops = paper = time": {8: 1 / 8, 16: 1 / 16}}
    assert lines(table, "unlike") == {model: {8: i, 16: i} for i, model in enumerate(models) if i}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--lengths", "24,x"], "whole numbers"),
        (["--lengths", "0"], "at least 1 step"),
        (["--lengths", "8", "--heads", "3"], "heads=3 must divide width=128"),
        (["--lengths", "8", "--rounds", "-1"], "must not be negative"),
        (["--lengths", "8", "--channels", "0"], "--channels=0 must be at least 1"),
        (["--lengths", "8", "--tokens", "-5"], "--tokens=-5 must be at least 1"),
    ],
)
def test_mistakes_end_the_command_with_one_line(arguments, words, tmp_path, capsys):
    assert flops.main([*arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert error.startswith("error: ")
    assert words in error
    assert not list(tmp_path.iterdir())


def test_folder_that_cannot_be_written_is_refused_before_anything_is_counted(tmp_path, capsys):
    (tmp_path / "file").write_text("kept")
    for folder, words in [
        (tmp_path / "file", f"{tmp_path / 'file'} is a file; name a folder"),
        (tmp_path / "file" / "under", "cannot be written into: Not a directory"),
        (Path("/proc/self"), "/proc/self cannot be written into: "),
    ]:
        assert flops.main(["--lengths", "8", "--rounds", "0", "--out", str(folder)]) == 2
        out, error = capsys.readouterr()
        assert out == ""
        assert error.startswith("error: ")
        assert words in error
        assert error.count("\n") == 1


def test_result_that_cannot_be_written_is_one_line_too(tmp_path, capsys):
    (tmp_path / "flops.json").mkdir()
    arguments = ["--lengths", "8", "--rounds", "0", "--depth", "1", "--out", str(tmp_path)]
    assert flops.main(arguments) == 2
    assert (
        capsys.readouterr().err
        == f"error: {tmp_path / 'flops.json'} cannot be written: Is a directory.\n"
    )


def test_headings_say_what_a_ratio_is_of_and_what_is_counted():
    heading = network_costs.format_row()
    assert heading.count("of temporal") == 4
    assert {word for word, _, _ in network_costs.COLUMNS if word.endswith(" M")} == {
        *("total M", "attention M", "linear M", "FFT M", "other M")
    }
    assert "M: millions of floating-point operations" in network_costs.LEGEND
