// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import OfferDomain

extension ConsoleSessions {
    /// What the request's session comes to; `nil` without one, and of a request that brings a credential of its own.
    ///
    /// A browser sends the cookie with what another site's page asks for, too. So the console marks its requests with a header,
    /// which no page of another origin can send, and the browser says where a request comes from.
    ///
    /// Sources: Fetch Metadata Request Headers section 2.4, RFC 6454 section 7.
    func presented(by request: Request, under snapshot: Snapshot, at now: Timestamp) async -> PresentedSession? {
        guard request.headers.count(of: "Cookie") > 0, request.headers.count(of: "Authorization") == 0,
            let cookie = request.headers.cookie(SessionCookie.session.rawValue)
        else { return nil }
        guard request.isMarkedByConsole, request.isNotOfOtherSite else { return .refused(.caller(.crossOrigin)) }
        do throws(Refusal) {
            guard let secret = SessionSecret(cookie, under: snapshot.pseudonyms),
                let session = try await session(secret.digest), now < session.expiresAt,
                let (provider, settings) = snapshot.identity.console(session.provider),
                settings.digest(of: provider.policy.issuer) == session.settings
            else { return .refused(.caller(.sessionEnded)) }
            guard request.isOfOrigin(settings.origin) else { return .refused(.caller(.crossOrigin)) }
            return .active(session, secret.digest)
        } catch {
            return .refused(error)
        }
    }
}

extension Request {
    /// Whether it has the header that only the console's own page sends.
    fileprivate var isMarkedByConsole: Bool {
        headers.only("Offer-Signer-Console")?.elementsEqual("1".utf8) ?? false
    }

    /// Whether the browser says that the page is of the same origin, or says nothing, as old ones do.
    fileprivate var isNotOfOtherSite: Bool {
        guard headers.count(of: "Sec-Fetch-Site") > 0 else { return true }
        return headers.only("Sec-Fetch-Site")?.elementsEqual("same-origin".utf8) ?? false
    }

    /// Whether the page is of that origin; a request that changes something must say so.
    fileprivate func isOfOrigin(_ origin: String) -> Bool {
        guard headers.count(of: "Origin") > 0 else { return method == .get || method == .head }
        return headers.only("Origin")?.elementsEqual(origin.utf8) ?? false
    }
}
