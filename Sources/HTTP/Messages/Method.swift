// SPDX-License-Identifier: Apache-2.0

/// What a request asks to be done with its target.
///
/// Case matters: `get` is `.other("get")`. The server answers 501 to every `.other` by itself, so a ``Responder`` that
/// is reached over a socket never sees one. Source: RFC 9110, section 9.
package enum Method: Hashable, Sendable {
    case get, head, post, put, delete, options, patch
    case other(String)

    /// Reads a method's name, compared byte by byte.
    package init(_ name: String) {
        self = Self.known.first { $0.name == name } ?? .other(name)
    }

    /// The name as written in a request line.
    package var name: String {
        switch self {
        case .get: "GET"
        case .head: "HEAD"
        case .post: "POST"
        case .put: "PUT"
        case .delete: "DELETE"
        case .options: "OPTIONS"
        case .patch: "PATCH"
        case .other(let name): name
        }
    }

    /// All that have a case of their own, which are all that the server lets through.
    package static let known: [Method] = [.get, .head, .post, .put, .delete, .options, .patch]
}
