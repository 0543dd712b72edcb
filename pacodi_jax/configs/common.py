"""Every setting there is, with its default. The other configs change only what differs.

    python -m pacodi_jax.main --config=configs/NAME.py --workdir=runs/NAME

A config takes arguments after a colon, and single keys can be overridden:

    --config=configs/etth1.py:length=64,variant=ddpm,size=base,preset=paper
    --config.train.steps=20000

| argument | values |
|---|---|
| length | steps a window |
| variant | sde (continuous time), ddpm (T discrete steps) |
| model | pacodi, temporal (a DiT over time steps), monolithic (both quadratures in one branch) |
| size | tiny, small, base, large |
| preset | default (what measures best), paper (the paper's model to the letter) |
"""

from typing import Any

from ml_collections import ConfigDict, config_dict

from pacodi_jax.train.config import parse_arguments

SIZES = {"tiny": (32, 2, 2), "small": (64, 3, 4), "base": (96, 4, 4), "large": (128, 4, 8)}
ARGUMENTS = ("length", "variant", "model", "size", "preset")


def get_config(
    arguments: str = "", *, extra: dict | None = None, better: dict | None = None, **data: Any
) -> ConfigDict:
    """Returns the locked defaults with the data settings and the arguments of the flag applied.

    Args:
      arguments: what follows the colon of ``--config=FILE.py:…``.
      extra: the names of further arguments, and the values that each accepts.
      better: settings by name that measure better on this data set than the defaults do;
        ``preset=paper`` overrides them.
      **data: settings of ``config.data`` that differ from the defaults.
    """
    given = parse(arguments, extra or {})
    config = ConfigDict()
    config.seed = 0
    config.data = _data(data)
    config.model = _model(given.get("model", "pacodi"), given.get("size", "small"))
    config.diffusion = _diffusion()
    config.train = _train()
    config.sample = _sample()
    config.evaluate = _evaluate()
    config.text = _text()
    if "length" in given:
        config.data.length = int(given["length"])
    config.diffusion.variant = given.get("variant", "sde")
    config.lock()  # from here on a setting that does not exist is refused
    for name, value in (better or {}).items():
        part, key = name.split(".")
        config[part][key] = value
    if config.model.name == "temporal" and config.diffusion.statistics == "generated":
        config.diffusion.statistics = "none"  # time steps have no vacant slot for level and scale
    if given.get("preset", "default") == "paper":
        _as_in_the_paper(config)
    return config


def parse(arguments: str, extra: dict) -> dict[str, str]:
    """Parses a config's arguments, the common ones and those in ``extra``."""
    choices = {
        **extra,
        "variant": ("sde", "ddpm"),
        "model": ("pacodi", "temporal", "monolithic"),
        "size": tuple(SIZES),
        "preset": ("default", "paper"),
    }
    return parse_arguments(arguments, (*ARGUMENTS, *extra), choices)


def _data(given: dict) -> ConfigDict:
    data = ConfigDict()
    data.source = "sines"  # a name of the catalogue, or table for the file at path
    data.path = ""  # the user's file, or a folder that holds the catalogue's
    data.length = 24
    data.stride = 1
    data.protocol = "honest"  # or paper: scaled over all windows, scored on train
    data.split = "auto"  # time, series
    data.fractions = (0.8, 0.1, 0.1)  # train, validation, held-out
    data.scaling = "standard"  # min_max, robust, quantile (for skewed data), none
    data.time = ()  # the time column, or date and time columns
    data.time_format = ""
    data.id = ""  # the column that tells series apart
    data.channels = ()  # all that have no other role
    data.static = ()  # columns that become conditions
    data.text = ""  # a column of texts
    data.missing = config_dict.placeholder(float)  # a number that means "no value"
    data.max_gap = 3  # rows that are interpolated at most
    data.update(given)
    return data


def _model(name: str, size: str) -> ConfigDict:
    model = ConfigDict()
    model.name = name
    model.width, model.depth, model.heads = SIZES[size]
    model.patch_size = 1
    model.interaction = "time"  # iso_flops, paper, none (decoupled branches)
    model.dtype = "float32"  # bfloat16
    model.remat = False
    return model


def _diffusion() -> ConfigDict:
    diffusion = ConfigDict()
    diffusion.variant = "sde"  # ddpm
    diffusion.schedule = "vp"  # cosine, ddpm_linear
    diffusion.ddpm_steps = 1000  # T, for variant ddpm and schedule ddpm_linear
    diffusion.statistics = "none"  # generated, oracle (borrows real windows' level and scale)
    diffusion.parameterisation = "wiener"  # noise
    diffusion.loss = "velocity"  # noise
    diffusion.weighting = "simple"  # angle (a slot by the speed of its own clock), elbo
    diffusion.times = "angle"  # uniform, log_snr: how training times are spread
    diffusion.stratified = True
    return diffusion


def _train() -> ConfigDict:
    train = ConfigDict()
    train.steps = 40_000
    train.batch = 32  # of all devices together; small batches learn faster for the same work
    train.learning_rate = 3e-3
    train.warmup = 500
    train.decay = "cosine"  # plateau, constant
    train.plateau_factor = 0.5
    train.plateau_patience = 4000
    train.plateau_threshold = 1e-4  # a smaller relative fall counts as none
    train.final_rate = 0.01  # of learning_rate, where the cosine ends
    train.beta2 = 0.999  # of Adam
    train.weight_decay = 0.0
    train.clip = 1.0
    train.accumulate = 1
    train.ema = 0.999
    train.calibration = 0  # draws after training, to set the second moments of samples right
    train.chunk = 0  # steps a dispatch; 0 chooses from what the first steps measure
    train.checkpoint_every = 4000
    train.keep = 3
    train.log_every = 500
    train.validate_every = 4000
    train.max_skips = 20  # non-finite steps in a row before the run stops
    train.backend = "pmap"  # shard_map
    return train


def _sample() -> ConfigDict:
    sample = ConfigDict()
    sample.count = 1000
    sample.batch = 500
    sample.solver = "wiener_ab2"
    sample.steps = 20
    sample.grid = "log_snr"  # uniform, quadratic, angle
    sample.guidance = 1.0
    sample.eta = 0.0  # of ddim
    sample.posterior_variance = "small"  # of ancestral
    return sample


def _evaluate() -> ConfigDict:
    evaluate = ConfigDict()
    evaluate.windows = 3000
    evaluate.seeds = 5
    return evaluate


def _text() -> ConfigDict:
    text = ConfigDict()
    text.encoder = ""  # hashed, minilm, minilm_clauses, endpoint, precomputed: texts as conditions
    text.phrasings = 4  # captions a training window, where the data has no texts of its own
    text.dropout = 0.1  # how often a training example's condition is hidden, for guidance
    text.url = ""  # of an OpenAI-compatible service, for endpoint
    text.model = ""  # its embedding model
    text.width = 1024  # of hashed, minilm_clauses and endpoint vectors
    text.cut = False  # ask the endpoint to shorten its vectors to width
    return text


def _as_in_the_paper(config: ConfigDict) -> None:
    """The paper's model, and its released settings where the paper is silent."""
    ddpm = config.diffusion.variant == "ddpm"
    config.data.update({"protocol": "paper", "scaling": "min_max"})
    config.model.update({"width": 128, "depth": 4, "heads": 4, "interaction": "paper"})
    config.diffusion.update(
        {
            "schedule": "cosine" if ddpm else "vp",
            "ddpm_steps": 500,
            "statistics": "oracle",
            "parameterisation": "noise",
            "loss": "noise",
            "times": "uniform",
            "stratified": False,
        }
    )
    config.train.update(
        {
            "steps": 18_000,
            "batch": 128,
            "learning_rate": 8e-4,
            "decay": "plateau",
            "plateau_threshold": 0.1,
            "beta2": 0.96,
            "accumulate": 2,
            "ema": 0.9995,
            "calibration": 0,
        }
    )
    config.sample.update(
        {"solver": "ancestral" if ddpm else "euler_maruyama", "steps": 500, "grid": "uniform"}
    )
