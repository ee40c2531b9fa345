// SPDX-License-Identifier: Apache-2.0
import HTTP

/// The two cookies of the console.
///
/// The prefix `__Host-` has the browser take them only from this very host over a secure connection, and no page can read
/// them (`HttpOnly`). Source: RFC 6265bis sections 4.1.2 and 4.1.3.
enum SessionCookie: String {
    case session = "__Host-offer-signer-session"
    /// A sign-in that is under way. The provider's site sends the browser back, which `Strict` would not let it come with.
    case pending = "__Host-offer-signer-sign-in"

    /// The field that sets it for so long.
    func field(_ value: String, seconds: Int64) -> (name: String, value: String) {
        let site = self == .session ? "Strict" : "Lax"
        let attributes = "Path=/; Max-Age=\(seconds); Secure; HttpOnly; SameSite=\(site)"
        return ("Set-Cookie", "\(rawValue)=\(value); \(attributes)")
    }

    /// The field that removes it.
    var removal: (name: String, value: String) { field("", seconds: 0) }
}

extension HeaderFields {
    /// The value of the cookie with that name; `nil` if it is missing or repeated.
    func cookie(_ name: String) -> ArraySlice<UInt8>? {
        var found: ArraySlice<UInt8>?
        for field in values(of: "Cookie") {
            for pair in field.split(separator: UInt8(ascii: ";")) {
                let pair = pair.drop { $0 == UInt8(ascii: " ") }
                guard let equals = pair.firstIndex(of: UInt8(ascii: "=")), pair[..<equals].elementsEqual(name.utf8)
                else {
                    continue
                }
                guard found == nil else { return nil }
                found = pair[(equals + 1)...]
            }
        }
        return found
    }
}
