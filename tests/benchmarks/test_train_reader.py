"""How the reader of sentences is trained and judged."""

import numpy as np
import pytest

from pacodi_jax.errors import PacodiError
from pacodi_jax.text import claims, statements
from pacodi_jax.text.encoders.statement_reader import StatementReader


@pytest.fixture(scope="module")
def train_reader(benchmark):
    return benchmark("train_reader")


def test_training_has_every_claim_and_says_nothing_of_what_is_held_out(train_reader):
    told = train_reader.examples(1500)
    assert len({one.text for one in told}) == len(told) > 1500
    named = {(fact, tuple(sorted(classes))) for one in told for fact, classes in one.stated.items()}
    assert {(claim.fact, tuple(sorted(claim.classes))) for claim in claims.claims()} <= named
    held = train_reader.json.loads(train_reader.HELD_OUT.read_text())
    asked = {one if isinstance(one, str) else one[0] for texts in held.values() for one in texts}
    assert not {text.casefold() for text in asked} & {one.text for one in told}


def test_word_pieces_are_padded_and_masked(train_reader):
    states = np.arange(5.0)[:, None]
    pieces = train_reader.Frozen(states, np.array([0, 2]), np.array([2, 3]), np.eye(1))
    found, mask = pieces.batch(np.array([1, 0]))
    assert mask.tolist() == [[True] * 3 + [False] * 5, [True] * 2 + [False] * 6]
    assert found[mask].ravel().tolist() == [2, 3, 4, 0, 1]


def test_a_reader_learns_what_pieces_mean(train_reader):
    """Two kinds of sentences, told apart by one piece of three."""
    draw = np.random.default_rng(0)
    count, width = 600, train_reader.DIRECTIONS
    states = draw.normal(size=(count, 3, width)).astype(np.float32)
    rising = draw.random(count) < 0.5
    states[:, 1, 0] = np.where(rising, 8.0, -8.0)
    wanted = np.stack([statements.vector({"trend": {6 if up else 0}}) for up in rising])
    flat, starts = states.reshape(-1, width), 3 * np.arange(count)
    pieces = train_reader.Frozen(flat, starts, np.full(count, 3), np.eye(width, dtype=np.float32))
    weights = train_reader.fit(pieces, np.arange(count), wanted, 300)
    found, mask = pieces.batch(np.arange(100))
    chances = train_reader.jax.nn.sigmoid(train_reader.reader.logits(weights, found, mask))
    told = [train_reader.reader.decide(np.asarray(row)) for row in chances]
    meant = [{"trend": {6 if up else 0}} for up in rising[:100]]
    assert np.mean([one == other for one, other in zip(told, meant, strict=True)]) > 0.95


def test_the_reader_understands_the_share_of_held_out_sentences_that_the_page_says(train_reader):
    pytest.importorskip("tokenizers")
    try:
        found = train_reader.understood(StatementReader())
    except PacodiError as error:
        pytest.skip(str(error))
    pairs = found.pop("two facts")
    single = [fine for texts in found.values() for fine in texts.values()]
    print({name: sum(texts.values()) for name, texts in found.items()})
    print(np.mean(single), np.mean(list(pairs.values())))
    assert np.mean(single) > 0.55
    assert np.mean(list(pairs.values())) > 0.45
