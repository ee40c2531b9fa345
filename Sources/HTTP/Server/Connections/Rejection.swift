// SPDX-License-Identifier: Apache-2.0

/// Why the server itself answered, without asking the responder; these are all the ways.
///
/// After each of them the connection is closed: what follows on it can't be trusted to be a request.
package enum Rejection: Hashable, Sendable {
    /// Not HTTP/1.1 as RFC 9112 writes it.
    case malformed(Malformation)
    /// A body without a length: there is a `Transfer-Encoding`, and no transfer coding is understood.
    case lengthRequired
    /// The request line and fields, line ends included, have more bytes than this, or there are too many fields.
    case headTooLarge(limitBytes: Int)
    case tooManyFields(limit: Int)
    case bodyTooLarge(limitBytes: Int)
    /// An `Expect` other than `100-continue`.
    case expectationFailed
    /// A method that ``Method`` has no case for.
    case methodNotImplemented
    /// HTTP, but not 1.1.
    case versionNotSupported
    /// The head was not complete in time, counted from its first byte.
    case headTimeout
    /// The body was not complete in time, counted from the end of its head.
    case bodyTimeout
    /// The server serves as many connections as it may.
    case tooManyConnections
    /// The client's address has as many connections as it may.
    case tooManyConnectionsFromAddress
    /// The bodies that are under way take as much as they may.
    case tooManyBodyBytes

    /// The status that RFC 9110 and RFC 6585 have for it.
    package var status: Int {
        switch self {
        case .malformed: 400
        case .headTimeout, .bodyTimeout: 408
        case .lengthRequired: 411
        case .bodyTooLarge: 413
        case .expectationFailed: 417
        case .tooManyConnectionsFromAddress: 429
        case .headTooLarge, .tooManyFields: 431
        case .methodNotImplemented: 501
        case .tooManyConnections, .tooManyBodyBytes: 503
        case .versionNotSupported: 505
        }
    }

    /// Its name in metrics: lowercase words joined by hyphens, the same for all limits and malformations.
    package var kind: String {
        switch self {
        case .malformed: "malformed"
        case .lengthRequired: "length-required"
        case .headTooLarge: "head-too-large"
        case .tooManyFields: "too-many-fields"
        case .bodyTooLarge: "body-too-large"
        case .expectationFailed: "expectation-failed"
        case .methodNotImplemented: "method-not-implemented"
        case .versionNotSupported: "version-not-supported"
        case .headTimeout: "head-timeout"
        case .bodyTimeout: "body-timeout"
        case .tooManyConnections: "too-many-connections"
        case .tooManyConnectionsFromAddress: "too-many-connections-from-address"
        case .tooManyBodyBytes: "too-many-body-bytes"
        }
    }

    /// A sentence for the client that sent the request.
    package var explanation: String {
        switch self {
        case .malformed(let malformation): malformation.rawValue
        case .lengthRequired: "A body must come with a Content-Length; transfer codings are not accepted."
        case .headTooLarge(let limit): "The request line and header fields have more than \(limit) bytes."
        case .tooManyFields(let limit): "There are more than \(limit) header fields."
        case .bodyTooLarge(let limit): "The body has more than \(limit) bytes."
        case .expectationFailed: "The only expectation that can be met is 100-continue."
        case .methodNotImplemented: "Nothing here supports this method."
        case .versionNotSupported: "The server speaks only HTTP/1.1."
        case .headTimeout: "The request line and header fields did not arrive in time."
        case .bodyTimeout: "The body did not arrive in time."
        case .tooManyConnections: "There are too many connections; try again later."
        case .tooManyConnectionsFromAddress: "There are too many connections from your address."
        case .tooManyBodyBytes: "Too many large bodies are under way; try again later."
        }
    }
}

/// What is wrong with a request that is not HTTP/1.1; the raw value is a sentence for the client.
///
/// Two parsers could understand each of these differently, which is how requests are smuggled past a proxy.
/// Source: RFC 9112, sections 2.2, 3, 5 and 6.3.
package enum Malformation: String, CaseIterable, Hashable, Sendable {
    case lineEnd = "A line does not end in CR LF."
    case requestLine = "The request line is not a method, a target and a version with one space between each."
    case target = "The request target is not a path (RFC 9112, origin-form) in plain ASCII."
    case encodedNull = "The request target holds an encoded NUL."
    case foldedLine = "A header field is folded over lines."
    case fieldName = "A header field's name is not a token followed by a colon."
    case fieldValue = "A header field's value holds a control character."
    case host = "There is not exactly one valid Host."
    case contentLength = "Content-Length is repeated or not a plain decimal number."
    case framing = "There are both a Content-Length and a Transfer-Encoding."
    case unexpectedBody = "The method has no body."
}
