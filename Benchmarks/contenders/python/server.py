# SPDX-License-Identifier: Apache-2.0
"""The signature of a promotional offer ("V1") with Apple's library behind FastAPI: what one would write first.

Started with: uvicorn server:app --port PORT --workers N --no-access-log, and KEY_FILE and API_KEY_FILE in the environment.
"""
import hmac
import os
import pathlib
import time
import uuid
from typing import Annotated

from appstoreserverlibrary.promotional_offer import PromotionalOfferSignatureCreator
from fastapi import FastAPI, Header, HTTPException
from pydantic import BaseModel

KEY_ID = "ABC123DEFG"
key = pathlib.Path(os.environ["KEY_FILE"]).read_bytes()
authorization_expected = "Bearer " + pathlib.Path(os.environ["API_KEY_FILE"]).read_text().strip()
creator = PromotionalOfferSignatureCreator(key, KEY_ID, "com.example.app")
app = FastAPI()


class Request(BaseModel):
    bundleId: str
    productId: str
    offerId: str
    appAccountToken: uuid.UUID


class Answer(BaseModel):
    identifier: str
    keyIdentifier: str
    nonce: uuid.UUID
    timestamp: int
    signature: str
    appAccountToken: uuid.UUID


@app.post("/v1/app-store/promotional-offers/signatures")
async def sign(request: Request, authorization: Annotated[str, Header()]) -> Answer:
    if not hmac.compare_digest(authorization.encode(), authorization_expected.encode()):
        raise HTTPException(401)
    if request.bundleId != "com.example.app":
        raise HTTPException(400)
    nonce = uuid.uuid4()
    timestamp = time.time_ns() // 1_000_000
    signature = creator.create_signature(
        request.productId, request.offerId, str(request.appAccountToken), nonce, timestamp
    )
    return Answer(
        identifier=request.offerId,
        keyIdentifier=KEY_ID,
        nonce=nonce,
        timestamp=timestamp,
        signature=signature,
        appAccountToken=request.appAccountToken,
    )
