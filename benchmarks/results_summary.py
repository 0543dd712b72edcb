"""The two tables of the results page, and the small one of the README."""

from results_format import PAPER_SCORES, SETS, Result, number, pick, spread, table

#: The paper's own figures: data set, length, score, model.
Paper = dict[str, dict[str, dict[str, dict[str, float]]]]
Row = dict[str, str]
VARIANTS = ("PaCoDi SDE", "PaCoDi DDPM")


def longest(results: list[Result], data: str, model: str) -> Result | None:
    """The honest SDE run of most steps at L = 24."""
    wanted = {"length": 24, "variant": "sde", "protocol": "honest", "seed": 0}
    found = pick(results, data=data, model=model, **wanted)
    return max(found, key=lambda result: result.steps, default=None)


def ours(results: list[Result], model: str, name: str = "context_fid_v1") -> Row:
    """A network trained here, by data set."""
    found = {data: longest(results, data, model) for data in SETS}
    return {data: spread(run.panel.score(name).measured) for data, run in found.items() if run}


def published(paper: Paper, *models: str, name: str = "context_fid_v1") -> Row:
    """The best of some of the paper's models, by data set."""
    return {data: number(min(paper[data]["24"][name][model] for model in models)) for data in SETS}


def floor(results: list[Result], name: str = "context_fid_v1") -> Row:
    """What real windows score, by data set."""
    found = {data: longest(results, data, "pacodi") for data in SETS}
    return {data: spread(run.panel.score(name).floor) for data, run in found.items() if run}


def by_set(rows: dict[str, Row]) -> str:
    """A table of named rows, data sets across."""
    body = [[title, *(row.get(data, "–") for data in SETS)] for title, row in rows.items()]
    return table(["", *SETS.values()], body)


def glance(results: list[Result], paper: Paper) -> str:
    """The README's table: ours, the temporal DiT, the paper's figures and the floor."""
    rows = {
        "**PaCoDi, here**": ours(results, "pacodi"),
        "temporal DiT, here": ours(results, "temporal"),
        "PaCoDi, the paper's better variant": published(paper, *VARIANTS),
        "Diffusion-TS, in the paper": published(paper, "Diffusion-TS"),
        "*floor: real windows*": floor(results),
    }
    return by_set(rows)


def systems(results: list[Result], paper: Paper) -> str:
    """Context-FID of every system at L = 24."""
    rows = {"*floor: real windows*": floor(results)}
    rows |= {
        f"{title}, here": ours(results, model)
        for model, title in (
            ("pacodi", "PaCoDi"),
            ("temporal", "temporal DiT"),
            ("monolithic", "monolithic"),
            ("decoupled", "PaCoDi without interaction"),
        )
    }
    rows["PaCoDi, the paper's better variant"] = published(paper, *VARIANTS)
    for model in ("FreqDiff", "Diffusion-TS", "TimeVAE", "TimeGAN", "DDPM"):
        rows[f"{model}, in the paper"] = published(paper, model)
    return by_set(rows)


def four(results: list[Result], paper: Paper) -> str:
    """PaCoDi's four scores beside the floor and the paper's better variant."""
    rows: dict[str, Row] = {}
    for name, title in PAPER_SCORES.items():
        rows[f"**{title}**"] = ours(results, "pacodi", name)
        rows[f"{title}, floor"] = floor(results, name)
        rows[f"{title}, the paper"] = published(paper, *VARIANTS, name=name)
    return by_set(rows)
