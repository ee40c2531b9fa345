// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import OfferDomain
import ServiceRuntime

/// What the App Store is to show: exactly one of these.
///
/// Source: Apple, [RealtimeResponseBody](https://developer.apple.com/documentation/retentionmessaging/realtimeresponsebody).
enum RetentionAnswer: Hashable, Sendable {
    /// An offer, by its compact JWS, which is bound to the customer's subscription.
    case promotionalOffer(UniqueID, jws: [UInt8])
    /// Another product of the group.
    case alternateProduct(UniqueID, ProductID, RetentionSwitch.BillingPlan?)
    /// Nothing but a message.
    case message(UniqueID)

    static let offerName = "promotionalOffer"

    /// What metrics call it: its name in the answer.
    var name: String {
        switch self {
        case .promotionalOffer: Self.offerName
        case .alternateProduct: "alternateProduct"
        case .message: "message"
        }
    }

    /// The body that is sent.
    var body: [UInt8] {
        var writer = JSONWriter(reserving: 1024)
        writer.beginObject()
        writer.name(text: name)
        writer.beginObject()
        switch self {
        case .promotionalOffer(let message, let jws):
            writer.member("messageIdentifier", id: message)
            writer.member("promotionalOfferSignatureV2", plain: jws.span)
        case .alternateProduct(let message, let productID, let billingPlan):
            writer.member("messageIdentifier", id: message)
            writer.member("productId", plain: productID.text)
            if let billingPlan { writer.member("billingPlanType", plain: billingPlan.rawValue) }
        case .message(let message): writer.member("messageIdentifier", id: message)
        }
        writer.endObject()
        writer.endObject()
        return writer.bytes
    }
}

/// What is kept of an answer to repeat the same bytes: all of it, or of an offer only a digest and the signature.
///
/// The JWS names the subscription, and the ledger knows only a pseudonym of it. Its other parts are built again.
struct KeptRetentionAnswer: Hashable, Sendable {
    let bytes: [UInt8]

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    init(_ answer: RetentionAnswer) {
        guard case .promotionalOffer(_, let jws) = answer, let (input, signature) = Self.parts(jws) else {
            bytes = answer.body
            return
        }
        bytes = Array(SHA256.digest(of: Array(input)).hex.utf8) + [UInt8(ascii: ".")] + signature
    }

    /// The whole body of an answer that is no offer; `nil` of an offer.
    var body: [UInt8]? { bytes.first == UInt8(ascii: "{") ? bytes : nil }

    /// The offer's JWS with the kept signature; unchanged if that belongs to another text, as after a change of the
    /// configuration.
    func restored(_ jws: [UInt8]) -> [UInt8] {
        guard body == nil, let (input, _) = Self.parts(jws), let (digest, signature) = Self.parts(bytes),
            digest.elementsEqual(SHA256.digest(of: Array(input)).hex.utf8)
        else { return jws }
        return Array(input) + [UInt8(ascii: ".")] + signature
    }

    /// The parts before and after the last dot.
    private static func parts(_ text: [UInt8]) -> (ArraySlice<UInt8>, ArraySlice<UInt8>)? {
        text.lastIndex(of: UInt8(ascii: ".")).map { (text[..<$0], text[($0 + 1)...]) }
    }
}
