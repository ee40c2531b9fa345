# SPDX-License-Identifier: Apache-2.0
"""Payloads that are wrong in one way, under a right signature. Each function takes the payload, and returns it changed,
or bytes instead of it."""
import jws


def changing(**members):
    """Sets members that are there, also in the `data` of a notification."""

    def change(payload):
        places = [payload, payload.get("data") or {}, payload.get("summary") or {}]
        found = [(place, name) for place in places for name in members.keys() & place.keys()]
        if not found:
            raise ValueError(f"the payload has none of {', '.join(members)}, so it would not be wrong")
        for place, name in found:
            place[name] = members[name]
        return payload

    return change


def in_environment(name):
    return changing(environment=name, receiptType=name)


def signed_at(shift_milliseconds):
    def change(payload):
        name = "signedDate" if "signedDate" in payload else "receiptCreationDate"
        payload[name] = payload.get(name, 0) + shift_milliseconds
        return payload

    return change


def without_signed_date(payload):
    return {name: value for name, value in payload.items() if name not in ("signedDate", "receiptCreationDate")}


def other_environment(payload):
    places = [payload, payload.get("data") or {}, payload.get("summary") or {}]
    now = next(place[name] for place in places for name in ("environment", "receiptType") if name in place)
    return in_environment("Sandbox" if now == "Production" else "Production")(payload)


def repeated_member(payload):
    name = next(iter(payload))
    return jws.to_json(payload)[:-1] + b"," + jws.to_json({name: "repeated"})[1:]


DAY_MILLISECONDS = 86_400_000
PAYLOAD_FAULTS = {
    "otherBundle": (changing(bundleId="com.example.other"), "of another app, by bundleId"),
    "otherApp": (changing(appAppleId=1), "of another app, by appAppleId"),
    "otherEnvironment": (other_environment, "Sandbox instead of Production, or the other way round"),
    "xcode": (in_environment("Xcode"), "of the environment Xcode, by the right chain"),
    "localTesting": (in_environment("LocalTesting"), "of the environment LocalTesting, by the right chain"),
    "unknownEnvironment": (in_environment("Moon"), "of an unknown environment"),
    "signedLongAgo": (signed_at(-400 * DAY_MILLISECONDS), "signed 400 days earlier"),
    "signedTomorrow": (signed_at(DAY_MILLISECONDS), "signed a day later"),
    "noSignedDate": (without_signed_date, "not dated"),
    "notJSON": (lambda payload: b"this is no JSON", "the payload is no JSON"),
    "notAnObject": (lambda payload: b"[1,2,3]", "the payload is an array"),
    "notUTF8": (lambda payload: jws.to_json(payload)[:-1] + b',"x":"\xff\xfe"}', "the payload is not UTF-8"),
    "repeatedMember": (repeated_member, "a member of the payload is there twice"),
    "emptyPayload": (lambda payload: b"", "the payload is empty"),
    "oversized": (lambda payload: payload | {"filler": "x" * 200_000}, "200 kB of payload"),
    "deeplyNested": (
        lambda payload: jws.to_json(payload)[:-1] + b',"x":' + b"[" * 5_000 + b"]" * 5_000 + b"}",
        "5000 arrays in one another",
    ),
}
