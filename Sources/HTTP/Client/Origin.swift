// SPDX-License-Identifier: Apache-2.0

/// Where requests are sent: scheme, host and port.
///
/// It holds no other part of a URL, so two origins are the same if and only if they are equal.
/// Source: RFC 6454, section 4.
package struct Origin: Hashable, Sendable, CustomStringConvertible {
    /// Whether a connection is encrypted.
    package enum Scheme: String, Hashable, Sendable {
        case https, http

        fileprivate var defaultPort: UInt16 { self == .https ? 443 : 80 }
    }

    /// Whether TLS is used.
    package let scheme: Scheme
    /// A name in lowercase letters, digits, hyphens and dots, an IPv4 address, or an IPv6 address in brackets.
    package let host: String
    /// The scheme's own, 443 or 80, where the text names none.
    package let port: UInt16

    /// Reads `https://host` or `https://host:port`, with nothing after it.
    package init(parsing text: String) throws(OriginError) {
        let (origin, rest) = try Origin.split(text)
        guard rest.isEmpty else { throw .somethingAfterPort }
        self = origin
    }

    /// `https` on a host that is written in the source, on the port of the scheme.
    package init(https host: StaticString) {
        do {
            self = try Origin(parsing: "https://\(host)")
        } catch {
            preconditionFailure("\(host) is no host: \(error)")
        }
    }

    private init(scheme: Scheme, host: String, port: UInt16) {
        self.scheme = scheme
        self.host = host
        self.port = port
    }

    /// The origin as written in a URL, without the port if it is the scheme's default.
    package var description: String {
        port == scheme.defaultPort ? "\(scheme.rawValue)://\(host)" : "\(scheme.rawValue)://\(host):\(port)"
    }

    /// Reads the origin that a URL begins with, and gives back what follows it.
    static func split(_ url: String) throws(OriginError) -> (origin: Origin, rest: Substring.UTF8View) {
        let (scheme, rest) = try scheme(of: url)
        let authority = rest.prefix { $0 != ASCII.slash && $0 != ASCII.questionMark && $0 != UInt8(ascii: "#") }
        let hostEnd = try end(ofHostIn: authority)
        let host = String(decoding: authority[..<hostEnd].map(ASCII.lowercase), as: UTF8.self)
        let port = try readPort(authority[hostEnd...]) ?? scheme.defaultPort
        return (Origin(scheme: scheme, host: host, port: port), rest[authority.endIndex...])
    }

    private static func scheme(of url: String) throws(OriginError) -> (Scheme, Substring.UTF8View) {
        for scheme in [Scheme.https, .http] {
            let prefix = "\(scheme.rawValue)://"
            if url.utf8.starts(with: prefix.utf8) { return (scheme, Substring(url).utf8.dropFirst(prefix.utf8.count)) }
        }
        throw .schemeNotHTTP
    }

    private static func end(ofHostIn authority: Substring.UTF8View) throws(OriginError) -> Substring.UTF8View.Index {
        if authority.first == UInt8(ascii: "[") {
            guard let close = authority.firstIndex(of: UInt8(ascii: "]")),
                authority.distance(from: authority.startIndex, to: close) > 2,
                authority[..<close].dropFirst().allSatisfy({
                    ASCII.isHexDigit($0) || $0 == ASCII.colon || $0 == UInt8(ascii: ".")
                })
            else { throw .hostInvalid }
            return authority.index(after: close)
        }
        let end = authority.firstIndex(of: ASCII.colon) ?? authority.endIndex
        let host = authority[..<end]
        let labels = host.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard host.count <= 253, labels.allSatisfy(isLabel) else { throw .hostInvalid }
        return end
    }

    /// A label of a host's name (RFC 1123, section 2.1).
    private static func isLabel(_ label: Substring.UTF8View) -> Bool {
        let hyphen = UInt8(ascii: "-")
        return (1...63).contains(label.count) && label.first != hyphen && label.last != hyphen
            && label.allSatisfy { ASCII.isLetter($0) || ASCII.isDigit($0) || $0 == hyphen }
    }

    private static func readPort(_ text: Substring.UTF8View) throws(OriginError) -> UInt16? {
        guard !text.isEmpty else { return nil }
        let digits = text.dropFirst()
        guard text.first == ASCII.colon, (1...5).contains(digits.count), digits.allSatisfy(ASCII.isDigit),
            let port = UInt16(Substring(digits)), port > 0
        else { throw .portInvalid }
        return port
    }
}

/// Why a text is not an ``Origin`` or not the URL of one.
package enum OriginError: Error, Hashable, Sendable, CustomStringConvertible {
    case schemeNotHTTP
    case hostInvalid
    case portInvalid
    case somethingAfterPort
    case pathInvalid

    /// What the text must be like, in one sentence.
    package var description: String {
        switch self {
        case .schemeNotHTTP: "It must begin with https:// (or http:// where that is allowed)."
        case .hostInvalid: "The host must be a name, an IPv4 address, or an IPv6 address in brackets."
        case .portInvalid: "The port must be a number from 1 to 65535."
        case .somethingAfterPort: "Nothing may follow the host and the port."
        case .pathInvalid: "The path and the query must be ASCII as RFC 3986 allows it, without a fragment."
        }
    }
}
