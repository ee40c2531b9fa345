// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// One receiver of the log's entries themselves.
package struct LogStream: Hashable, Sendable {
    /// Names it in the database, in metrics and in commands.
    package let id: String
    /// Where its entries go.
    package let target: Target
    /// What it gets; all of them if it names all, and then events that this version does not know too.
    package let categories: Set<AuditCategory>

    /// Where entries go.
    package enum Target: Hashable, Sendable {
        case syslog(SyslogTarget)
        /// The path of a file with a line for each entry.
        case file(String)
    }

    /// The path, if it is a file.
    package var file: String? { if case .file(let path) = target { path } else { nil } }

    /// What people see of where it goes.
    package var shownPlace: String {
        switch target {
        case .syslog(let target): "\(target.connection.origin.host):\(target.connection.origin.port)"
        case .file(let path): path
        }
    }

    /// The same, with what the whole events file says of connections.
    func admitting(_ networks: [AddressNetwork], trusting certificates: String?) -> LogStream {
        guard case .syslog(var target) = target else { return self }
        target.connection.addresses = AddressFilter(listed: networks)
        if target.connection.trustedCertificatesFile == nil {
            target.connection.trustedCertificatesFile = certificates
        }
        return LogStream(id: id, target: .syslog(target), categories: categories)
    }

    /// Whether it gets an entry with these categories.
    package func wants(_ found: [AuditCategory]) -> Bool {
        categories.count == AuditCategory.allCases.count || found.contains(where: categories.contains)
    }
}

/// A receiver of syslog messages over TLS, and how they are written for it.
///
/// Source: RFC 5424; RFC 5425.
package struct SyslogTarget: Hashable, Sendable {
    /// Which server is connected to, and which certificate it must have.
    package var connection: StreamConfiguration
    /// 0 to 23; 13 is “log audit” (RFC 5424, table 1).
    package var facility = 13
    /// Names the structured data; 32473 is the number for examples (RFC 5612).
    package var enterpriseNumber = 32_473
    /// The most bytes of a message; every receiver takes 2,048, and most take 8,192 (RFC 5425, section 4.3.1).
    package var maximumBytes = 8192
    /// Whether a byte order mark precedes the entry, as RFC 5424 has it for UTF-8.
    package var hasByteOrderMark = true

    package init(connection: StreamConfiguration) {
        self.connection = connection
    }

    static let defaultPort: UInt16 = 6514
}
