// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import OfferDomain

/// A promise that a retried request gets the answer of the first one.
package struct IdempotencyClaim: Hashable, Sendable {
    /// How long a key is remembered: as long as Apple honors what was signed under it.
    package static let lifetimeHours = 24

    /// Over the caller and the key's text, 16 bytes; the text itself is not kept.
    package let keyDigest: [UInt8]
    /// Over the body of the request and the offer that it names, 32 bytes.
    package let requestDigest: [UInt8]
    /// How many leading bytes of ``requestDigest`` are over the body alone, to see which of the two differs.
    private let bodyBytes: Int

    /// With users' tokens, each customer has keys of their own.
    package init(of caller: Caller, key: [UInt8], body: [UInt8]) {
        let user = caller.user?.idempotencyPrefix ?? []
        self.init(callerID: caller.id, key: user + key, body: body)
    }

    /// A claim for a key of that caller, and for a body: keys of two callers are apart.
    package init(callerID: CallerID, key: [UInt8], body: [UInt8]) {
        keyDigest = Array(SHA256.digest(of: Array(callerID.text.utf8) + [0] + key).bytes.prefix(16))
        requestDigest = SHA256.digest(of: body).bytes
        bodyBytes = 0
    }

    /// The claim of an item of a batch.
    init(keyDigest: [UInt8], batchDigest: [UInt8]) {
        self.keyDigest = keyDigest
        requestDigest = batchDigest
        bodyBytes = batchDigest.count
    }

    private init(keyDigest: [UInt8], requestDigest: [UInt8], bodyBytes: Int) {
        self.keyDigest = keyDigest
        self.requestDigest = requestDigest
        self.bodyBytes = bodyBytes
    }

    /// The same claim for the offer that the body names now: a retry never gets another offer than was decided on.
    package func bound(to offer: CatalogOffer) -> IdempotencyClaim {
        let names =
            switch offer.listing {
            case .appStore(let listing): [offer.id.text, listing.offerID?.text ?? "", listing.productID.text]
            case .googlePlay(let listing):
                [offer.id.text, listing.offerID.text, listing.productID.text, listing.basePlanID.text]
            }
        let bytes = names.reduce(requestDigest) { $0 + [0] + Array($1.utf8) }
        let digest = SHA256.digest(of: bytes).bytes
        return IdempotencyClaim(
            keyDigest: keyDigest,
            requestDigest: bodyBytes == 0 ? digest : requestDigest.prefix(bodyBytes) + digest.dropLast(bodyBytes),
            bodyBytes: bodyBytes
        )
    }
}
