"""The wording of captions: a lexicon of grades, and sentence frames kept apart by split.

A caption is made of facts. Each fact has frames for training and other frames that are held out:
no held-out frame is ever trained on, so scores on them measure new sentences. The words for grades
and places are shared, since an encoder without weights cannot know a synonym that it never saw.
Inside a fact a comma only parts what stands alone, so that a clause can be read by itself.
"""

from typing import Literal, NamedTuple

Split = Literal["train", "held_out"]


class Frames(NamedTuple):
    """Sentence frames of one fact, by split."""

    train: tuple[str, ...]
    held_out: tuple[str, ...]


LEVELS = (
    ("very low", "extremely low"),
    ("low", "well below normal"),
    ("slightly low", "slightly below normal"),
    ("normal", "about average"),
    ("slightly high", "slightly above normal"),
    ("high", "well above normal"),
    ("very high", "extremely high"),
)

PLACES = (
    ("at the very start", "right at the start", "at the beginning"),
    ("early on", "early"),
    ("before the middle", "a third of the way in"),
    ("in the middle", "around the middle", "halfway through"),
    ("after the middle", "two thirds of the way in"),
    ("late", "late on", "towards the end"),
    ("near the end", "at the very end", "right at the end"),
)

SPREADS = ("very narrow", "narrow", "moderate", "wide", "very wide")

VOLATILITIES = (
    ("very low volatility", "very smooth"),
    ("low volatility", "smooth"),
    ("moderate volatility", "slightly rough"),
    ("high volatility", "rough"),
    ("very high volatility", "very rough"),
)

#: Keyed by (sign of the change, strength); a noun phrase and a verb phrase each.
TRENDS = {
    (0, 0): (
        ("no trend", "stays flat"),
        ("a flat course", "shows no trend"),
        ("a flat trend", "neither rises nor falls"),
    ),
    (1, 1): (("a slight upward drift", "drifts slightly up"),),
    (-1, 1): (("a slight downward drift", "drifts slightly down"),),
    (1, 2): (("an upward trend", "rises"), ("a rising trend", "goes up"), ("a rise", "increases")),
    (-1, 2): (
        ("a downward trend", "falls"),
        ("a falling trend", "goes down"),
        ("a decline", "decreases"),
    ),
    (1, 3): (
        ("a strong upward trend", "rises strongly"),
        ("a steep rising trend", "goes up strongly"),
        ("a strong rise", "increases strongly"),
    ),
    (-1, 3): (
        ("a strong downward trend", "falls strongly"),
        ("a steep falling trend", "goes down strongly"),
        ("a strong decline", "decreases strongly"),
    ),
}

COUNTS = ("no", "one", "two", "three", "four", "five", "six")
MANY = "many"

#: Keyed by direction: nouns, verbs.
MOVES = {
    "up": (("rise", "climb", "increase"), ("rises", "climbs", "increases", "goes up")),
    "down": (("fall", "drop", "decline"), ("falls", "drops", "declines", "goes down")),
    "flat": (("flat stretch", "plateau"), ("stays flat", "holds steady")),
}

#: Keyed by pace: adjectives, adverbs.
PACES = {
    "slow": (("slow", "gradual"), ("slowly", "gradually")),
    "steady": (("steady",), ("steadily",)),
    "sharp": (("sharp", "sudden", "steep"), ("sharply", "suddenly", "steeply")),
}

#: How a story opens and how its pieces are joined, told with nouns ("a sharp drop") or verbs.
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

FRAMES = {
    "level": Frames(
        (
            "The level is {x} overall",
            "Overall values are {x}",
            "On average it is {x}",
            "A level that is {x}",
        ),
        ("The average level is {x}", "Its typical level is {x}"),
    ),
    "start": Frames(
        ("It starts {x}", "It begins {x}", "Starting {x}", "The start is {x}"),
        ("At the start it is {x}", "Right from the start it is {x}"),
    ),
    "end": Frames(
        ("It ends {x}", "It finishes {x}", "Ending {x}", "The end is {x}"),
        ("At the end it is {x}", "Finishing {x}"),
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
        ("It covers a {x} range", "The range is {x}", "Values span a {x} range", "A {x} range"),
        ("The values cover a {x} range", "It moves within a {x} range"),
    ),
    "trend_noun": Frames(
        ("{X}", "{X} overall", "There is {x} overall", "It shows {x}", "A series with {x}"),
        ("The data show {x}", "The series shows {x}"),
    ),
    "trend_verb": Frames(
        ("Overall it {x}", "The series {x} overall", "It {x}", "A series that {x}"),
        ("This series {x} throughout", "The whole series {x}"),
    ),
    "volatility_noun": Frames(
        ("{X}", "With {x}", "It has {x}", "A series with {x}"),
        ("It shows {x}", "The data have {x}"),
    ),
    "volatility_adjective": Frames(
        ("The curve is {x}", "A {x} curve", "The line is {x}"),
        ("The line looks {x}", "It looks like a {x} curve"),
    ),
    "peaks": Frames(
        ("There are {n} peaks {p}", "{N} peaks {p}", "It has {n} clear peaks {p}"),
        ("It shows {n} peaks {p}", "The series has {n} clear peaks {p}"),
    ),
    "dips": Frames(
        ("There are {n} dips {p}", "{N} dips {p}", "It has {n} clear dips {p}"),
        ("It shows {n} dips {p}", "The series has {n} clear dips {p}"),
    ),
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
