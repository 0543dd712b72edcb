"""The wording of captions: sentence frames, kept apart by split.

A caption is made of facts. Each fact has frames for training and other, held-out frames that no
model is trained on, so scores on them measure new sentences. The words in the frames
(:mod:`.lexicon`) are shared, since an encoder without weights cannot know unseen synonyms. Commas
within a fact separate clauses that can be read on their own.
"""

from typing import Literal, NamedTuple

from pacodi_jax.text.lexicon import Kind

Split = Literal["train", "held_out"]


class Frames(NamedTuple):
    """Sentence frames of one fact, by split; ``asked`` are requests, for short train captions."""

    train: tuple[str, ...]
    held_out: tuple[str, ...]
    asked: tuple[str, ...] = ()


#: How a story opens and how its pieces are joined, worded with nouns ("a sharp drop") or verbs.
STORIES = {
    "noun": (
        Frames(("", "It begins with ", "First "), ("At first ", "Initially ")),
        Frames((", then ", ", and then ", ", followed by "), (", after that ", ", next ")),
    ),
    "verb": (
        Frames(("It ", "First it ", "A series that "), ("At first it ", "Initially it ")),
        Frames((", then ", ", and then "), (", after that it ", ", next it ")),
    ),
}

#: Sentences around a noun phrase, a verb phrase and an adjective. There are many, so that a
#: model learns to ignore the words around a fact.
_NOUNS = (
    "A series with {x}",
    "A curve with {x}",
    "A line that shows {x}",
    "A plot with {x} in it",
    "Data with {x}",
    "Values with {x}",
    "Mostly {x}",
    "In short {x}",
    "Here we see {x}",
    "One sees {x} in the signal",
    "This chart has {x}",
    "This window shows {x} overall",
    "The graph displays {x} here",
    "The shape of the line has {x}",
    "We expect {x}",
)
_ASKED_NOUNS = (
    "{X}",
    "I want {x}",
    "I would like data with {x}",
    "Draw {x}",
    "Draw a curve with {x}",
    "Make a line with {x}",
    "Give me a series with {x}",
    "Please show {x}",
    "Please generate a signal with {x}",
)
_VERBS = (
    "It {x}",
    "Overall it {x}",
    "Mostly it {x}",
    "Clearly it {x}",
    "The series {x} overall",
    "The line {x}",
    "Here the signal {x}",
    "The value {x} as time passes",
    "This chart shows data that {x}",
    "A series that {x}",
    "A curve that {x}",
    "We expect that it {x}",
)
_ASKED_VERBS = (
    "{X}",
    "I want a signal that {x}",
    "Draw a line that {x}",
    "Make a curve that {x}",
    "Give me a series that {x}",
    "Please generate a plot where the line {x}",
)
_ADJECTIVES = (
    "It is {x} overall",
    "The curve is {x}",
    "The line is {x}",
    "The shape is {x}",
    "The signal here is {x}",
    "The data is mostly {x}",
    "A {x} curve",
    "A {x} line",
    "A {x} series",
    "This chart shows a {x} signal",
    "One sees a {x} line",
    "We expect it to be {x}",
)
_ASKED_ADJECTIVES = (
    "{X}",
    "I want the values to be {x}",
    "Draw a {x} curve",
    "Make a {x} plot",
    "Give me a {x} series",
    "Please generate a {x} line",
)
_PREDICATES = (
    "It is {x}",
    "It is {x} overall",
    "The curve is {x}",
    "The series is {x}",
    "The values are {x}",
    "A series that is {x}",
    "A line which is {x}",
)
_ASKED_PREDICATES = (
    "{X}",
    "Make it {x}",
    "I want it {x}",
    "It should be {x}",
    "Draw a curve that is {x}",
    "Please keep the values {x}",
)
_ADDITIONS = ("A series {x}", "A curve {x}", "The line runs {x}", "It moves {x}")
_ASKED_ADDITIONS = ("{X}", "I want a line {x}", "Draw a curve {x}", "Give me a series {x}")


def _fill(frames: tuple[str, ...], phrase: str) -> tuple[str, ...]:
    """The frames with a phrase in place of ``{x}``."""
    return tuple(frame.replace("{x}", phrase) for frame in frames if "{x}" in frame)


def _extremes(kind: str) -> Frames:
    """Frames that count peaks or dips, and may place them."""
    some, clear = f"{{n}} {kind} {{p}}", f"{{n}} clear {kind} {{p}}"
    return Frames(
        (
            f"There are {some}",
            f"{{N}} {kind} {{p}}",
            f"It has {clear}",
            f"There are {clear}",
            *_fill(_NOUNS, some),
        ),
        (f"It shows {some}", f"The series has {clear}"),
        (f"I want {clear}", f"Draw a line with {clear}", *_fill(_ASKED_NOUNS, some)),
    )


FRAMES = {
    "level": Frames(
        (
            "The level is {x} overall",
            "Overall values are {x}",
            "On average it is {x}",
            "A level that is {x}",
        ),
        ("The average level is {x}", "The level of the line is {x}"),
    ),
    "start": Frames(
        ("It starts {x}", "It begins {x}", "Starting {x}", "The start is {x}"),
        ("At the start it is {x}", "Right from the start it is {x}"),
    ),
    "end": Frames(
        ("It ends {x}", "It finishes {x}", "Ending {x}", "The end is {x}"),
        ("At the end it is {x}", "Towards its finish it is {x}"),
    ),
    "outline": Frames(
        (
            "It starts {a}, is {b} at the first quarter, {c} in the middle, "
            "{d} at the third quarter, and ends {e}",
            "The start is {a}, the first quarter {b}, the middle {c}, the third quarter {d}, "
            "the end {e}",
            "Beginning {a}, it is {b} a quarter of the way in, {c} at the midpoint, "
            "{d} three quarters of the way in, and finishes {e}",
        ),
        (
            "At the start it is {a}, around the first quarter {b}, around the middle {c}, "
            "around the third quarter {d}, at the end {e}",
            "From the start {a}, it gets {b} by the first quarter, {c} by the middle, "
            "{d} by the third quarter, and is {e} by the end",
        ),
    ),
    "spread": Frames(
        (
            "It covers a {x} range",
            "The range is {x}",
            "Values span a {x} range",
            "A {x} range",
            *_fill(_NOUNS, "a {x} range"),
        ),
        ("The values cover a {x} range", "The range of the line is {x}"),
        _fill(_ASKED_NOUNS, "a {x} range"),
    ),
    "trend_noun": Frames(
        ("{X}", "{X} overall", "There is {x} overall", "It shows {x}", *_NOUNS),
        ("The data show {x}", "The series shows {x}"),
        _ASKED_NOUNS,
    ),
    "trend_verb": Frames(
        _VERBS,
        ("This series {x} throughout", "Here the series {x} overall"),
        _ASKED_VERBS,
    ),
    "volatility_noun": Frames(
        ("{X}", "With {x}", "It has {x}", *_NOUNS),
        ("It shows {x}", "The line shows {x} overall"),
        _ASKED_NOUNS,
    ),
    "volatility_adjective": Frames(
        _ADJECTIVES,
        ("Overall the line is {x}", "It looks like a {x} curve"),
        _ASKED_ADJECTIVES,
    ),
    "noun": Frames(_NOUNS, ("The data show {x}", "The series has {x} here"), _ASKED_NOUNS),
    "verb": Frames(_VERBS, ("This series {x}", "Here the series {x}"), _ASKED_VERBS),
    "adjective": Frames(
        _ADJECTIVES, ("Overall the line is {x}", "It looks like a {x} curve"), _ASKED_ADJECTIVES
    ),
    "predicate": Frames(
        _PREDICATES, ("Overall the line is {x}", "This window is {x} overall"), _ASKED_PREDICATES
    ),
    "addition": Frames(
        _ADDITIONS, ("The line is drawn {x}", "It looks like a curve {x}"), _ASKED_ADDITIONS
    ),
    "peaks": _extremes("peaks"),
    "dips": _extremes("dips"),
    "highest": Frames(
        ("The highest point comes {x}", "The maximum is {x}", "It is highest {x}"),
        ("The highest value is {x}", "The maximum comes {x}"),
    ),
    "lowest": Frames(
        ("The lowest point comes {x}", "The minimum is {x}", "It is lowest {x}"),
        ("The lowest value is {x}", "The minimum comes {x}"),
    ),
    "cycles": Frames(
        ("It completes {x}", "There is a pattern with {x}", "A wave with {x}"),
        ("The wave completes {x}", "It shows a pattern with {x}"),
    ),
}

#: Two phrases in one sentence, by split; ``asked`` are requests, for short train captions.
PAIRS: dict[str, tuple[tuple[Kind, Kind, str], ...]] = {
    "train": (
        ("noun", "noun", "A series with {a} and {b}"),
        ("noun", "noun", "{A} and {b}"),
        ("noun", "noun", "{A}, with {b}"),
        ("verb", "verb", "It {a} and {b}"),
        ("verb", "verb", "A series that {a} but {b}"),
        ("adjective", "verb", "A {a} series that {b}"),
        ("adjective", "noun", "A {a} line with {b}"),
        ("adjective", "noun", "{A} and with {b}"),
        ("adjective", "adjective", "A {a}, {b} series"),
        ("verb", "predicate", "It {a} and is {b}"),
        ("verb", "predicate", "A curve that {a}, but is {b}"),
        ("noun", "predicate", "{A}, but {b}"),
        ("noun", "predicate", "A curve that is {b}, and has {a}"),
        ("noun", "addition", "{A} {b}"),
        ("verb", "addition", "It {a} {b}"),
        ("verb", "noun", "It {a}, and there is {b}"),
        ("verb", "noun", "It {a}, with {b}"),
        ("predicate", "predicate", "It is {a} and {b}"),
    ),
    "asked": (
        ("noun", "noun", "I want {a}, and also {b}"),
        ("verb", "verb", "Draw a line which {a} and {b}"),
        ("adjective", "verb", "Give me a {a} curve which {b}"),
        ("predicate", "predicate", "Make it {a} but {b}"),
    ),
    "held_out": (
        ("noun", "noun", "The data show {a} together with {b}"),
        ("verb", "verb", "This series {a} and also {b}"),
        ("adjective", "verb", "The {a} line here {b}"),
        ("verb", "noun", "This series {a} together with {b}"),
        ("verb", "predicate", "The line {a} and looks {b}"),
    ),
}
