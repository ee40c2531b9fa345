# SPDX-License-Identifier: Apache-2.0
"""The fake's clock, and how Google writes times and durations. Times are in milliseconds since 1970."""
import datetime
import re
import time

SECOND = 1000
DAY = 86_400 * SECOND
DAYS_OF_UNIT = {"Y": 365, "M": 30, "W": 7, "D": 1}


class Clock:
    """The real time, or another that a test sets: it goes on from there, or stops."""

    def __init__(self):
        self._offset = 0
        self._standing_at = None

    def now(self):
        return int(time.time() * 1000) + self._offset if self._standing_at is None else self._standing_at

    def set(self, milliseconds=None, stands_still=False):
        """None: the real time."""
        self._standing_at = milliseconds if stands_still else None
        self._offset = 0 if milliseconds is None else milliseconds - int(time.time() * 1000)

    def advance(self, milliseconds):
        if self._standing_at is None:
            self._offset += milliseconds
        else:
            self._standing_at += milliseconds


def rfc3339(milliseconds, fraction_digits=None):
    """As proto3 writes it: 3 digits of fraction, or none if it is zero; or as many of 0, 3, 6, 9 as is said."""
    seconds, rest = divmod(milliseconds, 1000)
    text = datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%S")
    digits = (3 if rest else 0) if fraction_digits is None else fraction_digits
    # Below a millisecond the fake makes the digits up.
    return text + (f".{rest:03}417905"[: 1 + digits] if digits else "") + "Z"


def milliseconds_of(duration):
    """The length of an ISO 8601 duration like P1M or P1W2D, with months of 30 days; raises ValueError."""
    parts = re.fullmatch(r"P(?:\d+Y)?(?:\d+M)?(?:\d+W)?(?:\d+D)?", duration)
    if not parts or duration == "P":
        raise ValueError(f"{duration!r} is no duration of days, weeks, months or years")
    return sum(int(number) * DAYS_OF_UNIT[unit] for number, unit in re.findall(r"(\d+)([YMWD])", duration)) * DAY
