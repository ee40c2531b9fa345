// SPDX-License-Identifier: Apache-2.0
package import OfferDomain

/// The time in a `Date` field, in the one form that servers may send: `Sun, 06 Nov 1994 08:49:37 GMT`.
///
/// Source: RFC 9110, section 5.6.7.
package func httpDate(_ text: String) -> Timestamp? {
    let parts = text.split(separator: " ", omittingEmptySubsequences: false)
    guard parts.count == 6, parts[0].utf8.count == 4, parts[0].hasSuffix(","), parts[5] == "GMT",
        let month = months.firstIndex(of: String(parts[2]))
    else { return nil }
    let number = month < 9 ? "0\(month + 1)" : "\(month + 1)"
    return Timestamp(rfc3339: "\(parts[3])-\(number)-\(parts[1])T\(parts[4])Z")
}

private let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
