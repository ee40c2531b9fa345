// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Why an app's proof does not show that the app is genuine.
package enum GenuineAppFault: Error, Hashable, Sendable {
    /// Not one of each header, or not Base64.
    case headers
    /// Not of this service, for another app, or expired.
    case challenge
    /// Another key was registered with this challenge.
    case challengeUsed
    /// The key is not registered, or it was deleted after a long time without use.
    case keyUnknown
    /// The key belongs to another app than the request's.
    case keyOfOtherApp
    /// The key is from an App Attest environment that the app's settings do not allow now.
    case environment(AppAttestEnvironment)
    /// The key has signed this or a later assertion before.
    case counter
    case proof(AppAttestFault)
    /// A token of Play Integrity proves nothing.
    case playIntegrity(PlayIntegrityFault)

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    package var label: String {
        switch self {
        case .headers: "headers"
        case .challenge: "challenge"
        case .challengeUsed: "challenge-used"
        case .keyUnknown: "key-unknown"
        case .keyOfOtherApp: "key-of-other-app"
        case .environment: "other-environment"
        case .counter: "counter"
        case .proof(let fault): fault.label
        case .playIntegrity(let fault): fault.label
        }
    }
}

extension GenuineAppFault: CustomStringConvertible {
    /// One sentence for the log; callers see no reason beyond what to do.
    package var description: String {
        switch self {
        case .headers: "The request does not have exactly one of each App-Attest header, in Base64."
        case .challenge: "The challenge has expired, or this service did not make it for this app."
        case .challengeUsed: "Another key was registered with this challenge."
        case .keyUnknown: "No such key is registered."
        case .keyOfOtherApp: "The key is registered for an app other than the one in the request."
        case .environment(let found):
            "The key belongs to the environment \(found.rawValue), which appAttest.environments does not allow."
        case .counter: "The service has already accepted this assertion, or a later one of the same key."
        case .proof(let fault): fault.description
        case .playIntegrity(let fault): fault.description
        }
    }
}
