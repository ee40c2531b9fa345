// SPDX-License-Identifier: Apache-2.0

/// A request that a ``Transport`` sends.
package struct ClientRequest: Sendable {
    /// One of those known; requests with another are refused.
    package let method: Method
    /// Where the request is sent.
    package let origin: Origin
    /// Path and query as they are sent: ASCII, percent-encoded, starting with one `/`.
    package let target: String
    /// What is sent beside what libcurl adds.
    package let headers: HeaderFields
    /// Sent with its length unless it is empty and the method is neither POST nor PUT.
    package var body: [UInt8] = []
    /// From the call to the end of the answer, waiting for a connection included; `nil` takes the client's own.
    package var timeoutMilliseconds: Int?
    /// Of the answer's body, after decompression; `nil` takes the client's own.
    package var maximumResponseBytes: Int?

    /// Builds the target out of parts, each percent-encoded but for RFC 3986's unreserved characters.
    ///
    /// - Throws: ``ClientError/requestInvalid(_:)`` for an empty segment, for `.` and `..`, which no encoding protects from
    ///   being taken for steps in the path, and for fields that would break the head apart.
    package init(
        _ method: Method,
        _ origin: Origin,
        path: [String] = [],
        query: [(name: String, value: String)] = [],
        headers: HeaderFields = HeaderFields()
    ) throws(ClientError) {
        guard !path.contains(where: { $0.isEmpty || $0 == "." || $0 == ".." }) else {
            throw .requestInvalid("a segment of the path is empty or made of dots")
        }
        var target = path.isEmpty ? "/" : ""
        for segment in path { target += "/" + Self.percentEncoded(segment) }
        for (index, (name, value)) in query.enumerated() {
            target += "\(index == 0 ? "?" : "&")\(Self.percentEncoded(name))=\(Self.percentEncoded(value))"
        }
        try self.init(method, origin, target: target, headers: headers)
    }

    /// Takes a URL from an outside source, such as an OCSP responder's URL in a certificate.
    ///
    /// - Throws: ``ClientError/requestInvalid(_:)`` with what ``OriginError`` says, also for a fragment and user names.
    package init(
        _ method: Method,
        url: String,
        headers: HeaderFields = HeaderFields(),
        body: [UInt8] = []
    ) throws(ClientError) {
        let origin: Origin
        let target: String
        do {
            let (found, rest) = try Origin.split(url)
            guard rest.allSatisfy(ASCII.isTarget), Self.hasWholeEscapes(rest) else { throw OriginError.pathInvalid }
            origin = found
            target = rest.first == ASCII.slash ? String(Substring(rest)) : "/" + String(Substring(rest))
        } catch {
            throw .requestInvalid("URL: \(error)")
        }
        try self.init(method, origin, target: target, headers: headers)
        self.body = body
    }

    private init(_ method: Method, _ origin: Origin, target: String, headers: HeaderFields) throws(ClientError) {
        if case .other = method { throw .requestInvalid("the method is not one of those known") }
        guard headers.areSendable else { throw .requestInvalid("a header field would break the head apart") }
        self.method = method
        self.origin = origin
        self.target = target
        self.headers = headers
    }

    var url: String { origin.description + target }

    private static func percentEncoded(_ text: String) -> String {
        let digits = Array("0123456789ABCDEF".utf8)
        var encoded: [UInt8] = []
        for byte in text.utf8 {
            if isUnreserved(byte) {
                encoded.append(byte)
            } else {
                encoded += [ASCII.percent, digits[Int(byte >> 4)], digits[Int(byte & 15)]]
            }
        }
        return String(decoding: encoded, as: UTF8.self)
    }

    /// RFC 3986, section 2.3.
    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"): true
        default: ASCII.isLetter(byte) || ASCII.isDigit(byte)
        }
    }

    /// Whether two hexadecimal digits follow each `%`.
    private static func hasWholeEscapes(_ target: Substring.UTF8View) -> Bool {
        let parts = target.split(separator: ASCII.percent, omittingEmptySubsequences: false).dropFirst()
        return parts.allSatisfy { $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(ASCII.isHexDigit) }
    }
}

/// What a request was answered with; the answer is whole.
package struct ClientResponse: Sendable {
    /// The version that the answer came in.
    package enum Version: String, Hashable, Sendable {
        case http10 = "HTTP/1.0"
        case http11 = "HTTP/1.1"
        case http2 = "HTTP/2"
    }

    /// 200...999; every status is a valid response, and no redirect is followed.
    package var status: Int
    /// All fields of the final head, without those of interim answers.
    package var headers: HeaderFields
    /// Decoded if it came compressed.
    package var body: [UInt8]
    /// The version that the answer came in.
    package var version: Version

    /// An answer for tests and for transports without a network.
    package init(status: Int, headers: HeaderFields = HeaderFields(), body: [UInt8] = [], version: Version = .http11) {
        self.status = status
        self.headers = headers
        self.body = body
        self.version = version
    }
}
