// SPDX-License-Identifier: Apache-2.0

extension Problem {
    /// The offer is only for apps that prove themselves.
    init(genuineAppRequired: Void) {
        self.init(
            "genuine-app-required",
            title: "The app must prove that it is genuine",
            status: 403,
            detail:
                "This offer is only for apps that prove themselves: send the headers of App Attest or Play Integrity with the "
                + "request."
        )
    }

    /// With what to do, and without the reason, which only the log has.
    init(_ fault: GenuineAppFault) {
        switch fault {
        case .challenge, .challengeUsed:
            self.init(
                "app-attest-challenge",
                title: "The challenge is not good, or no longer",
                status: 403,
                detail: "Get a new challenge from /v1/app-attest/challenges, and send the request again with it."
            )
        case .keyUnknown:
            self.init(
                "app-attest-key-unknown",
                title: "The key is not registered",
                status: 403,
                detail: "Generate a new key in the app, register it at /v1/app-attest/keys, and send the request again."
            )
        case .headers, .keyOfOtherApp, .environment, .counter, .proof:
            self.init(
                "genuine-app-refused",
                title: "What the app sent does not prove that it is genuine",
                status: 403,
                detail: "Sign this very request with a new challenge; where that fails too, register a new key."
            )
        case .playIntegrity:
            self.init(
                "genuine-app-refused",
                title: "What the app sent does not prove that it is genuine",
                status: 403,
                detail:
                    "Ask for a new token for this very request and a new nonce; where that fails too, prepare a new provider."
            )
        }
    }
}
