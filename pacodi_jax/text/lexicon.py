"""The words for grades, places, counts and moves, shared by the captions of both splits.

``SYNONYMS`` at the end lists words that requests use and captions do not.
"""

from typing import Literal

#: How a phrase is used: "a rise", "rises", "smooth", "not smooth at all", "without any dip".
Kind = Literal["noun", "verb", "adjective", "predicate", "addition"]

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

#: Further words for these places, for requests.
NEAR_PLACES = (
    ("at the outset", "as it begins"),
    ("in the early part", "not far from the start"),
    ("some time before the middle",),
    ("in the central part", "midway", "right in the middle"),
    ("some time after the middle",),
    ("in the late part", "not far from the end"),
    ("just before it is over", "at the finish"),
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

#: The grades that each row of VOLATILITIES means: "rough" leaves open how rough.
PLAIN_VOLATILITIES = ((0,), (0, 1), (2,), (3, 4), (4,))

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

_UP, _DOWN, _FLAT = (5, 6), (0, 1), (2, 3, 4)
_NOT_UP, _NOT_DOWN = (0, 1, 2, 3, 4), (2, 3, 4, 5, 6)
_ROUGH, _CALM = (3, 4), (0, 1)
_WIDE, _NARROW = (3, 4), (0, 1)

#: Phrases that leave a grade open: the fact, the classes that they allow, their kind.
LOOSE: tuple[tuple[str, tuple[int, ...], Kind, tuple[str, ...]], ...] = (
    ("trend", _UP, "noun", ("an increase", "an uphill course", "an upward tendency")),
    ("trend", _UP, "verb", ("climbs", "moves up", "gets higher", "keeps rising")),
    ("trend", _UP, "predicate", ("on the rise", "going up", "climbing")),
    ("trend", _UP, "adjective", ("climbing", "mounting")),
    ("trend", _DOWN, "noun", ("a decrease", "a downhill course", "a downward tendency")),
    ("trend", _DOWN, "verb", ("drops", "moves down", "gets lower", "keeps falling")),
    ("trend", _DOWN, "predicate", ("in decline", "going down", "dropping")),
    ("trend", _DOWN, "adjective", ("declining", "diminishing")),
    ("trend", _FLAT, "verb", ("stays level", "neither goes up nor goes down", "keeps its level")),
    ("trend", _FLAT, "predicate", ("neither increasing nor decreasing", "level", "flat")),
    ("trend", _FLAT, "noun", ("neither a rise nor a fall", "no tendency up or down")),
    ("trend", _FLAT, "adjective", ("level", "flat", "stationary")),
    ("trend", _NOT_UP, "verb", ("does not rise", "never climbs", "doesn't get higher")),
    ("trend", _NOT_UP, "predicate", ("not climbing", "not going up")),
    ("trend", _NOT_UP, "noun", ("no rise", "no rising trend")),
    ("trend", _NOT_UP, "addition", ("without a rise",)),
    ("trend", _NOT_DOWN, "verb", ("does not fall", "never drops", "doesn't get lower")),
    ("trend", _NOT_DOWN, "predicate", ("not declining", "not going down")),
    ("trend", _NOT_DOWN, "noun", ("no fall", "no decrease", "no falling trend")),
    ("trend", _NOT_DOWN, "addition", ("without a drop", "without a fall")),
    ("volatility", _ROUGH, "adjective", ("unsteady", "restless", "nervous")),
    ("volatility", _ROUGH, "predicate", ("full of noise", "nervous", "unsteady")),
    ("volatility", _ROUGH, "noun", ("much noise", "strong noise", "rough steps")),
    ("volatility", _ROUGH, "verb", ("leaps up and down", "wobbles strongly", "zigzags")),
    ("volatility", _CALM, "adjective", ("calm", "even")),
    ("volatility", _CALM, "predicate", ("free from noise", "even from step to step")),
    ("volatility", _CALM, "noun", ("little noise", "no noise", "weak noise", "smooth steps")),
    ("volatility", _CALM, "verb", ("hardly wobbles", "moves calmly")),
    ("volatility", _CALM, "addition", ("without noise", "without wobbles")),
    (
        "volatility",
        (0, 1, 2),
        "predicate",
        ("not rough", "not unsteady", "never restless"),
    ),
    ("volatility", (0, 1, 2), "verb", ("isn't rough", "does not zigzag")),
    ("volatility", (0, 1, 2), "noun", ("no high volatility", "no strong noise")),
    ("volatility", (2, 3, 4), "predicate", ("not calm", "not even", "never calm in its steps")),
    ("volatility", (2, 3, 4), "verb", ("isn't calm", "does not move calmly")),
    ("level", (4, 5, 6), "noun", ("values above normal", "a level above average")),
    ("level", (4, 5, 6), "verb", ("stays above normal", "runs above average")),
    ("level", (5, 6), "noun", ("high values", "a high level", "a high mean", "large numbers")),
    ("level", (5, 6), "verb", ("stays high", "has high values throughout")),
    ("level", (5, 6), "predicate", ("high overall", "high on average", "far up")),
    ("level", (0, 1, 2), "noun", ("values below normal", "a level below average")),
    ("level", (0, 1, 2), "verb", ("stays below normal", "runs below average")),
    ("level", (0, 1), "noun", ("low values", "a low level", "a low mean", "small numbers")),
    ("level", (0, 1), "verb", ("stays low", "has low values throughout")),
    ("level", (0, 1), "predicate", ("low overall", "low on average", "far down")),
    ("level", (0, 1, 2, 3), "predicate", ("not above normal", "not high overall")),
    ("level", (0, 1, 2, 3), "noun", ("no high values", "no high mean")),
    ("level", (0, 1, 2, 3), "verb", ("does not stay high", "is never high")),
    ("level", (3, 4, 5, 6), "predicate", ("not below normal", "not low overall")),
    ("level", (3, 4, 5, 6), "noun", ("no low values", "no low mean")),
    ("spread", _WIDE, "noun", ("a big range", "a large span", "large differences in value")),
    ("spread", _WIDE, "verb", ("varies widely in value", "reaches from very low to very high")),
    ("spread", _WIDE, "adjective", ("wide-ranging", "widely varying")),
    ("spread", _NARROW, "noun", ("a small range", "a tiny span", "small differences in value")),
    ("spread", _NARROW, "verb", ("varies little in value", "stays close to its mean")),
    ("spread", _NARROW, "adjective", ("narrow", "hardly varying")),
    ("spread", (0, 1, 2), "noun", ("no wide range", "no large span")),
    ("spread", (0, 1, 2), "verb", ("does not vary much in value", "does not cover a wide range")),
    ("spread", (0, 1, 2), "predicate", ("not wide in range", "not spread out")),
    ("spread", (2, 3, 4), "noun", ("no narrow range", "no tiny span")),
    ("spread", (2, 3, 4), "verb", ("does not stay in a narrow range",)),
    ("trend", _UP, "verb", ("advances", "gains", "mounts", "builds up", "becomes larger")),
    ("trend", _UP, "predicate", ("on its way up", "becoming larger", "higher at last")),
    ("trend", _DOWN, "verb", ("retreats", "loses ground", "diminishes", "becomes smaller")),
    ("trend", _DOWN, "predicate", ("on its way down", "becoming smaller")),
    ("trend", _FLAT, "predicate", ("constant on the whole", "without a trend", "trendless")),
    ("trend", _FLAT, "noun", ("no change on the whole", "no trend at all", "no clear direction")),
    ("volatility", _ROUGH, "adjective", ("rough", "shaky", "irregular", "uneven")),
    ("volatility", _ROUGH, "predicate", ("unstable", "shaky", "agitated", "changing in leaps")),
    ("volatility", _ROUGH, "noun", ("high noise", "strong ups and downs", "big random steps")),
    ("volatility", _CALM, "adjective", ("steady", "stable", "settled", "peaceful")),
    ("volatility", _CALM, "predicate", ("stable", "settled", "changing gradually")),
    ("volatility", _CALM, "noun", ("low noise", "hardly any ups and downs", "tiny random steps")),
    ("level", (5, 6), "predicate", ("at high values", "large on average", "raised")),
    ("level", (5, 6), "noun", ("big values", "a high average", "top values")),
    ("level", (0, 1), "predicate", ("at low values", "small on average", "lowered")),
    ("level", (0, 1), "noun", ("tiny values", "a low average", "bottom values")),
    ("spread", _WIDE, "noun", ("large variation", "a wide range", "a great distance of extremes")),
    ("spread", _WIDE, "verb", ("swings far up and down", "covers much of the scale")),
    ("spread", _NARROW, "noun", ("small variation", "a narrow range", "a limited range")),
    ("spread", _NARROW, "verb", ("covers little of the scale", "keeps within narrow bounds")),
    ("cycles", (2, 3, 4, 5, 6), "noun", ("several waves", "repeated cycles")),
    ("cycles", (2, 3, 4, 5, 6), "verb", ("goes through several cycles", "repeats itself")),
    ("higher_half", (2,), "predicate", ("higher in the second half than in the first",)),
    ("higher_half", (2,), "noun", ("a second half above the first",)),
    ("higher_half", (0,), "predicate", ("higher in the first half than in the second",)),
    ("higher_half", (0,), "noun", ("a second half below the first",)),
    ("higher_half", (1,), "predicate", ("as high in the first half as in the second",)),
    ("rougher_half", (2,), "predicate", ("rougher in the second half", "calmer at first")),
    ("rougher_half", (2,), "verb", ("gets rougher", "becomes rougher towards the end")),
    ("rougher_half", (0,), "predicate", ("rougher in the first half", "calmer later on")),
    ("rougher_half", (0,), "verb", ("calms down", "becomes smoother towards the end")),
    ("higher_end", (2,), "verb", ("ends higher than it starts", "finishes above its start")),
    ("higher_end", (0,), "verb", ("ends lower than it starts", "finishes below its start")),
    ("higher_end", (1,), "verb", ("ends where it starts", "comes back to its start")),
)
