// SPDX-License-Identifier: Apache-2.0
import Configuration
import JSON
import OfferDomain

/// A token that lets its bearer ask Google Play in an account's name; no description shows it.
struct GoogleAccessToken: Hashable, Sendable, CustomStringConvertible, CustomReflectable {
    /// Visible ASCII, as RFC 6750 section 2.1 has it, so that it can stand in a header field.
    let text: String
    let account: GoogleAccountName

    var description: String { "a token of \(account.email)" }

    var customMirror: Mirror { Mirror(self, children: []) }
}

/// What the token server answered.
struct GrantedToken: Hashable, Sendable {
    let text: String
    let lifeMilliseconds: Int64

    /// Reads `access_token`, `expires_in` (a number, or a number as a string) and `token_type`; `nil` if they are unfit.
    init?(_ object: JSONObject) {
        guard let text = object["access_token"]?.string, (1...8192).contains(text.utf8.count),
            text.utf8.allSatisfy(Self.isTokenByte),
            let type = object["token_type"]?.string, type.lowercased() == "bearer",
            let seconds = object["expires_in"].flatMap({ $0.integer ?? $0.string.flatMap(Self.seconds) }),
            (1...86_400).contains(seconds)
        else { return nil }
        self.text = text
        lifeMilliseconds = seconds * 1000
    }

    private static func seconds(_ text: String) -> Int64? {
        (1...6).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }

    /// RFC 6750, section 2.1: `b64token`.
    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        default: "-._~+/=".utf8.contains(byte)
        }
    }
}
