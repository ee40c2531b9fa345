// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// Keeps a token of one scope for each service account, and renews it before it ends.
///
/// A token is used until four minutes before its end. Its assertion is dated half a minute back, in case our clock is
/// ahead of Google's. Each account has at most one token request at a time. The service remembers Google's refusal for
/// half a minute, so that repeated requests neither use the key nor ask Google each time.
final class GoogleAccessTokens: Sendable {
    private struct Kept {
        let token: GoogleAccessToken
        let madeAt: Timestamp
        let usableUntil: Timestamp
    }

    private struct State {
        var kept: [GoogleAccountName: Kept] = [:]
        /// When an account was refused.
        var refused: [GoogleAccountName: Timestamp] = [:]
    }

    private let signer: any GoogleAssertionSigner
    private let scope: GoogleScope
    private let gateway: StoreGateway
    private let origin: Origin
    private let clock: WallClock
    private let log: Log
    private let state = Guarded(State())
    private let asking = Coalescer<GoogleAccountName, GoogleAccessToken>()

    init(
        _ signer: any GoogleAssertionSigner,
        _ scope: GoogleScope,
        by gateway: StoreGateway,
        at origin: Origin,
        log: Log
    ) {
        self.signer = signer
        self.scope = scope
        self.gateway = gateway
        self.origin = origin
        clock = gateway.clock
        self.log = log
    }

    /// A token of the account that asks about the app now.
    func token(for packageName: PackageName) async throws(StoreError) -> GoogleAccessToken {
        guard let account = signer.accountName(for: packageName) else {
            throw .cannotSign(reason: "no service account is set for \(packageName)")
        }
        if let token = try current(account) { return token }
        return try await asking.answer(to: account) { [self] in
            await ask(packageName, account)
        }
    }

    /// Forgets a token that was refused, unless another has taken its place.
    func discard(_ token: GoogleAccessToken) {
        state.withLock { state in
            if state.kept[token.account]?.token == token { state.kept[token.account] = nil }
        }
    }

    /// Asks with a token of the app's account; once again with a new one if that has ended.
    ///
    /// `failed` is called with the last error.
    func asking<Answer: Sendable>(
        about packageName: PackageName,
        _ ask: (GoogleAccessToken) async throws(StoreError) -> Answer,
        failed: (StoreError, GoogleAccessToken) -> Void
    ) async throws(StoreError) -> Answer {
        var isRenewed = false
        while true {
            let token = try await token(for: packageName)
            do throws(StoreError) {
                return try await ask(token)
            } catch {
                if error == .credentialsRefused { discard(token) }
                guard error == .credentialsRefused, !isRenewed else {
                    failed(error, token)
                    throw error
                }
                isRenewed = true
            }
        }
    }

    private func current(_ account: GoogleAccountName) throws(StoreError) -> GoogleAccessToken? {
        let now = clock.now()
        return try state.withLock { state throws(StoreError) in
            // Before its own time too, which is when the clock was set back.
            if let kept = state.kept[account], kept.madeAt <= now, now < kept.usableUntil { return kept.token }
            if let refusedAt = state.refused[account] {
                guard !(refusedAt..<refusedAt.adding(seconds: 30)).contains(now) else { throw .credentialsRefused }
                state.refused[account] = nil
            }
            return nil
        }
    }

    private func ask(
        _ packageName: PackageName,
        _ account: GoogleAccountName
    ) async -> Result<GoogleAccessToken, StoreError> {
        let now = clock.now()
        do throws(StoreError) {
            let (granted, name) = try await grant(packageName, account, at: now)
            let token = GoogleAccessToken(text: granted.text, account: name)
            let use = max(granted.lifeMilliseconds - Self.reserveMilliseconds, granted.lifeMilliseconds / 2)
            let kept = Kept(token: token, madeAt: now, usableUntil: now.adding(milliseconds: use))
            state.withLock { $0.kept[name] = kept }
            return .success(token)
        } catch {
            if error == .credentialsRefused { state.withLock { $0.refused[account] = now } }
            return .failure(error)
        }
    }

    /// Asks until there is a token; the key is used once for all attempts.
    private func grant(
        _ packageName: PackageName,
        _ account: GoogleAccountName,
        at now: Timestamp
    ) async throws(StoreError) -> (GrantedToken, GoogleAccountName) {
        let issuedAt = now.adding(seconds: -30)
        let times = AssertionTimes(issuedAt: issuedAt, expiresAt: issuedAt.adding(hours: 1))
        var assertion: SignedAssertion?
        let deadline = gateway.uptime.deadline(afterMilliseconds: gateway.retries.overallMilliseconds)
        let granted = try await gateway.ask(call(account), before: deadline) { milliseconds throws(StoreError) in
            let signed: SignedAssertion
            if let assertion {
                signed = assertion
            } else {
                signed = try await signer.assertion(for: packageName, scope, times)
            }
            assertion = signed
            return try request(signed, milliseconds)
        } read: { [log] response in
            GoogleTokenReading(now: clock.now()) { code, description in
                log(
                    .error,
                    "Google gives our service account no token",
                    with: [
                        "account": .text(account.email.text), "key": .text(account.keyID.text),
                        "code": .text(printable(code)), "reason": .text(printable(description)),
                    ]
                )
            }.read(response)
        }
        return (granted, assertion?.account ?? account)
    }

    private func call(_ account: GoogleAccountName) -> StoreCall {
        StoreCall(
            account: StoreCall.Account(
                store: GooglePlayAPI.storeName,
                endpoint: "token",
                environment: GooglePlayAPI.environmentName,
                app: account.email.text
            ),
            origin: origin,
            quota: Self.quota,
            party: .service
        )
    }

    private func request(_ assertion: SignedAssertion, _ milliseconds: Int) throws(StoreError) -> ClientRequest {
        var headers = HeaderFields()
        headers.append("Content-Type", "application/x-www-form-urlencoded")
        headers.append("Accept", "application/json")
        // The colons of the grant's name, encoded; an assertion has nothing that must be.
        let grant = "grant_type=urn%3Aietf%3Aparams%3Aoauth%3Agrant-type%3Ajwt-bearer&assertion="
        do throws(ClientError) {
            var request = try ClientRequest(.post, origin, path: ["token"], headers: headers)
            request.body = Array(grant.utf8) + assertion.text
            request.timeoutMilliseconds = milliseconds
            return request
        } catch {
            throw .badAnswer(reason: "our request: \(error.label)")
        }
    }

    /// Google states none; one token an hour is the rule, and this is many times that.
    private static let quota = StoreQuota.perHour(600)
    private static let reserveMilliseconds: Int64 = 240_000
}
