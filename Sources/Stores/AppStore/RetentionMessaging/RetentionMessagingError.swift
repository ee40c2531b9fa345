// SPDX-License-Identifier: Apache-2.0
import Configuration
package import HTTP

/// Why the Retention Messaging API gave no answer.
package enum RetentionMessagingError: Error, Hashable, Sendable {
    /// 401: the key is not accepted.
    case refused
    /// 403, or 404 without an error code: the team has no access.
    case notGranted(status: Int)
    /// An error that Apple names by a number.
    case code(Int64, status: Int)
    case limited
    /// The store fails by itself.
    case failed(status: Int)
    /// Not what the API answers.
    case unreadable
    case notReached(ClientError)

    static let noDefaultMessage: Int64 = 4_040_020
    static let noRealtimeURL: Int64 = 4_040_021

    /// `nil` of an answer to the question itself.
    init?(status: Int, code: Int64?) {
        switch status {
        case 200..<300: return nil
        case 401: self = .refused
        case 429: self = .limited
        case 400..<500:
            if let code {
                self = .code(code, status: status)
            } else {
                self = status == 403 || status == 404 ? .notGranted(status: status) : .unreadable
            }
        case 500...: self = .failed(status: status)
        default: self = .unreadable
        }
    }

    /// Whether the same question may be answered later, with nothing changed.
    package var isTemporary: Bool {
        switch self {
        case .limited, .failed, .notReached: true
        case .refused, .notGranted, .code, .unreadable: false
        }
    }
}

extension RetentionMessagingError: CustomStringConvertible {
    /// A text for an operator, with what to do where that is known of Apple's code.
    package var description: String {
        switch self {
        case .refused:
            "the App Store refuses the key (401)"
        case .notGranted(let status):
            "Retention Messaging is not granted to this team (\(status) without an error code): ask for it on "
                + "https://developer.apple.com/contact/request/retention-messaging-api/ and try again once Apple has agreed"
        case .code(let code, let status):
            Self.advice[code] ?? "the App Store refuses the question (\(status), code \(code))"
        case .limited: "the App Store limits how often it is asked (429); try again later"
        case .failed(let status): "the App Store fails by itself (\(status)); try again later"
        case .unreadable: "this is no answer of the Retention Messaging API; look for a proxy in between"
        case .notReached(let error): "the App Store could not be reached: \(error)"
        }
    }

    /// Source: Apple, [Error codes](https://developer.apple.com/documentation/retentionmessaging/error-codes).
    private static let advice: [Int64: String] = [
        4_000_006:
            "this is no transaction ID (code 4000006); give the original transaction ID of a sandbox subscription",
        4_000_183:
            "this is an app transaction ID (code 4000183); give the original transaction ID of a sandbox subscription",
        4_000_185: "the subscription is shared by a family (code 4000185); give that of a customer who bought it",
        4_000_187:
            "this is not an original transaction ID (code 4000187); give originalTransactionId of the subscription",
        4_000_211: "the App Store finds the test invalid (code 4000211): the sandbox needs a real-time URL, and the "
            + "transaction must begin an active sandbox subscription of this app",
        4_000_212: "this is no request ID (code 4000212); give the one that was printed when the test started",
        4_000_213: "a test runs already (code 4000213); wait for it with --request ID, or start again in an hour",
        4_040_005: "the sandbox knows no such transaction of this app (code 4040005); look at the ID and --app",
        4_040_010: "the sandbox knows no such transaction of this app (code 4040010); look at the ID and --app",
        4_040_018:
            "the App Store knows no such test (code 4040018): look at the request ID and --app, or start a new test",
    ]
}
