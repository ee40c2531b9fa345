// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import OfferDomain

extension CallerDirectory {
    /// The caller that a request's `Authorization: Bearer ID.SECRET` proves.
    package func authenticate(_ headers: HeaderFields, at now: Timestamp) throws(Refusal) -> Caller {
        guard let value = headers.only("Authorization"),
            let credential = bearerCredential(value),
            let key = APIKey(credential),
            let caller = caller(presenting: key, at: now)
        else { throw .caller(.unauthenticated) }
        return caller
    }
}

/// What follows the scheme `Bearer`, in any letter case, and one space (RFC 6750 section 2.1).
private func bearerCredential(_ value: ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
    value.startsIgnoringCase(with: "bearer ") ? value.dropFirst(7) : nil
}
