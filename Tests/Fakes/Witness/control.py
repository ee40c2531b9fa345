# SPDX-License-Identifier: Apache-2.0
"""The witness's own control calls: which logs it knows, and what it has seen."""
import base64

from control_calls import ControlCalls


class Control(ControlCalls):
    """Each public method is a call: its parameters are the members of the JSON that comes with it."""

    def trust(self, vkey):
        """Knows a log from now on, from its beginning; what was seen of it before is forgotten."""
        self._fake.witness.trust(vkey)
        return {}

    def seen(self, origin):
        """How far a log was seen."""
        log = self._fake.witness.logs[origin]
        return {"size": log.size, "rootHash": base64.b64encode(log.root).decode()}

    def cosigned(self):
        """Each checkpoint that was cosigned, from the oldest."""
        return {
            "checkpoints": [
                {"origin": checkpoint.origin, "size": checkpoint.size, "text": checkpoint.text.decode()}
                for checkpoint in self._fake.witness.cosigned
            ]
        }
