// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferSignerClient

/// Answers as the service gives them.
enum Sample {
    static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"

    /// Of a promotional offer; with the token or, instead, a user name.
    static func answer(username: String? = nil, without left: Set<String> = []) -> String {
        let account = username.map { #""applicationUsername": "\#($0)""# } ?? #""appAccountToken": "\#(token)""#
        let signature =
            "MEUCIQDpjxwZh32eOwFMspGbXYQz7U2qZJmABebFBswyPkxWhwIgSxWTXHvuSBoGm5rOv+0aYAUIc/PBEKhVuFnjT5+euZI="
        let members = [
            "grantId": #""01a1fd44-8529-71d1-9cd2-cc826b2e918c""#, "identifier": #""winback_3m""#,
            "keyIdentifier": #""ABC123DEFG""#, "nonce": #""ff88c6c2-cb3c-4160-826d-f40c6a0917bd""#,
            "timestamp": "1795250488617", "signature": "\"\(signature)\"", "jws": #""aGVhZA.Ym9keQ.c2lnbmF0dXJl""#,
            "expiresAt": #""2026-11-22T08:41:28.617Z""#,
            "decision": #"{"outcome": "eligible", "policy": "sha256:00", "added": {"later": [1]}}"#,
        ]
        let kept = members.filter { !left.contains($0.key) }.sorted { $0.key < $1.key }
        return "{" + (kept.map { "\"\($0.key)\": \($0.value)" } + [account]).joined(separator: ", ") + "}"
    }

    static func offer(username: String? = nil, without left: Set<String> = []) throws -> SignedOffer {
        try JSONDecoder().decode(SignedOffer.self, from: Data(answer(username: username, without: left).utf8))
    }

    static let request = SignatureRequest(
        bundleID: "com.example.app",
        productID: "com.example.pro.monthly",
        offerID: "winback_3m"
    )

    static let refusal = """
        {"type": "/problems/not-eligible", "title": "The customer is not eligible for this offer", "status": 403, \
        "detail": "The rules of this offer do not admit this customer now.", \
        "instance": "urn:uuid:01a1fd44-8529-71d1-9cd2-cc826b2e918c", \
        "decision": {"outcome": "notEligible", "policy": "sha256:00", "nextEligibleAt": "2026-12-01T00:00:00Z", \
        "findings": [{"rule": "cooldown", "answer": "notMet", "code": "cooldown-running", "because": "…"}]}}
        """
}
