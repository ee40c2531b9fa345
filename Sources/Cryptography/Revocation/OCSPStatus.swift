// SPDX-License-Identifier: Apache-2.0

/// What a responder says of a certificate; times are in seconds since 1970 UTC.
package enum OCSPStatus: Hashable, Sendable {
    /// Not revoked, as far as the responder knows; usable until `validUntil`.
    case good(validUntil: Int64)
    case revoked(at: Int64)
    /// The responder does not know the certificate.
    case unknown(validUntil: Int64)
}

/// How long an answer may be used.
package struct OCSPFreshness: Hashable, Sendable {
    /// By how much the responder's clock and ours may differ.
    package var skewSeconds: Int64 = 300
    /// The age at which an answer that names no end is too old.
    package var maximumAgeWithoutEndSeconds: Int64 = 3_600
    /// The age at which any answer is too old, whatever end it names.
    package var maximumAgeSeconds: Int64 = 604_800

    /// Five minutes, an hour and a week.
    package init() {}

    /// The instant at which an answer ceases to be of use.
    ///
    /// - Throws: If it is of none at the given instant.
    func end(thisUpdate: Int64, nextUpdate: Int64?, at unixSeconds: Int64) throws(OCSPError) -> Int64 {
        guard thisUpdate <= unixSeconds + skewSeconds else { throw .notYetValid }
        guard nextUpdate.map({ $0 >= thisUpdate }) ?? true else { throw .malformedTimes }
        let named = nextUpdate ?? (thisUpdate + maximumAgeWithoutEndSeconds)
        let end = min(named, thisUpdate + maximumAgeSeconds) + skewSeconds
        guard unixSeconds < end else { throw .stale }
        return end
    }
}
