// SPDX-License-Identifier: Apache-2.0

/// A category of entries of the audit log, by which a stream selects them; the most severe first.
package enum AuditCategory: String, CaseIterable, Hashable, Sendable {
    case seals
    case alarms
    case refusals
    case administration
    case reads
    case keyUse
    case purchases

    /// The severity of syslog (RFC 5424, table 2).
    package var severity: Int {
        switch self {
        case .seals: 2
        case .alarms: 3
        case .refusals: 4
        case .administration, .reads: 5
        case .keyUse, .purchases: 6
        }
    }
}
