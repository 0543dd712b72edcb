"""Runs of earlier versions keep the settings they had."""

import json
from pathlib import Path

from pacodi_jax.settings import EARLIER, Config, read

FIXTURES = Path(__file__).parents[1] / "fixtures/version_0_1"


def test_runs_of_version_0_1_have_the_settings_they_had():
    for path in FIXTURES.glob("*/config.json"):
        stored, found = json.loads(path.read_text()), read(path)
        told = json.loads(json.dumps(found.to_dict()))
        assert told.pop("data") == stored.pop("data") | EARLIER
        assert told == stored
        assert found.train.warmup_updates == stored["train"]["warmup"]
        del stored["train"]["calibration"]  # not in runs of earlier versions
        assert Config.make(stored).train.calibration == 0
