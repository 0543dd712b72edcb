"""Trains the reader of sentences that comes with the package, and measures it.

    python benchmarks/train_reader.py fit --sentences=16000 [--states=last|input] [--without=0.15]
    python benchmarks/train_reader.py judge

``fit`` words made windows, freezes MiniLM's word-piece states of these sentences, trains attention
pooling over them and writes ``statement_reader.safetensors``. ``--without`` keeps that share of
the loose phrases from training, scores the reader on them and writes nothing: so it was chosen.
``judge`` scores the written reader on ``tests/text/held_out.json``, which training never sees.
"""

import argparse
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import jax
import numpy as np
import optax
from safetensors.numpy import save_file

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import captions, claims, facts, properties, statements, telling
from pacodi_jax.text.encoders import statement_reader as reader
from pacodi_jax.text.encoders.minilm import MiniLM
from pacodi_jax.text.lexicon import SYNONYMS

HELD_OUT = Path(__file__).parent.parent / "tests/text/held_out.json"
WIDTH, DIRECTIONS, BATCH, STEPS = 96, 160, 128, 3000
#: After how many of MiniLM's layers states are taken; None after all.
LAYERS = {"last": None, "input": 0}
_NEIGHBOURS = 4  # batches of sentences of similar length: so many are drawn from together
_PARAPHRASED = 0.15
_LINKS = (", and ", " and ", ", but ", ", while ", ", with ", ", ")
_FILLERS = (" please", " over time", " in this window", " overall", " here", " through the day")
_OTHER = (
    "hello", "on Monday", "the weather in Paris", "please", "thank you", "house type B",
    "a series", "a curve", "some data", "the values", "I want a line", "as usual", "for June",
    "in euros", "what is this", "electricity", "the signal", "draw a chart", "make it nice",
)  # fmt: skip


def made_windows(count: int, length: int, seed: int) -> np.ndarray:
    """Windows of drifting noisy waves and random walks: every fact occurs among them."""
    draw = np.random.default_rng(seed)
    time = np.linspace(0.0, 1.0, length)
    cycles, phase = draw.uniform(0.3, 6.0, (count, 1)), draw.uniform(0.0, 7.0, (count, 1))
    wave = draw.gamma(2.0, 0.5, (count, 1)) * np.sin(2 * np.pi * cycles * time + phase)
    slope, level = draw.normal(0.0, 2.0, (count, 1)), draw.normal(0.0, 2.0, (count, 1))
    noise = draw.gamma(1.0, 0.1, (count, 1)) * draw.normal(size=(count, length))
    walk = draw.gamma(1.0, 0.1, (count, 1)) * draw.normal(size=(count, length)).cumsum(1)
    return level + slope * (time - 0.5) + wave + noise + walk


def examples(count: int, seed: int = 0) -> list[captions.Told]:
    """Different sentences and what they state; every claim is among them."""
    windows = made_windows(3000, 24, seed)
    known = properties.fit(windows)
    measured = [facts.measure(window, known) for window in windows]
    draw = np.random.default_rng(seed)
    found = {told.text: told for told in _every_claim(draw)}
    names = (*telling.TELLERS, *["claim"] * 12, *["pair"] * 8, *["peaks", "trend", "dips"] * 2)
    for number in range(30 * count):
        one = measured[draw.integers(len(measured))]
        told = _sentence(one, names, draw, number)
        if told is not None:
            found[told.text] = told
        if len(found) >= count:
            break
    return [*found.values(), *(captions.Told(text, {}) for text in _OTHER)]


def _every_claim(draw: np.random.Generator) -> Iterator[captions.Told]:
    """Each claim in a frame of its kind."""
    for claim in claims.claims():
        words = telling.Words(int(draw.integers(1 << 30)), "train")
        words.brief = True
        text = _paraphrased(words.fill(claim.kind, claim.phrase).casefold(), draw)
        yield captions.Told(text, {claim.fact: set(claim.classes)})


def _sentence(
    one: facts.Facts, names: tuple[str, ...], draw: np.random.Generator, seed: int
) -> captions.Told | None:
    """A sentence of one fact, or of two that are linked, perhaps with words that say nothing."""
    try:
        told = captions.tell_one(one, str(draw.choice(names)), seed, split="train")
        text, stated = told.text.rstrip("."), dict(told.stated)
        if draw.random() < 0.15:
            other = captions.tell_one(one, str(draw.choice(names)), -1 - seed, split="train")
            if set(other.stated) & set(stated):
                return None
            text += str(draw.choice(_LINKS)) + other.text.rstrip(".")
            stated |= dict(other.stated)
    except PacodiError:
        return None
    if draw.random() < 0.15:
        text += str(draw.choice(_FILLERS))
    return captions.Told(_paraphrased(text.casefold(), draw), stated)


def _paraphrased(text: str, draw: np.random.Generator) -> str:
    """Some of a sentence's words replaced by others of the same meaning, as requests have them."""
    for word, meaning in SYNONYMS.items():
        if draw.random() < _PARAPHRASED:
            text = re.sub(rf"\b{re.escape(meaning)}(?=s?\b)", word, text)
    return text


class Frozen(NamedTuple):
    """The word pieces of sentences, one after the other.

    Attributes:
      states: ``(P, D)``, projected to the D directions in which they are largest.
      starts: the first piece of each sentence ``(N,)``.
      counts: how many pieces it has ``(N,)``.
      directions: ``(384, D)``.
    """

    states: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    directions: np.ndarray

    def batch(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Padded states ``(B, T, D)`` of some sentences, and their mask."""
        counts = self.counts[rows][:, None]
        steps = np.arange(-(-int(counts.max()) // 8) * 8)
        pieces = self.starts[rows][:, None] + np.minimum(steps, counts - 1)
        return self.states[pieces], steps < counts


def frozen(texts: list[str], kind: str, cache: Path | None) -> Frozen:
    """MiniLM's word-piece states of sentences: of its last layer, or its input embeddings."""
    if cache and cache.is_file():
        held = np.load(cache)
        states, counts = held["states"], held["counts"]
    else:
        found = MiniLM().hidden_states(texts, LAYERS[kind])
        states, counts = np.concatenate(found), np.array([len(one) for one in found])
        if cache:
            np.savez(cache, states=states, counts=counts)
    directions = np.linalg.eigh(states[::4].T @ states[::4])[1][:, -DIRECTIONS:]
    starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
    return Frozen(states @ directions, starts, counts, directions)


def fit(pieces: Frozen, chosen: np.ndarray, wanted: np.ndarray, steps: int) -> dict[str, Any]:
    """The weights after ``steps`` of Adam on the cross-entropy of every slot.

    Args:
      pieces: of all sentences.
      chosen: numbers of those to train on.
      wanted: their statements and all others ``(N, WIDTH)``.
      steps: batches.
    """
    weights = reader.init(jax.random.key(0), DIRECTIONS, WIDTH)
    rate = optax.warmup_cosine_decay_schedule(0.0, 4e-3, steps // 20, steps)
    optimiser = optax.adamw(rate, weight_decay=1e-1)
    moments = optimiser.init(weights)

    def loss(weights: Any, states: Any, mask: Any, wanted: Any) -> Any:
        told = reader.logits(weights, states, mask)
        return optax.sigmoid_binary_cross_entropy(told, wanted).sum(1).mean()

    @jax.jit
    def step(weights: Any, moments: Any, *batch: Any) -> Any:
        value, slope = jax.value_and_grad(loss)(weights, *batch)
        change, moments = optimiser.update(slope, moments, weights)
        return optax.apply_updates(weights, change), moments, value

    draw, order = np.random.default_rng(0), chosen[np.argsort(pieces.counts[chosen], kind="stable")]
    for number in range(steps):
        first = draw.integers(len(order) - _NEIGHBOURS * BATCH)
        rows = draw.choice(order[first : first + _NEIGHBOURS * BATCH], BATCH, replace=False)
        weights, moments, value = step(weights, moments, *pieces.batch(rows), wanted[rows])
        if number % 250 == 0:
            print(f"step {number}: cross-entropy {float(value):.3f}", flush=True)
    found = {name: np.asarray(value) for name, value in weights.items()}
    return found | {name: pieces.directions @ found[name] for name in ("key", "value")}


def agreement(weights: Any, kind: str, told: list[captions.Told]) -> float:
    """The share of sentences that are read as they were meant, every slot of them."""
    found = MiniLM().hidden_states([one.text for one in told], LAYERS[kind])
    right = []
    for states, one in zip(found, told, strict=True):
        mask = np.ones((1, len(states)), bool)
        chances = jax.nn.sigmoid(reader.logits(weights, states[None], mask))[0]
        wanted = {name: set(classes) for name, classes in (one.stated or {}).items()}
        right.append(reader.decide(np.asarray(chances)) == wanted)
    return float(np.mean(right))


#: What a statement must say for a held-out sentence to count as understood: of each fact some
#: classes, and no others.
MEANT: dict[str, tuple[str, set[int]]] = {
    "up": ("trend", {4, 5, 6}),
    "down": ("trend", {0, 1, 2}),
    "flat": ("trend", {2, 3, 4}),
    "high volatility": ("volatility", {3, 4}),
    "low volatility": ("volatility", {0, 1}),
    "high level": ("level", {4, 5, 6}),
    "low level": ("level", {0, 1, 2}),
    "wide range": ("spread", {3, 4}),
    "narrow range": ("spread", {0, 1}),
    "one peak": ("peaks", {1}),
    "two peaks": ("peaks", {2}),
    "peak early": ("peaks_at", {0, 1, 2}),
    "peak in the middle": ("peaks_at", {2, 3, 4}),
    "peak late": ("peaks_at", {4, 5, 6}),
    "not volatile": ("volatility", {0, 1, 2}),
    "not smooth": ("volatility", {2, 3, 4}),
    "no peaks": ("peaks", {0}),
    "not rising": ("trend", {0, 1, 2, 3, 4}),
    "not falling": ("trend", {2, 3, 4, 5, 6}),
    "neither": ("trend", {2, 3, 4}),
    "not high": ("level", {0, 1, 2, 3}),
    "not wide": ("spread", {0, 1, 2}),
}


def understood(known: reader.StatementReader) -> dict[str, dict[str, bool]]:
    """Which held-out sentences are understood, by what they ask for."""
    found: dict[str, dict[str, bool]] = {}
    for group, asked in json.loads(HELD_OUT.read_text(encoding="utf-8")).items():
        pairs = [(one, group) if isinstance(one, str) else one for one in asked]
        told = known.read([text for text, *_ in pairs])
        found[group] = {
            text: all(_means(one, name) for name in names)
            for one, (text, *names) in zip(told, pairs, strict=True)
        }
    return found


def _means(told: statements.Stated, name: str) -> bool:
    fact, classes = MEANT[name]
    return bool(told.get(fact)) and set(told[fact]) <= classes


def judge() -> None:
    """Prints the share of held-out sentences that are understood, and those that are not."""
    found = understood(reader.StatementReader())
    for group, texts in found.items():
        missed = [text for text, fine in texts.items() if not fine]
        print(f"{group}: {np.mean(list(texts.values())):.2f}; not understood: {missed}")
    pairs = found.pop("two facts")
    single = np.mean([fine for texts in found.values() for fine in texts.values()])
    print(f"single facts: {single:.3f}; two facts: {np.mean(list(pairs.values())):.3f}")


def main() -> None:
    """Fits or judges, as the command line says."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("work", choices=("fit", "judge"))
    parser.add_argument("--sentences", type=int, default=16_000)
    parser.add_argument("--states", choices=LAYERS, default="last")
    parser.add_argument("--without", type=float, default=0.0)
    parser.add_argument("--steps", type=int, default=STEPS)
    parser.add_argument("--cache", type=Path, help="a file that keeps the frozen states")
    asked = parser.parse_args()
    if asked.work == "judge":
        return judge()
    told = examples(asked.sentences)
    pieces = frozen([one.text for one in told], asked.states, asked.cache)
    wanted = np.stack([statements.vector(one.stated or {}) for one in told])
    spared = _spared(asked.without)
    away = np.array([any(phrase in one.text for phrase in spared) for one in told])
    weights = fit(pieces, np.flatnonzero(~away), wanted, asked.steps)
    if not asked.without:
        save_file({n: v.astype(np.float16) for n, v in weights.items()}, reader.WEIGHTS)
        return judge()
    for name, chosen in (("phrases that it never saw", away), ("phrases that it saw", ~away)):
        some = [told[row] for row in np.flatnonzero(chosen)[:300]]
        right = agreement(weights, asked.states, some)
        print(f"{asked.states}: {name}: {right:.3f} of {len(some)} read exactly as meant")
    return None


def _spared(share: float) -> list[str]:
    """Loose phrases that are kept from training, by chance."""
    phrases = sorted({claim.phrase.casefold() for claim in claims.claims()})
    draw = np.random.default_rng(1)
    return [phrase for phrase in phrases if draw.random() < share]


if __name__ == "__main__":
    main()
