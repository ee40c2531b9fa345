// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

/// Inspects a text that claims to be signed data, without trusting it, to say what it is.
struct SignedDataText {
    let bytes: [UInt8]

    /// Takes a text; a JWS that is in Base64 once more is decoded, since it can be nothing else.
    init(_ text: [UInt8]) {
        // The beginning of every header, `{"`, in Base64 twice.
        guard text.starts(with: "ZXlK".utf8), !text.contains(UInt8(ascii: ".")),
            let inner = Self.decoded(text), inner.contains(UInt8(ascii: "."))
        else {
            bytes = text
            return
        }
        bytes = inner
    }

    /// Base64 of either alphabet, with padding or without.
    private static func decoded(_ text: [UInt8]) -> [UInt8]? {
        let digits = text.filter { $0 != UInt8(ascii: "=") }.map { byte -> UInt8 in
            switch byte {
            case UInt8(ascii: "+"): UInt8(ascii: "-")
            case UInt8(ascii: "/"): UInt8(ascii: "_")
            default: byte
            }
        }
        return Base64.decodeURL(digits)
    }

    /// A fault that explains the refusal better than `error` does; `nil` if there is no better explanation.
    func fault(_ error: SignedDataError, expected: SignedDataKind) -> SignedDataFault? {
        switch error {
        case .notThreeSegments: unsignedData.map { .notSignedData($0, expected: expected) }
        case .notBase64URL: isSurrounded ? .notSignedData(.surrounded, expected: expected) : nil
        case .tooLarge: otherClaimedKind(than: expected).map { .claimsOtherKind(found: $0, expected: expected) }
        case .notThreeCertificates, .certificatesMissing, .certificate, .chain(.untrustedRoot):
            isLocalTest ? .localTestData : isOwn(error) ? .notSignedData(.ownJWS, expected: expected) : nil
        default: nil
        }
    }

    /// The members of a JWS's payload, not verified.
    var payload: JSONObject? {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let payload = Base64.decodeURL(Array(parts[1])) else { return nil }
        return (try? JSONDocument(payload, limits: Self.limits))?.root.object
    }

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumStringBytes: 65_536)

    private var unsignedData: UnsignedData? {
        let text = bytes.drop { [0x20, 0x09, 0x0A, 0x0D].contains($0) }
        if text.first == UInt8(ascii: "{") { return Self.json(Array(text)) }
        guard !bytes.contains(UInt8(ascii: ".")) else { return nil }
        if (try? TransactionID(utf8: bytes)) != nil { return .transactionID }
        // A receipt is PKCS #7 in DER, or of old a property list, in Base64.
        if bytes.count >= 64, ["MII", "ewo"].contains(where: { bytes.starts(with: $0.utf8) }) { return .receipt }
        // The middle part of a JWS alone, which begins with `{"`.
        return bytes.starts(with: "eyJ".utf8) ? Self.decoded(bytes).flatMap(Self.json) : nil
    }

    private static func json(_ text: [UInt8]) -> UnsignedData? {
        (try? JSONDocument(text, limits: limits))?.root.object.map { .json(SignedDataKind($0)) }
    }

    /// Whether there is what base64url has not before the first or after the last part, as a line end or quotes.
    private var isSurrounded: Bool {
        let parts = bytes.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 3, let first = parts[0].first, let last = parts[2].last else { return false }
        let wrappers = Array(" \t\r\n\"'<>".utf8)
        return wrappers.contains(first) || wrappers.contains(last) || bytes.starts(with: "Bearer ".utf8)
    }

    /// The kind that data too large to be verified here claims to be: a notification holds two others.
    private func otherClaimedKind(than expected: SignedDataKind) -> SignedDataKind? {
        payload.flatMap(SignedDataKind.init).flatMap { $0 == expected ? nil : $0 }
    }

    private var isLocalTest: Bool {
        guard let payload else { return false }
        return ["environment", "receiptType"].contains { name in
            payload[name].map { $0.string(equals: "Xcode") || $0.string(equals: "LocalTesting") } ?? false
        }
    }

    private func isOwn(_ error: SignedDataError) -> Bool {
        error == .certificatesMissing && payload?["aud"] != nil
    }
}

/// What a notification says about itself, for the log; read it only if the App Store signed the notification.
struct NotificationGlimpse {
    private(set) var type = "unknown"
    private(set) var app = "unknown"
    private(set) var environment = "unknown"

    init(_ signedPayload: [UInt8]) {
        guard let payload = SignedDataText(signedPayload).payload else { return }
        type = payload["notificationType"]?.string ?? type
        let names = ["data", "summary", "externalPurchaseToken", "appData"]
        let claims = names.lazy.compactMap { payload[$0]?.object }.first
        // A transaction in the place of a notification names its app itself.
        let named = claims ?? payload
        app = named["bundleId"]?.string ?? app
        environment = named["environment"]?.string ?? environment
    }
}
