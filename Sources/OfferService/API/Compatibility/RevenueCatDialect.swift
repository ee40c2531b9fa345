// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import Ledger
import OfferDomain

/// `POST /v1/offers` of RevenueCat, which its SDK for Apple's platforms calls at the host that `Purchases.proxyURL` names.
///
/// The evidence is one transaction, `fetch_token`, as StoreKit 2 signed it. Whatever else that member may hold, such as a
/// receipt of StoreKit 1, shows nothing.
enum RevenueCatDialect: CompatibleDialect {
    /// The receipt of a customer with a long history is larger than any other request.
    static let maximumBytes = 262_144

    /// The maximum length of the SDK's `applicationUsername` in bytes.
    private static let mostUsernameBytes = 64

    static func read(
        _ request: Request,
        _ match: RouteMatch,
        receivedAt now: Timestamp
    ) throws(Refusal) -> CompatibleRequest {
        try request.requireJSON()
        let bundleID = try readBundleID(request.headers)
        let namesStoreKit2 = try readStoreKit(request.headers)
        let body = try document(request, maximumBytes: maximumBytes)
        let mismatches = Mismatches()
        var reader = ObjectReader(body.root, into: mismatches)
        let token = reader.optional("fetch_token", "a string", as: \.stringBytes).flatMap { isSigned($0) ? $0 : nil }
        let offer = readOffer(&reader, mismatches)
        let user = reader.required("app_user_id", "a text that is not empty") { value in
            value.stringSlice.flatMap { $0.isEmpty ? nil : $0 }
        }
        guard let user, let binding = readBinding(of: user, isStoreKit2: namesStoreKit2 ?? (token != nil), &reader),
            let (productID, offerID) = offer, mismatches.all.isEmpty
        else { throw .invalid(mismatches) }
        var asked = CompatibleRequest(bundleID: bundleID, productID: productID, offerID: offerID)
        asked.customer.binding = binding
        if binding == .none { asked.customer.anonymousID = try? AnonymousID(utf8: user) }
        asked.customer.signedData = SignedDataMembers(transactions: token.map { [$0] } ?? [])
        asked.client = ReportedClient(
            library: "RevenueCat",
            version: request.headers.only("X-Version"),
            os: [request.headers.only("X-Platform"), request.headers.only("X-Platform-Version")],
            storeKit: namesStoreKit2.map { $0 ? 2 : 1 }
        )
        return asked
    }

    private static func readBundleID(_ headers: HeaderFields) throws(Refusal) -> BundleID {
        guard let value = headers.only("X-Client-Bundle-ID") else {
            throw .request(.invalidParameters([ParameterFault("X-Client-Bundle-ID", "must be given once")]))
        }
        do { return try BundleID(utf8: value) } catch {
            throw .request(.invalidParameters([ParameterFault("X-Client-Bundle-ID", "is no bundle id: \(error)")]))
        }
    }

    /// Which StoreKit the SDK buys with; `nil` if it does not say.
    private static func readStoreKit(_ headers: HeaderFields) throws(Refusal) -> Bool? {
        guard headers.count(of: "X-StoreKit-Version") > 0 else { return nil }
        switch headers.only("X-StoreKit-Version").map({ String(decoding: $0, as: UTF8.self) }) {
        case "1": return false
        case "2": return true
        default: throw .request(.invalidParameters([ParameterFault("X-StoreKit-Version", "must be 1 or 2")]))
        }
    }

    /// Whether it is a compact JWS: three parts of base64url.
    private static func isSigned(_ token: [UInt8]) -> Bool {
        token.count { $0 == UInt8(ascii: ".") } == 2
            && token.allSatisfy { byte in
                switch byte {
                case UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "a")...UInt8(ascii: "z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"), UInt8(ascii: "."):
                    true
                default: false
                }
            }
    }

    /// What the SDK attaches: with StoreKit 2 a user id that is a UUID, and else nothing; with StoreKit 1 the user id.
    private static func readBinding(
        of user: ArraySlice<UInt8>,
        isStoreKit2: Bool,
        _ reader: inout ObjectReader
    ) -> PurchaseBinding? {
        if isStoreKit2 { return UniqueID(utf8: user).map(PurchaseBinding.appAccountToken) ?? PurchaseBinding.none }
        guard user.count <= mostUsernameBytes, let name = try? ApplicationUsername(utf8: user) else {
            reader.note(
                "app_user_id",
                "can't be signed: with StoreKit 1 it needs 1 to \(mostUsernameBytes) visible ASCII characters"
            )
            return nil
        }
        return .applicationUsername(name)
    }

    private static func readOffer(
        _ reader: inout ObjectReader,
        _ mismatches: Mismatches
    ) -> (ProductID, OfferID)? {
        let expected = "an array of one offer"
        guard let array = reader.required("generate_offers", expected, as: \.array) else { return nil }
        let offers = Array(array)
        guard offers.count == 1, let first = offers.first else {
            reader.note("generate_offers", "expected \(expected), found \(offers.count)")
            return nil
        }
        var offer = ObjectReader(first, into: mismatches)
        let productID = offer.required("product_id", text: ProductID.init(utf8:))
        let offerID = offer.required("offer_id", text: OfferID.init(utf8:))
        guard let productID, let offerID else { return nil }
        return (productID, offerID)
    }
}
