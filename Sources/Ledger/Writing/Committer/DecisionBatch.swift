// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography

/// Requests that are decided one after the other, in their order, and committed together.
package struct DecisionBatch: Sendable {
    /// In the order of the body; each is decided with the grants of those before it.
    package let requests: [DecisionRequest]
    /// `nil` without an idempotency key.
    package let idempotency: BatchClaim?

    package init(requests: [DecisionRequest], idempotency: BatchClaim?) {
        self.requests = requests
        self.idempotency = idempotency
    }
}

/// The verdict on a ``DecisionBatch``.
package enum BatchVerdict: Sendable {
    /// One verdict for each request, in their order.
    case decided([Verdict])
    /// Something was granted under the idempotency key before, for another body; nothing is decided.
    case idempotencyKeyReused
}

/// A promise that a retried batch gets the answers of the first one, item by item.
///
/// Each item has its own claim. An item that was granted before the answer was lost is granted again; any other is
/// decided as new. Keys of batches and of single requests are separate.
package struct BatchClaim: Hashable, Sendable {
    /// Over the caller and the key's text, 15 bytes; an item's place is the 16th byte of its own digest.
    private let keyPrefix: [UInt8]
    /// Over the whole body, 16 bytes; what each item's claim begins with.
    let bodyDigest: [UInt8]

    /// With users' tokens, each customer has keys of their own.
    package init(of caller: Caller, key: [UInt8], body: [UInt8]) {
        let user = caller.user?.idempotencyPrefix ?? []
        self.init(callerID: caller.id, key: user + key, body: body)
    }

    /// A claim for a key of that caller, and for a body: keys of two callers are apart.
    package init(callerID: CallerID, key: [UInt8], body: [UInt8]) {
        // No key has a NUL in it, so none of a single request has this digest.
        let name = Array(callerID.text.utf8) + [0] + key + [0] + Array("batch".utf8)
        keyPrefix = Array(SHA256.digest(of: name).bytes.prefix(15))
        bodyDigest = Array(SHA256.digest(of: body).bytes.prefix(16))
    }

    /// The claim of the item at that place, which is below 256.
    package func item(_ place: Int) -> IdempotencyClaim {
        IdempotencyClaim(keyDigest: keyPrefix + [UInt8(truncatingIfNeeded: place)], batchDigest: bodyDigest)
    }

    /// The digests of all items' keys lie between these two, and no others do.
    var keyDigests: (first: [UInt8], last: [UInt8]) { (keyPrefix + [0], keyPrefix + [255]) }
}
