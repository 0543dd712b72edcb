"""Where progress is a bar and where it is plain lines."""

import sys
import types

import pytest

from pacodi_jax.report import progress
from pacodi_jax.report.progress import progress_bar


def draw_one():
    with progress_bar("drawing", "window") as show:
        show(1, 1, "")


@pytest.mark.parametrize("kernel", [True, False])
def test_a_bar_is_shown_in_a_kernel_and_not_where_its_package_is_merely_imported(
    monkeypatch, capsys, kernel
):
    shell = types.SimpleNamespace(kernel=object()) if kernel else None
    monkeypatch.setitem(sys.modules, "ipykernel", types.ModuleType("ipykernel"))
    interactive = types.SimpleNamespace(get_ipython=lambda: shell, version_info=(9,))
    monkeypatch.setitem(sys.modules, "IPython", interactive)
    draw_one()
    assert bool(capsys.readouterr().err) == kernel


def test_compiling_before_the_first_part_is_not_counted_in_the_time_to_go(monkeypatch, capsys):
    now = [0.0]
    monkeypatch.setattr(progress, "time", types.SimpleNamespace(monotonic=lambda: now[0]))
    with progress_bar("drawing", "window") as show:
        for now[0], done in ((300.0, 1), (320.0, 3)):
            show(done, 5, "")
    told = capsys.readouterr().err.splitlines()
    assert told == ["drawing: 1 of 5", "drawing: 3 of 5, about 20 s to go"]
