// SPDX-License-Identifier: Apache-2.0
import JSON
import OfferDomain

/// What a caller of `POST /v1/customers/transfers` sends; every member already in its type.
struct TransfersRequest: Sendable {
    /// One of the two is there; both, if it is one app's.
    let bundleID: BundleID?
    let packageName: PackageName?
    let from: AnonymousID
    let to: CustomerID

    /// The HTTP server has already limited the bytes.
    private static let limits = JSONLimits(maximumBytes: 65_536)

    init(_ body: [UInt8]) throws(Refusal) {
        let document: JSONDocument
        do { document = try JSONDocument(body, limits: Self.limits) } catch { throw .request(.malformedJSON(error)) }
        let mismatches = Mismatches()
        var reader = ObjectReader(document.root, into: mismatches)
        bundleID = reader.optional("bundleId", text: BundleID.init)
        packageName = reader.optional("packageName", text: PackageName.init)
        if reader.member("bundleId") == nil, reader.member("packageName") == nil, document.root.object != nil {
            reader.note("bundleId", "is missing, and so is packageName; the app must be named by one of them")
        }
        let from = Self.read("from", of: &reader, into: mismatches) {
            $0.required("anonymousId", text: AnonymousID.init)
        }
        let to = Self.read("to", of: &reader, into: mismatches) { $0.required("customerId", text: CustomerID.init) }
        reader.finish()
        guard mismatches.all.isEmpty, let from, let to else { throw .invalid(mismatches) }
        self.from = from
        self.to = to
    }

    /// Reads the one name of one side.
    private static func read<Name>(
        _ side: StaticString,
        of reader: inout ObjectReader,
        into mismatches: Mismatches,
        _ name: (inout ObjectReader) -> Name?
    ) -> Name? {
        guard let value = reader.required(side, "an object", as: { $0.object == nil ? nil : $0 }) else { return nil }
        var inner = ObjectReader(value, into: mismatches)
        let found = name(&inner)
        inner.finish()
        return found
    }
}
