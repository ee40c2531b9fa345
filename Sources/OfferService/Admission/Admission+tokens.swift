// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain
import Stores

extension Admission {
    /// Authenticates a caller by API key, or a user by token, for calls about offers.
    ///
    /// Waits, for a limited time, only if the provider's keys have to be read to verify the token.
    func asker(_ request: Request, _ snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Caller {
        guard !snapshot.identity.isEmpty, let credential = request.headers.tokenCredential else {
            return try asker(request, snapshot.callers, at: now)
        }
        let certificate = try snapshot.callers.certificates.certificate(of: request)
        let presented = try tokens.presented(credential, in: request, snapshot.identity, from: certificate)
        // Before the signature is verified, so that a flood of forgeries uses up its own address's rate.
        try admit(origin(of: request, presented.provider))
        if let caller = try tokens.caller(presented, at: now) { return try admittedUser(caller, request) }
        return try admittedUser(try await tokens.callerAfterAsking(presented, at: now), request)
    }

    /// The network address to which the request is counted before its token is verified.
    private func origin(of request: Request, _ provider: IdentityProvider) -> Device {
        Device(caller: CallerID(usersOf: provider.name), address: proxies.client(of: request).group)
    }

    private func admittedUser(_ caller: Caller, _ request: Request) throws(Refusal) -> Caller {
        var caller = caller
        caller.origin = proxies.client(of: request).group
        try admitUser(caller)
        return caller
    }
}
