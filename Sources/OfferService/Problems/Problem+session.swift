// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// The session in the request's cookie is over; the cookie goes.
    init(sessionEnded: Void) {
        self.init("session-ended", title: "The session has ended", status: 401, detail: "Sign in to the console again.")
        headers = [("WWW-Authenticate", "Bearer realm=\"offer-signer\""), SessionCookie.session.removal]
    }

    /// The request does not come from the console's own page.
    init(crossOrigin: Void) {
        self.init(
            "cross-origin-request",
            title: "A session counts only in the console",
            status: 403,
            detail: "Use the session in the console's own page, at the origin of redirectUri. Programs send an API key."
        )
    }
}
