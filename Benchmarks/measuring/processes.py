"""CPU time and memory of a server: of its process and of all that descend from it."""
import os
import pathlib
import re
import time

TICK_MICROSECONDS = 1e6 / os.sysconf("SC_CLK_TCK")


def tree(pid):
    """The process and all that descend from it."""
    found = [pid]
    for parent in found:
        for children in pathlib.Path(f"/proc/{parent}/task").glob("*/children"):
            try:
                found += map(int, children.read_text().split())
            except OSError:
                pass
    return found


def ticks(path):
    fields = pathlib.Path(path).read_text().rsplit(")", 1)[1].split()
    return int(fields[11]), int(fields[12])


def cpu_microseconds(pids):
    """User and system time of processes together."""
    user = system = 0
    for pid in pids:
        try:
            more_user, more_system = ticks(f"/proc/{pid}/stat")
        except OSError:
            continue
        user, system = user + more_user, system + more_system
    return user * TICK_MICROSECONDS, system * TICK_MICROSECONDS


def threads_cpu_microseconds(pid):
    """Time of each thread so far, in the order in which they began: name, number, microseconds."""
    threads = []
    for task in sorted(pathlib.Path(f"/proc/{pid}/task").iterdir(), key=lambda task: int(task.name)):
        name = (task / "comm").read_text().strip()
        # Nanoseconds on a processor; the ticks of `stat` are too coarse for one thread.
        threads.append((name, int(task.name), int((task / "schedstat").read_text().split()[0]) / 1000))
    return threads


def bytes_written(pid):
    """What a process has had written to disks, not only into the page cache."""
    return int(re.search(r"(?m)^write_bytes: (\d+)", pathlib.Path(f"/proc/{pid}/io").read_text())[1])


def megabytes(path, name):
    try:
        found = re.search(rf"(?m)^{name}:\s+(\d+) kB", pathlib.Path(path).read_text())
    except OSError:
        return 0
    return int(found[1]) / 1024 if found else 0


def peak_resident_megabytes(pids):
    """The sum of each process' highest RSS; what they share counts once for each."""
    return sum(megabytes(f"/proc/{pid}/status", "VmHWM") for pid in pids)


def proportional_megabytes(pids):
    """PSS: what processes share is divided among them."""
    return sum(megabytes(f"/proc/{pid}/smaps_rollup", "Pss") for pid in pids)


def busy_seconds():
    """Time that all cores together have spent on anything since the machine started."""
    fields = [int(field) for field in pathlib.Path("/proc/stat").read_text().splitlines()[0].split()[1:9]]
    return (sum(fields) - fields[3] - fields[4]) / os.sysconf("SC_CLK_TCK")


class Foreign:
    """What share of the cores' time others took meanwhile than the server, its load, and we; a run with much is doubtful."""

    def __init__(self, server):
        self.server = server
        self.started, self.busy, self.ours = time.monotonic(), busy_seconds(), self.own()

    def own(self):
        return self.server.cpu_microseconds() / 1e6 + sum(os.times()[:4])

    def share(self):
        elapsed = (time.monotonic() - self.started) * (os.cpu_count() or 1)
        return max(0.0, (busy_seconds() - self.busy - (self.own() - self.ours)) / elapsed)
