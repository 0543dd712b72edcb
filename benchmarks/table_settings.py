"""What the cells of the grid of ``tables.py`` are: models, protocols and budgets."""

from typing import Any

#: Data set, length, model, variant, protocol and budget of a cell.
Kind = tuple[str, int, str, str, str, str]

SETS = ("etth1", "sines", "stocks", "air")

#: Training steps of a budget. Those of ``recipe`` are gradients, of which two make an update.
STEPS = {"short": 8_000, "final": 40_000, "recipe": 36_000}
#: Processor minutes of a budget.
MINUTES = {"equal": 10, "hour": 60}
#: Short runs compare networks, so their samples are not calibrated; final ones are what users get.
#: Runs of equal minutes compare systems: FreqDiff and DDPM take 1000 evaluations per window, so
#: all are scored on 1000 windows per seed.
_TIMED = {
    "evaluate.seeds": 3,
    "evaluate.windows": 1000,
    "sample.count": 100,
    "train.calibration": 0,
}
BUDGETS: dict[str, dict[str, Any]] = {
    "short": {"evaluate.seeds": 3, "train.calibration": 0},
    "final": {},
    "equal": _TIMED,
    "hour": _TIMED,
    "recipe": {"evaluate.seeds": 3, "train.calibration": 0},
}
#: Baselines have PaCoDi's minutes: the steps that they take on one core in the time of one step of
#: PaCoDi at L = 24 (the page has the minutes of every run). Ablations have PaCoDi's steps.
PACE = {"temporal": 1.4, "monolithic": 4.0}
#: Steps of the authors' settings where the preset has none: TimeVAE's 1000 epochs of ETTh1 in
#: batches of 16, and TimeGAN's 50,000 per stage.
AUTHORS = {"timevae": 868_000, "timegan": 150_000}

#: How a model's cells differ from PaCoDi's: config arguments and overrides.
MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "pacodi": ("", {}),
    "decoupled": ("", {"model.interaction": "none"}),
    "temporal": ("model=temporal", {}),
    "monolithic": ("model=monolithic", {}),
    "ddpm": ("model=temporal,preset=ddpm", {}),
    "recipe": ("preset=paper", {}),
    "diffusion_ts": ("model=diffusion_ts", {}),
    "timevae": ("model=timevae", {}),
    "timegan": ("model=timegan", {}),
    "freqdiff": ("model=freqdiff", {}),
}
#: The variant of models that have one process of their own.
OWN = "own"
#: Quick to sample first: FreqDiff's windows take longer than its training.
SYSTEMS = [
    ("timevae", OWN),
    ("timegan", OWN),
    ("diffusion_ts", OWN),
    ("pacodi", "sde"),
    ("pacodi", "ddpm"),
    ("decoupled", "sde"),
    ("ddpm", OWN),
    ("freqdiff", OWN),
]

#: The paper's protocol with this project's training: only the handling of the data is the paper's.
#: ``authors`` is that of the baselines: the same data, nothing borrowed when sampling.
#: ``generated`` makes the paper's recipe honest: level and scale are generated, not borrowed.
PROTOCOLS: dict[str, dict[str, Any]] = {
    "honest": {},
    "authors": {"data.protocol": "paper", "data.scaling": "min_max"},
    "generated": {"data.protocol": "honest", "diffusion.statistics": "generated"},
    "paper": {
        "data.protocol": "paper",
        "data.scaling": "min_max",
        "diffusion.statistics": "oracle",
        "train.calibration": 0,
    },
}


def recipes() -> list[Kind]:
    """The paper's own recipe, and beside it the same with honest data and statistics."""
    kinds = [("etth1", "sde"), ("etth1", "ddpm"), ("sines", "sde")]
    return [
        (data, 24, "recipe", variant, protocol, "recipe")
        for protocol in ("paper", "generated")
        for data, variant in kinds
    ]


def timed() -> list[Kind]:
    """Cells of equal processor minutes, then those of the authors' settings."""
    rivals = [kind for kind in SYSTEMS if kind[1] == OWN and kind[0] != "ddpm"]
    equal = [(data, 24, *kind, "honest", "equal") for data in SETS for kind in SYSTEMS]
    authors = [("etth1", 24, *kind, "authors", "equal") for kind in rivals]
    hour = [(data, 24, *kind, "honest", "hour") for data in SETS for kind in rivals]
    long = [
        (data, length, *kind, "honest", "equal")
        for length in (64, 128, 256)
        for data in ("etth1", "sines")
        for kind in SYSTEMS
        if kind[0] in ("timevae", "diffusion_ts", "freqdiff") or kind == ("pacodi", "sde")
    ]
    return equal + authors + hour + long
