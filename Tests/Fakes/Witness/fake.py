# SPDX-License-Identifier: Apache-2.0
"""The witness as a server: its port, its answers, what it does wrong on request."""
from fake_server import FakeServer
from messages import Answer
from rudeness import Plan, Rules
from witness import Refused, Witness

NAME = "witness.example/w1"


def _other_witness(_):
    """A cosignature by a key that nobody has named."""
    return Plan(lies="otherWitness")


def _broken_signature(_):
    """The line of the witness with a signature that does not verify."""
    return Plan(lies="brokenSignature")


class FakeWitness(FakeServer):
    def __init__(self, folder):
        rules = Rules({"otherWitness": _other_witness, "brokenSignature": _broken_signature})
        super().__init__(folder, rules, self._respond)
        self.witness = Witness(NAME)
        self._stranger = Witness(NAME)

    async def _respond(self, exchange):
        await self.dispatcher.answer(exchange, endpoint_of(exchange.request), None, self._answer)

    def _answer(self, request, lies):
        if endpoint_of(request) != "addCheckpoint":
            return Answer(404)
        if request.method != "POST":
            return Answer(405)
        try:
            self._stranger.logs = self.witness.logs
            witness = self._stranger if lies == "otherWitness" else self.witness
            line = witness.add_checkpoint(request.body)
        except Refused as refused:
            return Answer(refused.status, refused.body.encode(), refused.content_type)
        if lies == "brokenSignature":
            # A bit of the signature, before what pads it.
            line = line[:-5] + ("A" if line[-5] != "A" else "B") + line[-4:]
        return Answer(200, line.encode(), "text/plain")

    def description(self):
        """What a user of the fake must know of this run."""
        return {
            "origins": {"https": self.origin(), "http": self.origin(uses_tls=False)},
            "tlsCAPath": self.tls_authority_path,
            "vkey": self.witness.vkey,
        }


def endpoint_of(request):
    return "addCheckpoint" if request.path == "/add-checkpoint" else "unknown"
