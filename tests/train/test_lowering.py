"""The step and the sampler, lowered for GPU and TPU: no call to the host, the state donated.

Nothing of this runs on a GPU; it says that nothing in the programs is for the CPU alone.
"""

import re

import jax
import jax.numpy as jnp
import numpy as np
import pandas as pd
import pytest
from jax import export
from jax.extend.core import jaxprs_in_params

from pacodi_jax import parallel
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import room
from pacodi_jax.settings import Config, TrainSettings
from pacodi_jax.train import device_loop, estimate, fit, optimiser
from pacodi_jax.train.from_config import train
from pacodi_jax.train.sources import OnDevices
from tests.models import small
from tests.parallel import gradients
from tests.train import double

PLATFORMS = ("cuda", "tpu")


def program(backend):
    """The step of a small model under the optimiser of a run, and what it takes."""
    model = small.build(optimiser=optimiser.build(TrainSettings(steps=100)))
    source = OnDevices(gradients.windows(), lambda step: jnp.arange(small.BATCH))
    state = jax.tree.map(np.asarray, small.state(model, small.params()))
    step = parallel.map_step(device_loop.chunk(model, source.batch, 9), backend)
    live, data = parallel.replicate(state, backend), source.data(0, backend)
    return step, (live, data, np.int32(1))


def test_a_training_step_is_lowered_for_gpu_and_tpu():
    step, arguments = program("shard_map")
    made = export.export(step, platforms=PLATFORMS)(*arguments)
    assert made.platforms == PLATFORMS
    leaves = len(jax.tree.leaves(arguments[0]))
    assert made.mlir_module().count("tf.aliasing_output") == leaves  # the state is donated, whole


def test_a_sampler_is_lowered_for_gpu_and_tpu():
    model = small.build()
    draw = model.traceable(small.params(), 3)
    made = export.export(jax.jit(draw), platforms=PLATFORMS)(jax.random.key(0))
    assert made.platforms == PLATFORMS
    assert "callback" not in made.mlir_module()


@pytest.mark.parametrize("backend", parallel.BACKENDS)
def test_a_step_never_calls_the_host_and_takes_the_state_over(backend):
    step, arguments = program(backend)
    names = set(primitives(jax.make_jaxpr(step)(*arguments).jaxpr))
    assert "while" in names
    assert not {name for name in names if re.search("callback|infeed|outfeed|debug", name)}
    text = step.lower(*arguments).as_text()
    assert "callback" not in text
    assert text.count("tf.aliasing_output") == len(jax.tree.leaves(arguments[0]))


def primitives(jaxpr):
    """The names of all primitives of a program, those of inner programs too."""
    for equation in jaxpr.eqns:
        yield equation.primitive.name
        for inner in jaxprs_in_params(equation.params):
            yield from primitives(inner)


def test_memory_is_told_as_xla_counts_it_and_refused_where_it_does_not_fit(monkeypatch, capsys):
    step, arguments = program("pmap")
    needed = estimate.of_compiled(step.lower(*arguments).compile())
    held = parallel.bytes_per_device(arguments[:2])
    assert abs(needed.held - held) < 0.2 * held
    assert needed.added > 0
    room.require_on_device(needed.held, needed.added, "a step")
    device = _Device(bytes_limit=needed.held + needed.added - 1)
    monkeypatch.setattr(room.jax, "local_devices", lambda: [device])
    with pytest.raises(PacodiError, match=r"^a step: that takes .* on each device, which has"):
        room.require_on_device(needed.held, needed.added, "a step")


class _Device:
    def __init__(self, **told):
        self.memory_stats = lambda: told


def test_training_refuses_a_step_that_does_not_fit(monkeypatch):
    generator, source = double.make(40)
    monkeypatch.setattr(room, "available", lambda: 1000)
    monkeypatch.setattr(fit.Session.__init__.__globals__["room"], "require", _only_compiled)
    settings = TrainSettings(steps=40, batch=8)
    with pytest.raises(PacodiError, match=r"^train\.batch=8: refused"):
        fit.fit(generator, source, settings, seed=0)


def _only_compiled(needed, what, advice):
    if what == "train.batch=8":
        raise PacodiError(f"{what}: refused")


def test_bfloat16_products_train_as_float32_does_within_a_hundredth(tmp_path):
    """2,000 steps of a small network: the losses agree, and all state stays float32."""
    rows = np.random.default_rng(0).standard_normal((600, 2))
    table = pd.DataFrame(np.sin(np.arange(600) / 3)[:, None] + 0.5 * rows, columns=["a", "b"])
    changes = {"data.source": "table", "data.length": 8, "model.width": 16, "model.depth": 1}
    changes |= {"model.heads": 2, "train.batch": 16, "train.steps": 2000, "train.log_every": 500}
    found = {}
    for dtype in ("float32", "bfloat16"):
        wanted = Config.default(size="tiny").changed(changes | {"model.dtype": dtype})
        run = train(wanted, tmp_path / dtype, table=table).run
        for leaf in jax.tree.leaves(run.state):
            assert leaf.dtype != jnp.bfloat16
        told = pd.read_json(tmp_path / dtype / "metrics.jsonl", lines=True)
        found[dtype] = told["loss"].dropna().iloc[-1], told["validation"].dropna().iloc[-1]
    np.testing.assert_allclose(found["bfloat16"], found["float32"], rtol=0.01)
    assert found["bfloat16"] != found["float32"]
