"""The parts of training, and how it refuses what cannot work."""

import json
import os
import re
import signal
import threading
import types

import jax
import jax.numpy as jnp
import numpy as np
import optax
import pytest

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.networks.products import matmul_flops
from pacodi_jax.settings import Config, TrainSettings
from pacodi_jax.train import (
    device_loop,
    display,
    fit,
    host_loop,
    log,
    optimiser,
    pace,
    refusals,
    signals,
    sources,
)
from tests.train import double

#: A norm that no gradient of these tests reaches.
FREE = 1e9
PLATEAU = {"decay": "plateau", "clip": FREE, "warmup": 0}


def build(**settings):
    return optimiser.build(TrainSettings(**settings))


def on_one_device(optimizer, params, gradients, losses=None):
    """Parameters after each gradient, on an axis of one device."""

    def walk(params, gradients, losses):
        def step(carry, inputs):
            params, state = carry
            gradient, loss = inputs
            updates, state = optimizer.update(gradient, state, params, value=loss)
            params = optax.apply_updates(params, updates)
            return (params, state), params

        return jax.lax.scan(step, (params, optimizer.init(params)), (gradients, losses))[1]

    losses = jnp.ones(len(jax.tree.leaves(gradients)[0])) if losses is None else losses
    add = lambda tree: jax.tree.map(lambda leaf: jnp.asarray(leaf)[None], tree)  # noqa: E731
    out = jax.vmap(walk, axis_name=parallel.AXIS)(add(params), add(gradients), add(losses))
    return jax.tree.map(lambda leaf: np.asarray(leaf[0]), out)


def test_learning_rate_climbs_then_falls_to_its_floor():
    rate = optimiser.learning_rate_schedule(
        TrainSettings(learning_rate=1e-2, steps=100, warmup=10, decay="cosine", final_rate=0.1)
    )
    np.testing.assert_allclose(
        [rate(0), rate(5), rate(10), rate(55), rate(100)],
        [0.0, 5e-3, 1e-2, 1e-2 * (0.1 + 0.9 / 2), 1e-3],
        rtol=1e-6,
    )


def test_accumulated_gradients_move_like_their_mean():
    params = {"kernel": np.ones((2, 2), np.float32)}
    gradients = np.random.default_rng(0).standard_normal((4, 2, 2)).astype(np.float32)
    options = {"learning_rate": 0.1, "decay": "constant", "clip": FREE, "warmup": 0}
    together = on_one_device(
        build(steps=2, **options),
        params,
        {"kernel": gradients.reshape(2, 2, 2, 2).mean(1)},
    )
    apart = on_one_device(build(steps=4, accumulate=2, **options), params, {"kernel": gradients})
    np.testing.assert_array_equal(apart["kernel"][0], params["kernel"])
    np.testing.assert_allclose(apart["kernel"][1::2], together["kernel"], rtol=1e-6)


def test_plateau_lowers_the_rate_when_the_loss_stays():
    made = build(learning_rate=0.1, steps=9, plateau_patience=3, plateau_factor=0.5, **PLATEAU)
    moved = on_one_device(made, {"bias": np.zeros(1)}, {"bias": np.ones((9, 1), np.float32)})
    steps = -np.diff(moved["bias"][:, 0], prepend=0.0)
    np.testing.assert_allclose(steps[[0, -1]], [0.1, 0.025], rtol=1e-3)


def test_only_matrices_decay():
    made = build(learning_rate=0.1, steps=1, decay="constant", weight_decay=0.5, warmup=0)
    params = {"kernel": np.ones((2, 2), np.float32), "bias": np.ones((2, 2), np.float32)}
    zero = jax.tree.map(lambda leaf: np.zeros((1, *leaf.shape), np.float32), params)
    after = on_one_device(made, params, zero)
    np.testing.assert_allclose(after["kernel"][0], 0.95)
    np.testing.assert_allclose(after["bias"][0], 1.0)


@pytest.mark.parametrize(
    ("options", "message"),
    [({"decay": "cosin"}, "Did you mean 'cosine'"), ({"warmup": 10}, r"train\.warmup=10 leaves")],
)
def test_impossible_optimiser_is_refused(options, message):
    with pytest.raises(PacodiError, match=message):
        build(learning_rate=0.1, steps=10, **options)


def test_a_plateau_is_seen_behind_accumulated_gradients_from_the_first_step_on():
    """The loss reaches the plateau's rule, and its best value of infinity skips no step."""
    made = build(learning_rate=0.1, steps=12, accumulate=2, plateau_patience=1, **PLATEAU)
    params = {"bias": np.zeros(1, np.float32)}
    moved = on_one_device(made, params, {"bias": np.ones((12, 1), np.float32)})
    steps = -np.diff(moved["bias"][:, 0], prepend=0.0)[1::2]
    np.testing.assert_allclose(steps[0], 0.1, rtol=1e-3)
    assert steps[-1] < 0.06


@pytest.mark.parametrize(("steps", "every"), [(40_000, 4000), (2000, 200), (5, 1)])
def test_what_goes_with_the_steps_follows_them(steps, every):
    settings = TrainSettings(steps=steps)
    assert settings.every("checkpoint_every") == settings.every("validate_every") == every
    assert 0 <= settings.warmup_updates < settings.updates
    assert TrainSettings(steps=steps, checkpoint_every=7).every("checkpoint_every") == 7
    assert TrainSettings().warmup_updates == TrainSettings().every("log_every") == 500


def test_mean_leaves_out_what_is_not_finite():
    sums = device_loop.Sums({"loss": 6.0, "norm": 0.0}, {"loss": 3.0, "norm": 0.0})
    assert device_loop.means(sums)["loss"] == 2.0
    assert np.isnan(device_loop.means(sums)["norm"])


@pytest.mark.parametrize("seconds", [1e-6, 1e-3, 0.011, 0.3, 7.0])
@pytest.mark.parametrize("log_every", [1, 20, 97, 200])
def test_chunks_end_where_metrics_are_due(seconds, log_every):
    length = pace.chunk_length(seconds, log_every)
    assert length >= 1
    assert log_every % length == 0 or length % log_every == 0
    assert length == 1 or length * seconds <= 0.5 * (1 + 1e-9)


def test_flops_of_a_scan_count_its_length():
    weights, rows = jnp.ones((8, 8)), jnp.ones((4, 8))

    def five(x):
        return jax.lax.scan(lambda x, _: (x @ weights, None), x, None, length=5)[0]

    assert matmul_flops(jax.make_jaxpr(five)(rows).jaxpr) == 5 * 2 * 4 * 8 * 8
    branches = jax.make_jaxpr(lambda x: jax.lax.cond(x.sum() > 0, five, lambda x: x @ weights, x))
    assert matmul_flops(branches(rows).jaxpr) == 5 * 2 * 4 * 8 * 8


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (1.42, "1.4 s"),
        (12.2, "12 s"),
        (200, "3 min 20 s"),
        (3725, "1 h 02 min"),
        (float("inf"), "unknown"),
    ],
)
def test_durations_are_read_at_a_glance(seconds, text):
    assert display.duration(seconds) == text


def test_resumed_metrics_tell_each_step_once(tmp_path):
    path = tmp_path / "metrics.jsonl"
    path.write_text('{"step": 10}\n{"step": 20}\n{"step": 30}\n{"step": 4')
    log.cut_metrics(path, 20)
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [10, 20]


def test_numbers_that_are_not_finite_are_null_in_the_metrics(tmp_path):
    with log.Metrics(tmp_path, 0) as metrics:
        metrics.write(5, {"loss": float("nan"), "norm": 1.0})
    written = json.loads((tmp_path / "metrics.jsonl").read_text())
    assert written == {"step": 5, "loss": None, "norm": 1.0}


def test_second_signal_interrupts_unless_it_is_an_echo_of_the_first():
    now = [0.0]
    with signals.Signals(clock=lambda: now[0]) as heard:
        os.kill(os.getpid(), signal.SIGTERM)
        assert heard.received == "SIGTERM"
        now[0] = 1.0  # the script that started the program passes Ctrl-C on as well
        os.kill(os.getpid(), signal.SIGINT)
        assert heard.received == "SIGTERM"
        now[0] = 3.0
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)


def settings(**changes):
    plain = {"steps": 40, "batch": 8, "checkpoint_every": 20, "validate_every": 20}
    return TrainSettings(**plain | changes)


def test_windows_that_are_not_finite_are_refused_by_row():
    windows = double.make(40)[1].windows
    windows.series[7, 1] = np.nan
    with pytest.raises(PacodiError, match="the first is row 7"):
        sources.OnDevices(windows, double.ORDER)


def test_rows_outside_all_windows_may_be_missing():
    rows = sources.rows_in_windows(double.make(40)[1].windows)
    assert not rows[-1]
    assert rows[:-1].all()


def test_run_measures_its_pace_resumes_and_refuses_other_data(tmp_path, capsys):
    generator, source = double.make(80)
    kept = {"seed": 0, "workdir": tmp_path, "display": display.Terminal()}
    steps = settings(steps=60)
    first = fit.fit(generator, source, steps, identity={"data": "a"}, **kept)
    said = capsys.readouterr().out
    assert (first.first, first.step, first.signal) == (0, 60, None)
    assert "parameters" in said
    assert "20 steps took" in said
    steps = settings(steps=80)
    second = fit.fit(generator, source, steps, identity={"data": "a"}, **kept)
    assert (second.first, second.step) == (60, 80)
    lines = [json.loads(x) for x in (tmp_path / "metrics.jsonl").read_text().splitlines()]
    assert lines[-1]["loss"] < lines[0]["loss"]
    with pytest.raises(
        PacodiError, match=r"begun with other data and is at step 80 \(a then, b now\)"
    ):
        fit.fit(generator, source, steps, identity={"data": "b"}, **kept)


def test_without_a_folder_and_a_display_nothing_is_written_or_printed(
    tmp_path, capsys, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    generator, source = double.make(40)
    run = fit.fit(generator, source, settings(), seed=0)
    assert run.step == 40
    said = capsys.readouterr()
    assert (said.out, said.err) == ("", "")
    assert not list(tmp_path.iterdir())


def test_a_thread_may_train_and_signals_stay_as_they_were():
    before = [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]
    generator, source = double.make(40)
    ended = []
    thread = threading.Thread(
        target=lambda: ended.append(fit.fit(generator, source, settings(), seed=0).step)
    )
    thread.start()
    thread.join()
    assert ended == [40]
    assert before == [signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)]


def config(width=8):
    return Config.default(size="tiny").changed({"model.width": width, "train.steps": 5})


def test_settings_that_make_another_run_are_refused_by_name(tmp_path):
    path = tmp_path / "config.json"
    (tmp_path / "checkpoints/20").mkdir(parents=True)
    refusals.refuse_other_settings(tmp_path, config())
    path.write_text(config().to_json())
    refusals.refuse_other_settings(tmp_path, config().changed({"train.steps": 50}))
    with pytest.raises(PacodiError, match=r"model\.width=16, but .* begun with 8"):
        refusals.refuse_other_settings(tmp_path, config(width=16))
    path.write_text("{")
    with pytest.raises(PacodiError, match="cannot be read"):
        refusals.refuse_other_settings(tmp_path, config())


@pytest.mark.parametrize("kept", ["checkpoints/20.damaged/state", "model.pacodi"])
def test_only_a_run_that_kept_nothing_begins_anew_with_other_settings(tmp_path, kept):
    (tmp_path / "checkpoints/20.orbax-checkpoint-tmp").mkdir(parents=True)
    (tmp_path / "config.json").write_text(config().to_json())
    refusals.refuse_other_settings(tmp_path, config(width=16))
    (tmp_path / kept).parent.mkdir(exist_ok=True)
    (tmp_path / kept).touch()
    with pytest.raises(PacodiError, match="width=16"):
        refusals.refuse_other_settings(tmp_path, config(width=16))


def test_batch_that_does_not_divide_is_refused_by_its_setting(monkeypatch):
    monkeypatch.setattr(jax, "device_count", lambda: 4)
    fit.refuse_uneven_batch(8)
    with pytest.raises(PacodiError, match=r"^train\.batch=30 .* 4 devices; use 28 or 32"):
        fit.refuse_uneven_batch(30)
    with pytest.raises(PacodiError, match=r"^train\.batch=3 .* 4 devices; use 4\."):
        fit.refuse_uneven_batch(3)


@pytest.mark.parametrize(("skipped", "refused"), [(10, False), (11, True), (20, True)])
def test_a_run_that_hardly_took_a_step_is_no_trained_model(skipped, refused):
    run = host_loop.Run(20, types.SimpleNamespace(skipped=np.int32(skipped)), 0, None)
    if not refused:
        refusals.refuse_skipped(run)
        return
    with pytest.raises(PacodiError, match=rf"^{skipped} of 20 steps were skipped.* none was writ"):
        refusals.refuse_skipped(run)
    refusals.refuse_skipped(run._replace(signal="SIGTERM"))  # it goes on some day


def test_a_run_that_diverged_is_no_trained_model(tmp_path):
    generator, source = double.make(30, optimizer=optax.adam(1e8))
    wild = settings(steps=30, chunk=5, log_every=5)
    with pytest.raises(PacodiError, match=r"^training diverged: the loss is \S+e\+\d"):
        fit.fit(generator, source, wild, seed=0, workdir=tmp_path)
    calm = settings(steps=30, chunk=5, log_every=5)
    fit.fit(*double.make(30), calm, seed=0)


def test_global_norm_over_all_arrays_is_clipped():
    """Far beyond the limit, in one array alone within it: (3, 4)·s is as if it were (3, 4)/5."""
    params = {"kernel": np.ones((1, 1), np.float32), "bias": np.ones(1, np.float32)}
    size = np.asarray([0.5, 1e3, 0.1, 30.0], np.float32)  # Adam alone forgets a common scale
    short = np.minimum(size, 1.0)
    made = lambda s: {"kernel": 0.6 * s[:, None, None], "bias": 0.8 * s[:, None]}  # noqa: E731
    options = {"learning_rate": 0.1, "steps": 4, "decay": "constant", "warmup": 0}
    clipped = on_one_device(build(clip=1.0, **options), params, made(size))
    free = on_one_device(build(clip=FREE, **options), params, made(short))
    for name in params:
        np.testing.assert_allclose(clipped[name], free[name], rtol=1e-5)


def test_plateau_leaves_a_falling_loss_alone_and_stops_at_its_floor():
    options = {"learning_rate": 0.1, "steps": 12, "plateau_patience": 1, **PLATEAU}
    ones = {"bias": np.ones((12, 1), np.float32)}
    losses = {
        "falls": 0.9 ** np.arange(12.0),
        "stays": np.ones(12),
        "creeps": 1 - 1e-3 * np.arange(12),
    }
    rates = {}
    for name, loss in losses.items():
        made = build(plateau_factor=0.5, final_rate=0.25, plateau_threshold=0.01, **options)
        moved = on_one_device(made, {"bias": np.zeros(1)}, ones, loss.astype(np.float32))
        rates[name] = -np.diff(moved["bias"][:, 0], prepend=0.0)
    np.testing.assert_allclose(rates["falls"], 0.1, rtol=1e-3)
    for name in ("stays", "creeps"):  # a fall below the threshold counts as none
        np.testing.assert_allclose(rates[name][-3:], 0.025, rtol=1e-3)


def test_live_line_tells_step_loss_speed_time_left_and_checkpoint(capsys, monkeypatch):
    monkeypatch.setattr(display.sys.stderr, "isatty", lambda: True, raising=False)
    live = display.Terminal()
    live.start(0, 200)
    live.show(100, 0.25, 1234.0, 5.0, 80)
    live._bar.refresh()
    shown = capsys.readouterr().err
    live.stop()
    assert "100/200" in shown
    assert re.search(r"\d\d:\d\d<\d\d:\d\d", shown)
    assert "loss 0.2500, 1,234 windows/s, checkpoint 80" in shown
    capsys.readouterr()
    monkeypatch.setattr(display.sys.stderr, "isatty", lambda: False, raising=False)
    plain = display.Terminal()
    plain.start(0, 200)
    plain.show(200, 0.25, 1234.0, 5.0, None)
    plain.stop()
    assert capsys.readouterr().out == (
        "step 200/200, loss 0.2500, 1,234 windows/s, no checkpoint yet, 5.0 s left\n"
    )


def test_tensorboard_has_the_metrics_where_it_is_installed(tmp_path, monkeypatch):
    pytest.importorskip("tensorboardX")
    with log.Metrics(tmp_path, 0) as metrics:
        metrics.write(5, {"loss": 0.5})
    (events,) = (tmp_path / "tensorboard").iterdir()
    assert b"loss" in events.read_bytes()
    monkeypatch.setattr(log.importlib.util, "find_spec", lambda name: None)
    with log.Metrics(tmp_path, 0) as metrics:
        metrics.write(5, {"loss": 0.5})
    assert len(list((tmp_path / "tensorboard").iterdir())) == 1
