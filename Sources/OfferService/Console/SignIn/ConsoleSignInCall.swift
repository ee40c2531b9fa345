// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import Stores

/// Signing in to the console by an identity provider, and out: OpenID Connect, Authorization Code with PKCE.
///
/// Source: OpenID Connect Core 1.0 section 3.1, RFC 9700.
struct ConsoleSignInCall: Sendable {
    let sessions: ConsoleSessions
    private let exchange: CodeExchange
    private let metadata: ProviderMetadataCache
    private let verifier: IDTokenVerifier
    private let proxies: TrustedProxies
    private let rates: RateLimiter<PeerAddress.Address>
    private let traffic: MinuteCounter<UnauthenticatedTraffic>
    private let runtime: Runtime

    init(
        _ admission: Admission,
        sessions: ConsoleSessions,
        exchange: CodeExchange,
        traffic: MinuteCounter<UnauthenticatedTraffic>,
        _ runtime: Runtime
    ) {
        self.sessions = sessions
        self.exchange = exchange
        self.traffic = traffic
        self.runtime = runtime
        metadata = ProviderMetadataCache(exchange.transport, uptime: Uptime(runtime.clock))
        verifier = IDTokenVerifier(keys: admission.tokens.keys)
        proxies = admission.proxies
        rates = RateLimiter(runtime.clock.stopwatch())
    }

    /// A sign-in that the provider finishes.
    private struct SignIn {
        let pending: PendingSignIn
        let provider: IdentityProvider
        let settings: ConsoleSignIn
    }

    // MARK: - The calls

    /// `GET /console/providers`: the buttons of the console, and whether the browser has a session.
    static func providers(_ snapshot: Snapshot) -> Response {
        let providers: [JSONTree] = snapshot.identity.all.compactMap { provider in
            provider.console.map { ["name": .text(provider.name), "title": .text($0.title ?? provider.name)] }
        }
        return .json(["providers": .array(providers), "session": .text(snapshot.callers.session.state)])
    }

    /// `GET /console/sign-in`: sends the browser to the provider.
    func begin(_ request: Request, under snapshot: Snapshot, at now: Timestamp) async -> Response {
        var name = "unknown"
        do throws(SignInFault) {
            try admit(request)
            guard let named = CallbackParameters(request.query)["provider"],
                let (provider, settings) = snapshot.identity.console(named)
            else { throw .providerUnknown }
            name = provider.name
            let metadata = try await metadata.metadata(of: provider.keySource)
            let pending = PendingSignIn(at: provider, under: snapshot.pseudonyms, at: now, runtime.random)
            let location = metadata.authorizationRequest(pending, settings)
            let cookie = SessionCookie.pending.field(pending.cookie, seconds: PendingSignIn.lifetimeSeconds)
            return Self.redirect(to: location, [cookie])
        } catch {
            return failed(error, at: name, .begin)
        }
    }

    /// `GET /console/signed-in`: where the provider sends the browser back to.
    func finish(_ request: Request, under snapshot: Snapshot, at now: Timestamp) async -> Response {
        let cookie = request.headers.cookie(SessionCookie.pending.rawValue)
        let pending = cookie.flatMap { PendingSignIn($0, under: snapshot.pseudonyms) }
        let parameters = CallbackParameters(request.query)
        var name = "unknown"
        do throws(SignInFault) {
            try admit(request)
            guard let pending, let state = parameters["state"], pending.isStarted(by: state) else {
                throw .notStartedHere
            }
            guard now < pending.expiresAt else { throw .tooLate }
            guard let (provider, settings) = snapshot.identity.console(pending.provider) else { throw .providerUnknown }
            name = provider.name
            let signIn = SignIn(pending: pending, provider: provider, settings: settings)
            let person = try await person(signIn, parameters)
            let secret = try await begin(signIn, of: person, under: snapshot)
            runtime.metrics.count(.consoleSignIns(provider: name, result: "signed-in"))
            let lifetime = SessionCookie.session.field(secret, seconds: settings.sessionMinutes * 60)
            return Self.redirect(to: "./", [lifetime, SessionCookie.pending.removal])
        } catch {
            return failed(error, at: name, .finish)
        }
    }

    /// `POST /console/sign-out`: ends the session, and says where the person can sign out at the provider.
    func signOut(under snapshot: Snapshot, at now: Timestamp) async throws(Refusal) -> Response {
        guard let presented = snapshot.callers.session else { throw .caller(.sessionEnded) }
        let caller = try presented.caller()
        guard case .active(let session, let digest) = presented else { throw .caller(.sessionEnded) }
        try await sessions.end(digest, of: caller.id, at: now)
        runtime.log(.info, "a person signed out of the console", with: ["caller": .text(caller.id.text)])
        var url: String?
        if let (provider, settings) = snapshot.identity.console(session.provider),
            let found = try? await metadata.metadata(of: provider.keySource)
        {
            url = found.endSessionRequest(settings)
        }
        var response = Response.json(["endSessionUrl": url.map { .text($0) }])
        response.headers.append(SessionCookie.session.removal)
        return response
    }

    // MARK: - Steps

    /// Who signs in, as the provider says it; this waits for the provider.
    private func person(
        _ signIn: SignIn,
        _ parameters: CallbackParameters
    ) async throws(SignInFault) -> SignedInPerson {
        let (provider, settings) = (signIn.provider, signIn.settings)
        let metadata = try await metadata.metadata(of: provider.keySource)
        let issuer = parameters["iss"]
        guard issuer.map({ $0.utf8.elementsEqual(provider.policy.issuer.utf8) }) ?? !metadata.namesIssuer else {
            throw .otherIssuer
        }
        if let error = parameters["error"] {
            throw .refusedByProvider(
                error: CodeExchange.errorCode(error),
                description: parameters.shown("error_description")
            )
        }
        guard let code = parameters["code"] else { throw .noCode }
        let text = try await exchange.idToken(for: code, of: signIn.pending, from: metadata, by: settings)
        return try SignedInPerson(
            try await verifier.verified(text, of: provider),
            of: provider,
            by: settings,
            nonce: signIn.pending.nonce,
            at: runtime.clock.now()
        )
    }

    /// Begins the session of a person; returns once it is on record.
    private func begin(
        _ signIn: SignIn,
        of person: SignedInPerson,
        under snapshot: Snapshot
    ) async throws(SignInFault) -> String {
        let (provider, settings, now) = (signIn.provider, signIn.settings, runtime.clock.now())
        let session = ConsoleSession(
            caller: CallerID(consoleUserOf: provider, person.subject, under: snapshot.pseudonyms),
            role: person.role,
            provider: provider.name,
            settings: settings.digest(of: provider.policy.issuer),
            expiresAt: now.adding(minutes: Int(settings.sessionMinutes))
        )
        let secret = try await sessions.begin(session, of: signIn.pending.id, under: snapshot.pseudonyms, at: now)
        runtime.log(
            .info,
            "a person signed in to the console",
            with: ["caller": .text(session.caller.text), "role": .text(session.role.rawValue)]
        )
        return secret
    }

    /// Each sign-in costs the provider a request or two, and can be begun without a credential.
    private func admit(_ request: Request) throws(SignInFault) {
        guard let wait = rates.take(1, for: proxies.client(of: request).group, .signIns) else { return }
        throw .tooOften(retryAfterSeconds: (wait + 999_999_999) / 1_000_000_000)
    }

    private func failed(_ fault: SignInFault, at provider: String, _ route: SignInRoute) -> Response {
        runtime.metrics.count(.consoleSignIns(provider: provider, result: fault.label))
        traffic.count(UnauthenticatedTraffic(route: .signIn(route), problem: fault.label), at: runtime.clock.now())
        runtime.log.onceAMinute(
            .warning,
            "a person could not sign in to the console",
            of: "\(provider) \(fault.label)",
            with: ["provider": .text(provider), "reason": .text(fault.label), "detail": .text("it \(fault.detail)")]
        )
        var response = SignInPage.response(fault)
        switch fault {
        // Another site's page may have sent the browser here while it signs in.
        case .notStartedHere, .tooOften: break
        default: response.headers.append(SessionCookie.pending.removal)
        }
        return response
    }

    private static func redirect(to location: String, _ cookies: [(name: String, value: String)]) -> Response {
        let headers = [(name: "Location", value: location), (name: "Cache-Control", value: "no-store")] + cookies
        return Response(status: 303, headers: headers + ConsoleCall.protection)
    }
}

extension PresentedSession? {
    /// The state that the console gets, so that it can show why it asks again, and makes no call that would be refused.
    fileprivate var state: String {
        switch self {
        case .active?: "active"
        case .refused(.caller(.sessionEnded))?: "ended"
        case .refused?, nil: "none"
        }
    }
}
