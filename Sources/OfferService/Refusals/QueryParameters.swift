// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain

/// What is wrong with one parameter of a query.
package struct ParameterFault: Hashable, Sendable {
    /// The parameter's name in the query.
    package let name: String
    /// Continues a sentence that begins with the name.
    package let message: String

    package init(_ name: String, _ message: String) {
        self.name = name
        self.message = message
    }
}

/// Reads the parameters of a request's query into typed values, and notes what does not fit.
///
/// Each may be given once, as `name=value`; values are percent-encoded UTF-8 (RFC 3986 section 2.1), at most 512 bytes
/// without control characters. `+` is a plus. Take each parameter by its name, then call ``finish()``.
package struct QueryParameters {
    private static let maximumBytes = 512

    private var values: [(name: String, value: String)] = []
    private var asked: [String] = []
    private var faults: [ParameterFault] = []

    /// Parses a query; ``finish()`` reports its faults.
    package init(_ query: [UInt8]?) {
        guard let query, !query.isEmpty else { return }
        for pair in query.split(separator: UInt8(ascii: "&"), omittingEmptySubsequences: false) {
            let parts = pair.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts.first.flatMap(Self.decoded)
            guard parts.count == 2, let name, !name.isEmpty else {
                note("The query", "has \(printable(String(decoding: pair, as: UTF8.self))), which is not name=value")
                continue
            }
            guard let value = Self.decoded(parts[1]) else {
                note(shown(name), "is not percent-encoded UTF-8 of at most \(Self.maximumBytes) bytes")
                continue
            }
            values.append((name, value))
        }
    }

    /// The value of a parameter; nil if it is not given.
    package mutating func value(_ name: String) -> String? {
        asked.append(name)
        let found = values.filter { $0.name == name }
        guard let first = found.first else { return nil }
        if found.count > 1 { note(name, "is given \(found.count) times") }
        if first.value.isEmpty { note(name, "is empty") }
        return first.value
    }

    /// The value of a parameter as read by `parse`, which returns `nil` for an invalid value.
    package mutating func value<Value>(
        _ name: String,
        expecting expected: @autoclosure () -> String,
        _ parse: (String) -> Value?
    ) -> Value? {
        guard let text = value(name) else { return nil }
        if let parsed = parse(text) { return parsed }
        if !text.isEmpty { note(name, "must be \(expected()), and is \(printable(text))") }
        return nil
    }

    /// The value of a parameter; nil if it is not given or empty, which forms don't tell apart.
    mutating func optional(_ name: String) -> String? {
        asked.append(name)
        let found = values.filter { $0.name == name }
        if found.count > 1 { note(name, "is given \(found.count) times") }
        return found.first.flatMap { $0.value.isEmpty ? nil : $0.value }
    }

    /// The instant that a parameter means, as `TimeExpression` reads it.
    mutating func time(_ name: String, at now: Timestamp) -> TimeExpression? {
        value(name, expecting: TimeExpression.expectation) { TimeExpression($0, at: now) }
    }

    /// Notes something about a parameter.
    package mutating func note(_ name: String, _ message: String) {
        faults.append(ParameterFault(name, message))
    }

    /// Refuses the query if anything is wrong with it, be it a parameter that was not asked for.
    package mutating func finish() throws(Refusal) {
        var unknown: Set<String> = []
        for (name, _) in values where !asked.contains(name) && unknown.insert(name).inserted {
            let suggestion = nearest(to: name, among: asked).map { "; did you mean “\($0)”?" } ?? ""
            let known = asked.isEmpty ? "there is none here" : "known: " + asked.sorted().joined(separator: ", ")
            note(shown(name), "is not a known parameter\(suggestion) (\(known))")
        }
        try throwFaults()
    }

    /// Refuses the query if what was asked for is not as expected.
    func throwFaults() throws(Refusal) {
        guard faults.isEmpty else { throw .request(.invalidParameters(faults)) }
    }

    private static func decoded(_ text: ArraySlice<UInt8>) -> String? {
        guard text.count <= 3 * maximumBytes, let bytes = PercentEncoding.decoded(text), bytes.count <= maximumBytes,
            !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F })
        else { return nil }
        return String(validating: bytes, as: UTF8.self)
    }
}

/// A name as it may be repeated in an answer.
private func shown(_ name: String) -> String {
    let isPlain = name.utf8.count <= 64 && name.utf8.allSatisfy { (0x21...0x7E).contains($0) }
    return isPlain ? name : printable(name)
}
