// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// The session in the request's cookie is over; the cookie goes.
    init(sessionEnded: Void) {
        self.init("session-ended", "The session has ended", 401, "Sign in to the console again.")
        headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\""), SessionCookie.session.removal]
    }

    /// The request does not come from the console's own page.
    init(crossOrigin: Void) {
        self.init(
            "cross-origin-request",
            "A session counts only in the console",
            403,
            "Use the session in the console's own page, at the origin of redirectUri. Programs send an API key."
        )
    }
}
