"""Training, kills, full disks, edits and draws in any order: a folder never lies or sticks."""

import contextlib
import json
import shutil
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from pacodi_jax import checkpoint
from pacodi_jax.cli import sample
from pacodi_jax.errors import PacodiError
from pacodi_jax.run import folder
from tests.run import still

EDITS = {
    "config.json": lambda kept: kept["data"].update(scaling="min_max"),
    "recipe.json": lambda kept: kept["scaler"].update(factor=[3.0]),
    "model.json": lambda kept: kept.update(steps=99),
}


class Folder(RuleBasedStateMachine):
    """One run folder, the steps that its model has, and the file that was edited."""

    def __init__(self):
        super().__init__()
        self.place = Path(tempfile.mkdtemp())
        self.run = self.place / "run"
        self.steps, self.edited, self.open = 0, None, contextlib.ExitStack()
        self.open.enter_context(still.family())

    def teardown(self):
        self.open.close()
        shutil.rmtree(self.place)

    @initialize()
    def begin(self):
        assert still.command(self.run) == 0
        self.steps = 2

    @precondition(lambda self: self.edited is None)
    @rule(more=st.sampled_from([0, 2]), count=st.integers(1, 3))
    def go_on(self, more, count):
        assert still.command(self.run, self.steps + more, count) == 0
        self.steps += more
        assert np.load(self.run / "samples/samples.npy").shape == (count, 8, 1)

    @precondition(lambda self: self.edited is None)
    @rule(bad=st.integers(1, 30), how=st.sampled_from(["fails", "full", "kills"]))
    def break_down(self, bad, how):
        disk = still.Disk(self.run, bad, full=how == "full", kills=how == "kills")
        with contextlib.suppress(still.Killed), disk.watched():
            assert still.command(self.run, self.steps + 2) in (0, 2)
        assert still.command(self.run, self.steps + 2) == 0
        self.steps += 2

    @precondition(lambda self: self.edited is None)
    @rule(name=st.sampled_from(sorted(EDITS)))
    def edit(self, name):
        self.edited = (self.run / name, (self.run / name).read_bytes())
        tree = json.loads(self.edited[1])
        EDITS[name](tree)
        self.edited[0].write_text(json.dumps(tree))

    @precondition(lambda self: self.edited is not None)
    @rule()
    def undo(self):
        self.edited[0].write_bytes(self.edited[1])
        self.edited = None

    @rule(count=st.integers(1, 3))
    def draw(self, count):
        before = (self.run / "samples/samples.npy").read_bytes()
        code = sample.main([str(self.run), f"-n{count}"])
        assert code == (2 if self.edited else 0)
        if code:
            assert (self.run / "samples/samples.npy").read_bytes() == before
        else:
            assert len(np.load(self.run / "samples/samples.npy")) == count

    @invariant()
    def the_model_is_what_it_says(self):
        if not self.steps:
            return
        assert checkpoint.load(self.run / folder.MODEL).header["facts"]["steps"] == self.steps
        if self.edited:
            with pytest.raises(PacodiError, match=f"{self.edited[0].name} says"):
                folder.load(self.run)
        else:
            assert folder.load(self.run).facts["steps"] == self.steps
        hidden = [*self.run.glob(".*"), *self.run.glob("samples/.*")]
        assert {path.name for path in hidden} <= {".lock"}


Folder.TestCase.settings = settings(max_examples=4, stateful_step_count=6, deadline=None)
TestFolder = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")(
    Folder.TestCase
)
