# SPDX-License-Identifier: Apache-2.0
"""The control calls by HTTP, for use by hand: POST /control/NAME with the arguments as JSON."""
import json

import delivery
import jws
from control_calls import ControlError
from messages import Answer

PREFIX = "/control/"


def control_responder(control):
    async def respond(exchange):
        await delivery.normally(exchange, answer(control, exchange.request))

    return respond


def answer(control, request):
    if not request.path.startswith(PREFIX):
        return Answer(404)
    try:
        arguments = json.loads(request.body or b"{}")
        return Answer(200, jws.to_json(control.handle(request.path.removeprefix(PREFIX), arguments)))
    except (ValueError, TypeError, ControlError) as error:
        return Answer(400, jws.to_json({"error": str(error)}))
