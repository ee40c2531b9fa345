// SPDX-License-Identifier: Apache-2.0
import HTTP

extension ClientResponse {
    /// The number of seconds that an answer may be used: `max-age` minus `Age`; 0 if it may not be stored, `nil` if
    /// nothing is stated.
    ///
    /// Source: RFC 9111 sections 4.2 and 5.2.2.
    package var maximumAgeSeconds: Int64? {
        let directives = (headers.only("cache-control") ?? []).split(separator: UInt8(ascii: ",")).map { part in
            String(decoding: part, as: UTF8.self).filter { $0 != " " && $0 != "\t" }.lowercased()
        }
        guard !directives.contains("no-store"), !directives.contains("no-cache") else { return 0 }
        let ages = directives.compactMap { $0.hasPrefix("max-age=") ? Self.number($0.dropFirst(8)) : nil }
        guard let maximum = ages.min() else { return nil }
        let age = headers.only("age").flatMap { Self.number(String(decoding: $0, as: UTF8.self)[...]) } ?? 0
        return max(maximum - age, 0)
    }

    private static func number(_ text: Substring) -> Int64? {
        (1...10).contains(text.utf8.count) && text.utf8.allSatisfy { (0x30...0x39).contains($0) } ? Int64(text) : nil
    }
}
