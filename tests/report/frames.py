"""Windows as the tables that users have."""

import numpy as np
import pandas as pd


def table(windows: np.ndarray, start: str = "2020-01-01") -> pd.DataFrame:
    """Windows ``(N, L, C)`` as rows, with a ``window`` column and time stamps as text."""
    count, length, channels = windows.shape
    frame = pd.DataFrame(
        windows.reshape(-1, channels).astype(float), columns=[f"c {i}" for i in range(channels)]
    )
    frame.insert(0, "date", pd.date_range(start, periods=len(frame), freq="h").astype(str))
    frame.insert(0, "window", np.repeat(np.arange(count), length))
    return frame
