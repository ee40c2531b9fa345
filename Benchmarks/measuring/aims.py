"""What was aimed at, and what the last run of each benchmark found."""
from . import document
from .document import number, table


def kept(name):
    try:
        return document.kept(name)
    except FileNotFoundError:
        return None


def size_ratio(grown, name, size):
    """The ratio at a size, if that was measured."""
    rows = (grown or {"growth": {}})["growth"].get(name, [])
    return next((row["ratio"] for row in rows if row["size"] == size), None)


def found():
    """What was aimed at, the most that it may be, and what it is; nothing where it was not measured."""
    compared, grown, on_postgres = kept("compare"), kept("growth"), kept("growth-postgres")
    contenders = compared["contenders"] if compared else {}
    at = contenders.get("service", {}).get("closed", {}).get("64")
    others = {name: one["closed"]["64"]["cpu"] for name, one in contenders.items()
              if not name.startswith(("service", "bare")) and "64" in one["closed"]}
    thriftiest = min(others, key=others.get) if others else None
    name = compared["labels"][thriftiest] if thriftiest else None
    return [
        ("CPU of a request / P-256 signature, 64 connections", 2.4, at and at["ratio"]),
        (f"CPU of a request / that of the thriftiest contender{f' ({name})' if name else ''}", 1.0,
         at and thriftiest and at["cpu"] / others[thriftiest]),
        ("p99, 64 connections, closed loop, ms", 6.0, at and at["p99"] / 1000),
        ("CPU of a request with 10,000,000 customers / with 10,000", 1.3, size_ratio(grown, "customers", 10_000_000)),
        ("CPU of a request with two instances on PostgreSQL / with one", 1.3, size_ratio(on_postgres, "instances", 2)),
        ("highest RSS in such a run, MB", 30.0, contenders.get("service", {}).get("memory")),
        ("start to the first signature, ms", 20.0, contenders.get("service", {}).get("start")),
    ]


def write(path):
    rows = []
    for meaning, most, value in found():
        reached = "not measured" if value is None else "yes" if value <= most else "no"
        rows.append([meaning, f"{most:g}", "" if value is None else number(value), reached])
    document.replace(path, "aims", table(["", "at most", "found", "reached"], rows))
