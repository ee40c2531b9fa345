"""What the figures were taken on."""
import datetime
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


def output(*command):
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def signature_microseconds():
    """What one P-256 signature costs of a core's time: `openssl speed`, one core, a second."""
    lines = output("openssl", "speed", "-seconds", "1", "ecdsap256").splitlines()
    return 1e6 / float(lines[-1].split()[-2])


def require(*tools):
    for tool in tools:
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing; Scripts/setup bench installs what is needed")


def description():
    model = re.search(r"(?m)^model name\s*:\s*(.*)$", pathlib.Path("/proc/cpuinfo").read_text())
    memory = re.search(r"MemTotal:\s+(\d+)", pathlib.Path("/proc/meminfo").read_text())
    return {
        "date": datetime.date.today().isoformat(),
        "processor": model[1] if model else platform.machine(),
        "cores": os.cpu_count(),
        "memoryGB": round(int(memory[1]) / 1e6),
        "kernel": platform.release(),
        "openssl": " ".join(output("openssl", "version").split()[:2]),
    }
