// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Cryptography

/// Why data that claims to be signed by the App Store is not taken; these are all the ways.
///
/// None of it repeats an id, a token or any other value of a customer's.
package enum SignedDataFault: Error, Hashable, Sendable {
    /// Its signature or its certificates are not as they must be.
    case notVerified(SignedDataError)
    /// The signed text is not strict JSON; the fault is at the byte `offset`.
    case notJSON(offset: Int)
    case notObject(pointer: String)
    case missing(pointer: String)
    case unfit(pointer: String, expected: Expectation)
    /// A notification about something that is neither a transaction, a summary, a token nor an app.
    case noContent
    case otherApp(pointer: String)
    case otherAppAppleID(pointer: String)
    /// Production data names the app by a number too, and the settings don't have it.
    case appAppleIDNotSet
    /// Xcode and LocalTesting data, which the App Store does not sign.
    case localTestData
    /// It is signed data of another kind than expected.
    case otherKind(found: SignedDataKind, expected: SignedDataKind)
    /// It is too large, and it claims to be of another kind; that claim is not verified.
    case claimsOtherKind(found: SignedDataKind, expected: SignedDataKind)
    /// It is no signed data of the App Store, and the service recognizes what it is.
    case notSignedData(UnsignedData, expected: SignedDataKind)
    case environmentNotTaken(pointer: String)
    /// The signing time is more than five minutes in the future.
    case signedInFuture
    case tooOld
    /// A renewal info names no app, so it counts only with a transaction of its chain.
    case renewalWithoutTransaction
    /// The member differs from the same member of every transaction of the chain.
    case renewalOfOtherTransaction(pointer: String)

    /// What a member should have been.
    package enum Expectation: String, Hashable, Sendable {
        case text = "a text of at most 255 bytes"
        case identifier = "an id of the form that Apple documents"
        case instant = "a time in milliseconds since 1970"
        case integer = "an integer"
        case boolean = "true or false"
        case texts = "an array of texts"
        case uuid = "a UUID"
        case signedData = "a compact JWS"
    }

    /// Whether the same data may be taken later: nothing is wrong with it, but too little is known just now.
    package var isTemporary: Bool { self == .notVerified(.revocationUnknown) }

    /// Whether the App Store signed it, so that what it says of itself is true.
    package var isOfGenuineData: Bool {
        switch self {
        case .notVerified, .localTestData, .notSignedData, .claimsOtherKind: false
        default: true
        }
    }

    /// Whether a renewal info does not belong to what it came with, and has no other fault.
    var isOfPairing: Bool {
        switch self {
        case .renewalWithoutTransaction, .renewalOfOtherTransaction: true
        default: false
        }
    }

    /// Where in the signed text the fault is, as a JSON pointer; `nil` if it is not at a member.
    var pointer: String? {
        switch self {
        case .notObject(let pointer), .missing(let pointer), .unfit(let pointer, _), .otherApp(let pointer),
            .otherAppAppleID(let pointer), .environmentNotTaken(let pointer), .renewalOfOtherTransaction(let pointer):
            pointer
        case .appAppleIDNotSet: "/appAppleId"
        default: nil
        }
    }

    /// The reason in a few lowercase words joined by hyphens, for metrics and problems.
    package var label: String {
        switch self {
        case .notVerified(let error): error.label
        case .notJSON: "payload-not-json"
        case .notObject: "payload-not-object"
        case .missing: "member-missing"
        case .unfit: "member-unfit"
        case .noContent: "no-content"
        case .otherApp: "other-app"
        case .otherAppAppleID: "other-app-apple-id"
        case .appAppleIDNotSet: "app-apple-id-not-set"
        case .localTestData: "local-test-data"
        case .otherKind, .claimsOtherKind: "other-kind"
        case .notSignedData(let data, _): data.label
        case .environmentNotTaken: "environment-not-taken"
        case .signedInFuture: "signed-in-future"
        case .tooOld: "too-old"
        case .renewalWithoutTransaction: "renewal-without-transaction"
        case .renewalOfOtherTransaction: "renewal-of-other-transaction"
        }
    }
}

extension SignedDataFault: CustomStringConvertible {
    /// A sentence for the sender of the data; it names the member, never its value.
    package var description: String {
        switch self {
        case .notVerified(let error): error.description
        case .notJSON(let offset): "The signed text is not strict JSON; the fault is at its byte \(offset)."
        case .notObject(let pointer): "\(Self.place(pointer)) is not a JSON object."
        case .missing(let pointer): "\(Self.place(pointer)) is missing."
        case .unfit(let pointer, let expected): "\(Self.place(pointer)) is not \(expected.rawValue)."
        case .noContent: "The notification has none of data, summary, externalPurchaseToken and appData."
        case .otherApp(let pointer): "\(Self.place(pointer)) is not the bundle id of this app."
        case .otherAppAppleID(let pointer): "\(Self.place(pointer)) is not the App Store's number of this app."
        case .appAppleIDNotSet:
            "Production data names the app by its number in the App Store; set the app's appAppleId to compare it."
        case .localTestData:
            "The data is of a local test in Xcode, which the App Store did not sign. Test with a sandbox account, without a "
                + "StoreKit configuration file."
        case .otherKind(let found, let expected), .claimsOtherKind(let found, let expected):
            "This is \(found.noun); \(expected.signedNoun) was expected.\(found.advice)"
        case .notSignedData(let data, let expected):
            "This is \(data.noun); \(expected.signedNoun) was expected. \(data.advice)"
        case .environmentNotTaken(let pointer):
            "\(Self.place(pointer)) is not an environment that this app's settings take."
        case .signedInFuture: "The data was signed more than five minutes in the future; a clock is wrong."
        case .tooOld: "The data was signed too long ago; the app should fetch it again."
        case .renewalWithoutTransaction:
            "The renewal info comes without a signed transaction that has its originalTransactionId."
        case .renewalOfOtherTransaction(let pointer):
            "\(Self.place(pointer)) of the renewal info differs from the transactions that have its originalTransactionId."
        }
    }

    private static func place(_ pointer: String) -> String { pointer.isEmpty ? "The signed text" : pointer }
}
