// SPDX-License-Identifier: Apache-2.0
import JSON

/// What an error of Google's APIs says of itself.
///
/// Source: Google, [Errors](https://developers.google.com/android-publisher/errors).
struct GoogleErrorBody: Hashable, Sendable {
    /// `errors[0].reason`, such as `purchaseTokenNotFound`; otherwise `status`, such as `NOT_FOUND`; otherwise empty.
    let reason: String
    /// The message for people; empty if there is no message.
    let message: String

    /// Reads the body of an error; `nil` if it is something else, as a proxy's page.
    init?(_ response: [UInt8], status: Int) {
        guard let document = try? JSONDocument(response, limits: Self.limits),
            let error = document.root.object?["error"]?.object, error["code"]?.integer == Int64(status)
        else { return nil }
        let first = error["errors"]?.array?.first { _ in true }
        message = error["message"]?.string ?? ""
        reason = Self.word(first?.object?["reason"]) ?? Self.word(error["status"]) ?? ""
    }

    /// Letters, digits and `_` only, so that logs and metrics can contain it.
    private static func word(_ value: JSONValue?) -> String? {
        guard let text = value?.string, (1...64).contains(text.utf8.count) else { return nil }
        let isWord = text.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "_"):
                true
            default: false
            }
        }
        return isWord ? text : nil
    }

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumDepth: 16, maximumNodes: 2048)
}
