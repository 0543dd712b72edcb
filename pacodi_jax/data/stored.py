"""The fields of a recipe as JSON has them, and back."""

from typing import Any

import numpy as np

from pacodi_jax.data.attributes import Attribute
from pacodi_jax.data.calendar import Calendar
from pacodi_jax.data.clock import Clock
from pacodi_jax.data.law import Law
from pacodi_jax.data.scaling import Scaler


def plain(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a recipe as lists, mappings, texts and numbers."""
    clock, law, dates = fields["clock"], fields["law"], fields["calendar"]
    return fields | {
        "scaler": {name: _listed(part) for name, part in fields["scaler"]._asdict().items()},
        "clock": clock._asdict() if clock else None,
        "attributes": [attribute._asdict() for attribute in fields["attributes"]],
        "law": law._asdict() if law else None,
        "calendar": dates._asdict() if dates else None,
    }


def _listed(values: np.ndarray) -> Any:
    """Nested lists with null for NaN, which JSON does not know."""
    known = values.astype(object)
    known[np.isnan(values)] = None
    return known.tolist()


def typed(fields: dict[str, Any]) -> dict[str, Any]:
    """The fields of a recipe in their types; what older recipes lack is left to its default."""
    found = dict(fields)
    for name in ("channels", "dtypes", "words", "columns"):
        if name in ("channels", "dtypes") or name in fields:
            found[name] = tuple(fields[name])
    clock, law = fields["clock"], fields.get("law")
    found["scaler"] = Scaler(**{k: np.array(v, np.float64) for k, v in fields["scaler"].items()})
    found["clock"] = Clock(**{**clock, "columns": tuple(clock["columns"])}) if clock else None
    found["attributes"] = tuple(_attribute(kept) for kept in fields["attributes"])
    dates = fields.get("calendar")
    found["calendar"] = (
        Calendar(tuple(dates["names"]), dates["zone"], tuple(dates["firsts"])) if dates else None
    )
    if law:
        found["law"] = Law(tuple(map(tuple, law["rows"])), tuple(law["counts"]))
    return found


def _attribute(kept: dict[str, Any]) -> Attribute:
    levels = kept["levels"]
    return Attribute(**{**kept, "levels": None if levels is None else tuple(levels)})
