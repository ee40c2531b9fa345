// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain

extension Admission {
    /// Who asks for signatures, or whether there would be one, and may do so now.
    ///
    /// - Returns: `nil` for a user's token whose provider has to be asked for its keys first; see ``user(_:_:at:)``.
    func asker(_ request: Request, _ snapshot: Snapshot, at now: Timestamp) throws(Refusal) -> Caller? {
        guard !snapshot.identity.isEmpty, let credential = request.headers.tokenCredential else {
            return try asker(request, snapshot.callers, at: now)
        }
        let presented = try tokens.presented(credential, in: request, snapshot.identity)
        // Before the signature is verified: who floods with forgeries waits for itself.
        try admit(origin(of: request, presented.provider))
        guard let caller = try tokens.caller(presented, at: now) else { return nil }
        return try admitted(caller, request)
    }

    /// The user whose token names keys that the provider has to be asked for.
    func user(_ request: Request, _ snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Caller {
        guard let credential = request.headers.tokenCredential else { throw .caller(.unauthenticated) }
        let presented = try tokens.presented(credential, in: request, snapshot.identity)
        return try admitted(try await tokens.callerAfterAsking(presented, at: now), request)
    }

    /// Where the request comes from, as that of a caller who has proved nothing yet.
    private func origin(of request: Request, _ provider: IdentityProvider) -> Device {
        Device(caller: CallerID(usersOf: provider.name), address: proxies.client(of: request).group)
    }

    private func admitted(_ caller: Caller, _ request: Request) throws(Refusal) -> Caller {
        var caller = caller
        caller.origin = proxies.client(of: request).group
        try admitUser(caller)
        return caller
    }
}
