"""The words for grades, places, counts and moves, shared by the captions of both splits.

``SYNONYMS`` at the end lists words that requests use and captions do not.
"""

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

#: Nouns, adjectives.
VOLATILITIES = (
    (("very low volatility",), ("very smooth", "very calm")),
    (("low volatility",), ("smooth", "calm")),
    (("moderate volatility",), ("slightly rough",)),
    (("high volatility",), ("rough", "volatile")),
    (("very high volatility",), ("very rough", "very volatile")),
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

COUNTS = (
    ("no",),
    ("one", "a single"),
    ("two",),
    ("three",),
    ("four",),
    ("five",),
    ("six",),
)
MANY = ("many",)

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

#: Words of requests and what captions say instead. Only words that mean the same in any context:
#: no "constant" (a constant rise), no "once" (once it peaks), no "double" (it doubles).
SYNONYMS = {
    "spike": "peak",
    "hump": "peak",
    "bump": "peak",
    "trough": "dip",
    "valley": "dip",
    "grow": "rise",
    "grew": "rise",
    "growth": "rise",
    "ascend": "rise",
    "surge": "sharp rise",
    "soar": "sharp rise",
    "jump": "sharp rise",
    "sink": "fall",
    "sank": "fall",
    "descend": "fall",
    "descent": "fall",
    "plunge": "sharp drop",
    "plummet": "sharp drop",
    "crash": "sharp drop",
    "oscillation": "cycle",
    "oscillate": "cycle",
    "gentle": "slow",
    "gently": "slowly",
    "abrupt": "sudden",
    "rapid": "sharp",
    "quick": "sharp",
    "jagged": "rough",
    "noisy": "rough",
    "erratic": "rough",
    "bumpy": "rough",
    "quiet": "calm",
    "typical": "normal",
    "usual": "normal",
    "twice": "two",
}
