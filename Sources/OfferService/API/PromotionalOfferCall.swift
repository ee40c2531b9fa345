// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain

/// `POST /v1/app-store/promotional-offers/signatures`.
struct PromotionalOfferCall: Sendable {
    let signer: OfferSigner

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request.headers, at: now)
        try request.requireJSON()
        let key = try request.idempotencyKey()
        let asked = try SignatureRequest(request.body, receivedAt: now)
        let signed = try await signer.sign(
            asked,
            for: caller,
            idempotency: key.map { IdempotencyClaim(callerID: caller.id, key: $0, body: request.body) },
            under: snapshot,
            requestID: requestID,
            at: now
        )
        return Response(
            status: 200,
            headers: [("Content-Type", "application/json"), ("Cache-Control", "no-store")],
            body: Self.body(
                signed,
                policyName: snapshot.catalog.policyName,
                showsFindings: signer.showsFindings(to: caller)
            )
        )
    }

    private static func body(_ signed: SignedOffer, policyName: String, showsFindings: Bool) -> [UInt8] {
        let grant = signed.grant
        var writer = JSONWriter(reserving: 2048)
        writer.beginObject()
        writer.name("grantId")
        writer.string { grant.id.append(to: &$0) }
        writer.name("identifier")
        writer.string(plain: signed.offer.storeOfferID.text)
        writer.name("keyIdentifier")
        writer.string(plain: signed.keyID.text)
        writer.name("nonce")
        writer.string { grant.nonce.append(to: &$0) }
        writer.name("timestamp")
        writer.integer(grant.signedAt.milliseconds)
        writeSignatures(signed, &writer)
        writer.name("expiresAt")
        writer.string { grant.signedAt.adding(hours: 24).appendRFC3339(to: &$0) }
        writer.name("decision")
        switch grant.basis {
        case .decision(let decision):
            DecisionJSON(decision, of: signed.offer, policyName: policyName)
                .write(showsFindings: showsFindings, to: &writer)
        case .replay(let decisionJSON) where showsFindings: writer.value(json: decisionJSON)
        case .replay: DecisionJSON.writeEligible(policyName: policyName, to: &writer)
        }
        writer.endObject()
        return writer.bytes
    }

    private static func writeSignatures(_ signed: SignedOffer, _ writer: inout JSONWriter) {
        if let signature = signed.signature {
            writer.name("signature")
            writer.string { $0.append(contentsOf: signature) }
        }
        switch signed.binding {
        case .none: break
        case .appAccountToken(let token):
            writer.name("appAccountToken")
            writer.string { token.append(to: &$0) }
        case .applicationUsername(let username):
            writer.name("applicationUsername")
            writer.string(username.text)
        }
        if let jws = signed.jws {
            writer.name("jws")
            writer.string { $0.append(contentsOf: jws) }
        }
    }
}
