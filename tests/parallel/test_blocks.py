"""Rows in blocks: any block and any number of devices give the same rows."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.parallel import in_blocks
from tests.parallel.draws import CASES, draw

SCRIPT = Path(__file__).parent / "draws.py"


@pytest.fixture(scope="module", params=[1, 4])
def drawn(request, tmp_path_factory):
    """Rows drawn on some number of devices, and that number."""
    environ = os.environ | {
        "XLA_FLAGS": f"--xla_force_host_platform_device_count={request.param}",
        "NPROC": "16",
        "JAX_PLATFORMS": "cpu",
    }
    path = tmp_path_factory.mktemp("draws") / "draws.npz"
    subprocess.run([sys.executable, SCRIPT, path], env=environ, check=True, timeout=240)
    return request.param, dict(np.load(path))


@pytest.mark.parametrize(("count", "block"), CASES)
def test_rows_are_bitwise_those_of_one_block_on_one_device(drawn, count, block):
    _, found = drawn
    whole = np.asarray(jax.jit(draw)(np.arange(count)))
    assert found[f"{count}.{block}"].tobytes() == whole.tobytes()
    assert len(whole) == count


@pytest.mark.parametrize(("count", "block"), CASES)
def test_every_block_has_one_shape_on_all_devices_and_one_program(drawn, count, block):
    devices, found = drawn
    ((size, used),) = found[f"{count}.{block}.seen"]
    assert used == devices
    assert size % devices == 0
    assert min(count, block) <= size < min(count, block) + devices
    assert found[f"{count}.{block}.traces"] == 1


def test_the_last_block_repeats_the_last_row():
    blocks = []
    result = in_blocks(lambda rows: blocks.append(np.asarray(rows)) or rows, 5, 3)
    assert isinstance(result, np.ndarray)
    np.testing.assert_array_equal(result, np.arange(5))
    np.testing.assert_array_equal(np.concatenate(blocks), [0, 1, 2, 3, 4, 4])


def test_progress_counts_rows_and_ends_at_the_count():
    heard = []
    in_blocks(lambda rows: rows, 7, 3, progress=lambda done, count: heard.append((done, count)))
    assert heard == [(3, 7), (6, 7), (7, 7)]


def test_the_next_block_is_dispatched_before_the_last_is_gathered_and_no_further():
    order = []
    in_blocks(
        lambda rows: order.append(("draw", int(rows[0]))) or rows,
        6,
        2,
        progress=lambda done, count: order.append(("have", done)),
    )
    assert order == [
        ("draw", 0),
        ("draw", 2),
        ("have", 2),
        ("draw", 4),
        ("have", 4),
        ("have", 6),
    ]


@pytest.mark.parametrize(("count", "block", "name"), [(0, 3, "count=0"), (3, 0, "block=0")])
def test_nothing_to_draw_is_refused(count, block, name):
    with pytest.raises(PacodiError, match=name):
        in_blocks(lambda rows: rows, count, block)
