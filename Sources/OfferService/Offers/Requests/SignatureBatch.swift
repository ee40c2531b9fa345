// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import Cryptography
import JSON
package import Ledger
package import OfferDomain

/// Several requests for promotional-offer signatures in one body; the service grants or refuses each separately.
package struct SignatureBatch: Sendable {
    /// One of the requests, as far as it could be read.
    package struct Item: Sendable {
        /// A UUIDv7: its records have it, and it becomes the grant's ID if the request is granted.
        package let id: UniqueID
        /// The request, or why this item is refused before anything is decided.
        package let request: Result<SignatureRequest, Refusal>
        /// The item's own claim; `nil` without an idempotency key.
        package let idempotency: IdempotencyClaim?
    }

    /// In the order of the body.
    package let items: [Item]
    /// `nil` without an idempotency key.
    package let idempotency: BatchClaim?

    /// The apps that the requests name, as far as they could be read.
    var provableApps: ProvableApps {
        ProvableApps(bundleIDs: Set(items.compactMap { try? $0.request.get().bundleID }), items: items.count)
    }

    /// How many requests a body may have.
    package static let mostRequests = 32

    /// How many bytes a body may have: 8 KiB for each of ``mostRequests``, which is enough for a signed transaction.
    ///
    /// The service verifies all signed data of a body, so this bounds that work too.
    package static let maximumBytes = 262_144

    private static let limits = JSONLimits(
        maximumBytes: maximumBytes,
        // What a single request may have, twice deeper.
        maximumDepth: 10,
        maximumNodes: 65_536,
        maximumStringBytes: 32_768
    )

    /// Reads a body; what is wrong with one of the requests is that one's refusal.
    ///
    /// The facts that they state count as observed when the body was received.
    package init(
        _ body: [UInt8],
        idempotency: BatchClaim?,
        by user: ProvenUser? = nil,
        random: any RandomSource,
        receivedAt now: Timestamp
    ) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        let requests = Self.readRequests(&reader)
        reader.finish()
        guard mismatches.all.isEmpty else { throw .invalid(mismatches) }
        self.idempotency = idempotency
        items = requests.enumerated().map { place, value in
            Item(
                id: UniqueID.version7(at: now, random.next(), random.next()),
                request: Self.request(value, by: user, receivedAt: now),
                idempotency: idempotency?.item(place)
            )
        }
    }

    private static func readRequests(_ reader: inout ObjectReader) -> [JSONValue] {
        let expected = "an array of 1 to \(mostRequests) requests"
        guard let array = reader.required("requests", expected, as: \.array) else { return [] }
        let requests = Array(array)
        if !(1...mostRequests).contains(requests.count) {
            reader.note("requests", "expected \(expected), found \(requests.count)")
        }
        return requests
    }

    private static func request(
        _ value: JSONValue,
        by user: ProvenUser?,
        receivedAt now: Timestamp
    ) -> Result<SignatureRequest, Refusal> {
        do throws(Refusal) {
            return .success(try SignatureRequest(value, for: .promotionalOffer, by: user, receivedAt: now))
        } catch {
            return .failure(error)
        }
    }
}
