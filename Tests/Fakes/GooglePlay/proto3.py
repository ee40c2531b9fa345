# SPDX-License-Identifier: Apache-2.0
"""How Google's servers write messages as JSON, and how tests change members.

Source: https://protobuf.dev/programming-guides/json
"""
from dataclasses import dataclass

import jws
from messages import Answer

EMPTY_LISTS = ("absent", "noContent", "empty")
# Unknown members to add to every object, and the enums to replace by unknown values, if a test requests that.
UNKNOWN_MEMBERS = {"unheardOf": {"since": "2031", "list": [1, "two", None]}, "unheardOfFlag": True}
ENUMS = {"state", "subscriptionState", "acknowledgementState", "reason", "replacementMode", "prorationMode"}


@dataclass
class Habits:
    """What a server may do this way or that."""

    # A list without items: {} without the member, 204 without a body, or the member with [].
    empty_lists: str = "absent"
    # Whether false, 0, "" and [] are written.
    writes_defaults: bool = False
    # Digits of fractions of seconds: 0, 3, 6, 9; None: as many as the value needs.
    fraction_digits: int | None = None
    # Answers with fewer items than were asked for.
    largest_page: int = 1000
    reverses_lists: bool = False
    # Members that the schema has no longer, which recorded answers still have.
    writes_legacy_members: bool = True

    def check(self):
        if self.empty_lists not in EMPTY_LISTS:
            raise ValueError(f"no way {self.empty_lists!r}; there are {', '.join(EMPTY_LISTS)}")
        if self.fraction_digits not in (None, 0, 3, 6, 9) or self.largest_page < 1:
            raise ValueError("fractionDigits is one of 0, 3, 6, 9, and largestPage at least 1")


def without_defaults(value):
    """Leaves out members that are false, zero or empty, but keeps empty objects: they say something."""
    if isinstance(value, dict):
        kept = {name: without_defaults(item) for name, item in value.items()}
        return {name: item for name, item in kept.items() if item or isinstance(item, dict)}
    return [without_defaults(item) for item in value] if isinstance(value, list) else value


def with_unknown_members(value):
    """Adds unknown members to every object, also to empty ones."""
    if isinstance(value, dict):
        return {name: with_unknown_members(item) for name, item in value.items()} | UNKNOWN_MEMBERS
    return [with_unknown_members(item) for item in value] if isinstance(value, list) else value


def with_unknown_values(value):
    """Sets each enum to an unknown value."""
    if isinstance(value, dict):
        changed = {name: with_unknown_values(item) for name, item in value.items()}
        return {
            name: "UNHEARD_OF" if name in ENUMS and isinstance(item, str) else item for name, item in changed.items()
        }
    return [with_unknown_values(item) for item in value] if isinstance(value, list) else value


def answer(value, habits, lies):
    """A good answer, as the habits and the lies have it."""
    if not habits.writes_defaults:
        value = without_defaults(value)
    if lies.unknown_members:
        value = with_unknown_members(value)
    if lies.unknown_values:
        value = with_unknown_values(value)
    return Answer(200, jws.to_json(value), "application/json; charset=UTF-8")


def list_answer(name, items, next_token, habits, lies):
    """The answer of a list call."""
    token = {"nextPageToken": next_token} if next_token else {}
    if items or token:
        return answer({name: items} | token, habits, lies)
    if habits.empty_lists == "noContent":
        return Answer(204)
    body = b"{}" if habits.empty_lists == "absent" else jws.to_json({name: []})
    return Answer(200, body, "application/json; charset=UTF-8")


def edit(resource, path, value):
    """Sets what a JSON pointer (RFC 6901) names, or takes it away if the value is None.

    "-" appends to a list. Raises KeyError, IndexError or ValueError.
    """
    names = [name.replace("~1", "/").replace("~0", "~") for name in path.split("/")[1:]]
    if not names:
        raise ValueError(f"{path!r} is no path of a member")
    for name in names[:-1]:
        resource = resource[int(name)] if isinstance(resource, list) else resource[name]
    last = names[-1]
    if isinstance(resource, dict):
        if value is not None:
            resource[last] = value
        else:
            del resource[last]
    elif last == "-":
        resource.append(value)
    elif value is None:
        del resource[int(last)]
    else:
        resource[int(last)] = value


def merge(members, changes):
    """Sets members, or takes away those set to None."""
    for name, value in (changes or {}).items():
        if value is None:
            members.pop(name, None)
        else:
            members[name] = value
    return members
