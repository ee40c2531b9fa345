// SPDX-License-Identifier: Apache-2.0

/// Where a PostgreSQL database is: a URI that libpq reads.
///
/// It may hold a password, so that nothing but a connection gets to see it whole.
///
/// Source: [Connection URIs](https://www.postgresql.org/docs/15/libpq-connect.html#LIBPQ-CONNSTRING).
package struct PostgreSQLAddress: Hashable, Sendable {
    let uri: String

    /// Reads `postgres://…` or `postgresql://…`; nil for anything else, for what holds spaces or control characters, and where
    /// `/`, `?` or a second `@` in name or password is not percent-encoded.
    ///
    /// libpq would take a part of such a password for a host or a port, and name it when that can't be reached.
    init?(_ text: String) {
        guard let scheme = Self.schemes.first(where: { text.utf8.starts(with: $0.utf8) }) else { return nil }
        guard text.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else { return nil }
        let parts = text.dropFirst(scheme.count).split(separator: "@", omittingEmptySubsequences: false)
        let endsBeforeAt = parts.count == 2 && parts[0].contains { $0 == "/" || $0 == "?" }
        guard parts.count <= 2, !endsBeforeAt else { return nil }
        uri = text
    }

    private static let schemes = ["postgres://", "postgresql://"]

    /// Whether several servers are named; one that accepts writes must then be found.
    var namesSeveralHosts: Bool { authority.utf8.contains(UInt8(ascii: ",")) }

    /// Whether there is a password before the hosts, or among the parameters.
    var hasPassword: Bool {
        let user = authority.split(separator: "@", omittingEmptySubsequences: false).dropLast().first ?? ""
        let parameters = uri.split(separator: "?", maxSplits: 1).dropFirst().first ?? ""
        return user.contains(":") || parameters.split(separator: "&").contains { Self.namesPassword($0) }
    }

    /// Whether a parameter is the server's password or a private key's, or may be: libpq decodes names, too.
    private static func namesPassword(_ parameter: Substring) -> Bool {
        let name = parameter.prefix { $0 != "=" }
        return ["password", "sslpassword"].contains(name) || name.contains("%")
    }

    /// The part between `//` and the path, or the parameters.
    private var authority: Substring {
        uri[uri.index(after: afterFirstSlash)...].prefix { $0 != "/" && $0 != "?" }
    }

    private var afterFirstSlash: String.Index { uri.firstIndex(of: "/").map { uri.index(after: $0) } ?? uri.startIndex }
}

extension PostgreSQLAddress: CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
    /// The address without password and parameters.
    package var description: String {
        let hosts = authority.split(separator: "@", omittingEmptySubsequences: false).last ?? ""
        let rest = uri[authority.endIndex...].prefix { $0 != "?" }
        return "postgres://\(hosts)\(rest)"
    }

    /// The same.
    package var debugDescription: String { description }

    /// Shows nothing of what is inside.
    package var customMirror: Mirror { Mirror(self, children: []) }
}
