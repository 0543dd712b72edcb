"""A few damaged files of every kind, and those that once got through: read, or refused by name."""

import pytest

#: Cases of fuzz_files that once ended in a traceback, or filled a terminal.
KEPT = {"csv": (0, 7, 14, 45, 51, 124), "tsv": (93, 161), "parquet": (1409,)}
SLOW = ("config", "recipe", "resealed", "metrics")


@pytest.fixture
def fuzz(benchmark):
    return benchmark("fuzz_files")


def test_damaged_files_are_read_or_refused(fuzz, tmp_path):
    found = {}
    for name, reader in fuzz.READERS.items():
        whole = reader.whole()
        for number in (*range(3 if name in SLOW else 12), *KEPT.get(name, ())):
            path = tmp_path / f"{name}{reader.ending}"
            path.write_bytes(fuzz.case(reader, name, number, whole))
            found[name, number] = fuzz.outcome(reader, path)
    assert {case: told for case, told in found.items() if told not in ("read", "refused")} == {}
    assert set(found.values()) == {"read", "refused"}


def test_whole_files_are_read(fuzz, tmp_path):
    for name, reader in fuzz.READERS.items():
        for raw in reader.whole():
            path = tmp_path / f"{name}{reader.ending}"
            path.write_bytes(raw)
            assert fuzz.outcome(reader, path) == "read", name


def test_a_fault_is_told(fuzz, tmp_path):
    reader = fuzz.Reader(".x", list, lambda path: 1 / 0, fuzz.damaged)
    assert fuzz.outcome(reader, tmp_path) == "ZeroDivisionError: division by zero"
