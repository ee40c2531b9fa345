// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import HTTP
package import OfferDomain

extension CallerDirectory {
    /// The caller that a request's `Authorization: Bearer ID.SECRET` proves, or without `Authorization` its certificate.
    package func authenticate(_ request: Request, at now: Timestamp) throws(Refusal) -> Caller {
        let certificate = try certificates.certificate(of: request)
        if let session { return try session.caller() }
        if let certificate, request.headers.count(of: "Authorization") == 0 {
            guard let caller = caller(presenting: certificate, at: now) else { throw .caller(.unauthenticated) }
            return caller
        }
        guard let credential = request.headers.bearerCredential,
            let key = APIKey(credential),
            let caller = caller(presenting: key, at: now)
        else { throw .caller(.unauthenticated) }
        return caller
    }

    /// The same for a caller that uses another vendor's SDK; the SDK's public key is accepted too.
    func authenticateSDK(_ request: Request, at now: Timestamp) throws(Refusal) -> Caller {
        if let credential = request.headers.bearerCredential, let key = SDKKey(credential),
            let caller = caller(presenting: key, at: now)
        {
            return caller
        }
        return try authenticateAsker(request, at: now)
    }

    /// The same for a caller that may ask for signatures or previews; every other role is refused.
    func authenticateAsker(_ request: Request, at now: Timestamp) throws(Refusal) -> Caller {
        let caller = try authenticate(request, at: now)
        guard caller.role.mayAskForSignatures else { throw .caller(.roleNotAllowed(caller.role)) }
        return caller
    }
}
