"""Two made tables, and what whole series, filled gaps and forecasts of them keep.

    python benchmarks/made_tables.py [shops load] [--steps 2000]

Shops: whole-numbered daily sales with a week and a year in them, gaps, and different first days.
Load: quarter hours in Europe/Berlin over a clock change, whose days have 92, 96 or 100 steps.
"""

import argparse
import sys
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

import pacodi_jax as pj

#: Sales per day of the week, Monday first, as a share of the mean.
WEEK = np.array([0.9, 0.85, 0.95, 1.0, 1.2, 1.6, 0.5])
ZONE = "Europe/Berlin"
TABLES = ("shops", "load")


def shops(count: int = 30, days: int = 730, seed: int = 0) -> pd.DataFrame:
    """Daily sales of shops: Poisson about level · week · year · AR(1), with gaps of three kinds.

    Cells are missing one by one and in stretches, and some days have no row at all.
    """
    rng = np.random.default_rng(seed)
    parts = []
    for number in range(count):
        first = pd.Timestamp("2023-01-01") + pd.Timedelta(days=int(rng.integers(0, 90)))
        day = pd.date_range(first, periods=days)
        slow = np.zeros(days)
        for step in range(1, days):
            slow[step] = 0.8 * slow[step - 1] + rng.normal(0, 0.08)
        year = 1 + 0.25 * np.cos(2 * np.pi * (day.day_of_year - 355) / 365.25)
        level = rng.uniform(15, 45)
        sales = rng.poisson(level * WEEK[day.day_of_week] * year * np.exp(slow)).astype("float64")
        sales[rng.random(days) < 0.02] = np.nan
        hole = int(rng.integers(30, days - 30))
        sales[hole : hole + int(rng.integers(0, 20))] = np.nan
        table = pd.DataFrame({"day": day, "shop": f"shop {number:02d}", "sales": sales})
        parts.append(table.drop(index=range(20, 20 + number % 4)))
    return pd.concat(parts, ignore_index=True).astype({"sales": "Int64"})


def load(days: int = 60, seed: int = 0) -> pd.DataFrame:
    """Quarter-hourly load in local time from 1 October on: evening peaks, quiet weekends."""
    rng = np.random.default_rng(seed)
    end = pd.Timestamp("2024-10-01") + pd.Timedelta(days=days)
    when = pd.date_range("2024-10-01", end, freq="15min", tz=ZONE, inclusive="left")
    hour = when.hour.to_numpy() + when.minute.to_numpy() / 60
    shape = 50 + 14 * np.sin(2 * np.pi * (hour - 9) / 24) + 9 * np.exp(-(((hour - 19) / 2) ** 2))
    slow = np.zeros(len(when))
    for step in range(1, len(when)):
        slow[step] = 0.98 * slow[step - 1] + rng.normal(0, 0.5)
    kilowatts = shape * np.where(when.day_of_week >= 5, 0.8, 1.0) + slow
    kilowatts[700:760] = np.nan
    return pd.DataFrame({"time": when, "kW": kilowatts.round(2)})


def weekdays(table: pd.DataFrame) -> np.ndarray:
    """Mean sales per day of the week, Monday first."""
    return table.groupby(table["day"].dt.day_of_week)["sales"].mean().to_numpy(np.float64)


def hours(table: pd.DataFrame) -> np.ndarray:
    """Mean load per local hour."""
    return table.groupby(table["time"].dt.hour)["kW"].mean().to_numpy()


def steps_per_day(stamps: pd.Series) -> pd.Series:
    """How many steps every local day has, by its date."""
    return stamps.dt.strftime("%Y-%m-%d").value_counts().sort_index()


def alike(first: np.ndarray, second: np.ndarray) -> float:
    """The correlation of two profiles."""
    return float(np.corrcoef(first, second)[0, 1])


def _timed(name: str, work: Callable[[], Any]) -> Any:
    begin = time.perf_counter()
    found = work()
    print(f"  {name:<10}{time.perf_counter() - begin:6.1f} s", flush=True)
    return found


def show_shops(steps: int) -> None:
    """A year of 30 shops, their gaps filled, and four weeks to come."""
    table = shops()
    settings = {"train.steps": steps, "data.calendar": "on"}
    model = pj.PaCoDi(length=28, time="day", id="shop", size="tiny", settings=settings)
    _timed("fit", lambda: model.fit(table, progress=False))
    year = _timed("simulate", lambda: model.simulate(365, start="2027-01-01", count=30))
    whole = _timed("impute", lambda: model.impute(table))
    ahead = _timed("forecast", lambda: model.forecast(table, horizon=28))
    seen, every = table["sales"].dropna(), year["sales"]
    middle = ahead.rename(columns={"sales_q50": "sales"})
    print(f"  types      {year['sales'].dtype}, {whole['sales'].dtype}, {middle['sales'].dtype}")
    print(f"  least      {seen.min()} in the table, {every.min()} in the synthetic year")
    print(f"  mean       {seen.mean():.1f} and {every.mean():.1f}")
    print(f"  deviation  {seen.std():.1f} and {every.std():.1f}")
    print(f"  missing    {table['sales'].isna().sum()}, filled: {whole['sales'].isna().sum()}")
    print(f"  week       {alike(weekdays(table), weekdays(year)):.3f} (synthetic year)")
    print(f"  week       {alike(weekdays(table), weekdays(middle)):.3f} (forecast)")


def show_load(steps: int) -> None:
    """Four days over each of the two clock changes."""
    table = load()
    settings = {"train.steps": steps, "data.calendar": "on"}
    model = pj.PaCoDi(length=96, time="time", size="tiny", settings=settings)
    _timed("fit", lambda: model.fit(table, progress=False))
    for start in ("2027-03-27 00:00+01:00", "2027-10-30 00:00+02:00"):
        drawn = _timed("simulate", lambda start=start: model.simulate(384, start=start, count=20))
        one = drawn[drawn["series"] == 0]
        print(f"  days       {steps_per_day(one['time']).to_dict()}")
        print(f"  day        {alike(hours(table), hours(drawn)):.3f}")


def main() -> None:
    """Shows the tables named, both by default."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("tables", nargs="*", help=f"of {', '.join(TABLES)}; all by default")
    parser.add_argument("--steps", type=int, default=2000, help="of training (2000)")
    given = parser.parse_args()
    unknown = [name for name in given.tables if name not in TABLES]
    if unknown or given.steps < 1:
        parser.error(f"tables are {', '.join(TABLES)}, and training takes a step at least")
    show = {"shops": show_shops, "load": show_load}
    for name in given.tables or TABLES:
        print(name, flush=True)
        show[name](given.steps)


if __name__ == "__main__":
    sys.exit(main())
