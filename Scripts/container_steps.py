# SPDX-License-Identifier: Apache-2.0
"""The Dockerfile's steps, for what carries them out without an engine."""
import json
import pathlib
import re
import shlex

PROJECT = pathlib.Path(__file__).resolve().parent.parent


def instructions():
    """The Dockerfile's instructions, as word and rest; comments and continued lines are resolved."""
    lines = [line for line in (PROJECT / "Dockerfile").read_text().splitlines() if not line.startswith("#")]
    text = re.sub(r"\\\n\s*", "", "\n".join(lines))
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def stages(steps):
    """The steps of each stage."""
    found = []
    for step in steps:
        if step[0] == "FROM":
            found.append([])
        found[-1].append(step)
    return found


def environment_of(stage):
    """What ENV sets."""
    return dict(word.split("=", 1) for name, rest in stage if name == "ENV" for word in shlex.split(rest))


def words_of(stage, name):
    """The list that ENTRYPOINT or CMD has."""
    return json.loads(next(rest for step, rest in stage if step == name))
