// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import OfferDomain

extension CallerDirectory {
    /// The caller that a request's `Authorization: Bearer ID.SECRET` proves.
    package func authenticate(_ headers: HeaderFields, at now: Timestamp) throws(Refusal) -> Caller {
        guard let credential = headers.bearerCredential,
            let key = APIKey(credential),
            let caller = caller(presenting: key, at: now)
        else { throw .caller(.unauthenticated) }
        return caller
    }

    /// The same of who calls by an SDK of another vendor, whose public key counts too.
    func authenticateSDK(_ headers: HeaderFields, at now: Timestamp) throws(Refusal) -> Caller {
        if let credential = headers.bearerCredential, let key = SDKKey(credential),
            let caller = caller(presenting: key, at: now)
        {
            return caller
        }
        return try authenticateAsker(headers, at: now)
    }

    /// The same of who asks for signatures, or whether there would be one: others are refused whatever they sent.
    func authenticateAsker(_ headers: HeaderFields, at now: Timestamp) throws(Refusal) -> Caller {
        let caller = try authenticate(headers, at: now)
        guard caller.role.mayAskForSignatures else { throw .caller(.roleNotAllowed(caller.role)) }
        return caller
    }
}

extension HeaderFields {
    /// What follows the scheme `Bearer`, in any letter case, and one space (RFC 6750 section 2.1), in the only field
    /// `Authorization`.
    var bearerCredential: ArraySlice<UInt8>? {
        guard let value = only("Authorization"), value.startsIgnoringCase(with: "bearer ") else { return nil }
        return value.dropFirst(7)
    }
}
