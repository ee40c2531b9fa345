// SPDX-License-Identifier: Apache-2.0
import Cryptography
import Ledger

/// Why a person is not signed in; these are all the reasons.
enum SignInFault: Error, Sendable {
    // The browser.
    /// The browser brings no sign-in along, or another one than the provider finishes.
    case notStartedHere
    case tooLate
    /// This sign-in has begun a session before.
    case usedBefore
    case tooOften(retryAfterSeconds: Int64)
    /// The keys file names no such provider, or no longer.
    case providerUnknown
    // The provider.
    /// It says that it did not log the person in.
    case refusedByProvider(error: String, description: String?)
    /// The answer is of another provider (RFC 9207).
    case otherIssuer
    case noCode
    case discovery(ProviderFault)
    /// The discovery document lacks what a sign-in needs.
    case metadata(String)
    /// The token endpoint did not answer.
    case noAnswer(String)
    /// The token endpoint refuses the code, and with which error.
    case codeRefused(status: Int, error: String)
    case answerUnfit
    // The ID token.
    case token(TokenFault)
    case otherNonce
    case otherParty
    /// The person logged in too long ago.
    case loginTooOld
    /// The provider's keys cannot be had now.
    case keysUnknown
    // The person.
    case noRole(claim: String)
    // This service.
    case ledger(LedgerError)

    /// The reason in a few lowercase words joined by hyphens, for metrics and logs.
    var label: String {
        switch self {
        case .notStartedHere: "not-started-here"
        case .tooLate: "too-late"
        case .usedBefore: "used-before"
        case .tooOften: "too-often"
        case .providerUnknown: "provider-unknown"
        case .refusedByProvider: "refused-by-provider"
        case .otherIssuer: "other-issuer"
        case .noCode: "no-code"
        case .discovery(let fault): fault.label
        case .metadata: "metadata"
        case .noAnswer(let label): label
        case .codeRefused: "code-refused"
        case .answerUnfit: "answer-unfit"
        case .token(let fault): fault.label
        case .otherNonce: "other-nonce"
        case .otherParty: "other-party"
        case .loginTooOld: "login-too-old"
        case .keysUnknown: "keys-unknown"
        case .noRole: "no-role"
        case .ledger: "not-recorded"
        }
    }

    /// What the operator reads in the log, as the end of a sentence that begins with the provider.
    var detail: String {
        switch self {
        case .discovery(let fault): fault.description
        case .metadata(let text): "publishes a discovery document that \(text)"
        case .noAnswer(let label): "has a token endpoint that did not answer (\(label))"
        case .codeRefused(let status, let error): "refuses the code: status \(status), error \(error)"
        case .answerUnfit: "answers at the token endpoint with no JSON object with an id_token of at most 64 KiB"
        case .token(let fault): "issues an ID token that is refused: \(fault)"
        case .otherNonce: "issues an ID token with another nonce"
        case .otherParty: "issues an ID token for another client (azp)"
        case .refusedByProvider(let error, _): "did not sign the person in: \(error)"
        case .noRole(let claim): "issues an ID token whose claim \(claim) gives no role"
        default: "is not at fault: \(label)"
        }
    }

    var status: Int {
        switch self {
        case .notStartedHere, .tooLate, .usedBefore, .noCode, .otherIssuer: 400
        case .refusedByProvider, .noRole, .loginTooOld: 403
        case .providerUnknown: 404
        case .tooOften: 429
        case .codeRefused, .answerUnfit, .token, .otherNonce, .otherParty, .metadata: 502
        case .discovery, .noAnswer, .keysUnknown, .ledger: 503
        }
    }
}

extension SignInFault {
    /// What the person reads first.
    var title: String {
        switch self {
        case .notStartedHere: "This browser did not begin this sign-in"
        case .tooLate: "This sign-in took too long"
        case .usedBefore: "This sign-in was used before"
        case .tooOften: "Too many sign-ins"
        case .providerUnknown: "There is no such sign-in"
        case .refusedByProvider: "Your identity provider did not sign you in"
        case .noRole: "Your account may not use the console"
        case .loginTooOld: "Your login is too old"
        case .ledger: "The sign-in could not be recorded"
        case .discovery, .noAnswer, .keysUnknown: "Your identity provider does not answer"
        case .otherIssuer, .noCode, .metadata, .codeRefused, .answerUnfit, .token, .otherNonce, .otherParty:
            "The answer of your identity provider is not accepted"
        }
    }

    /// What the person can do; it repeats only what the provider said.
    var advice: [String] {
        switch self {
        case .notStartedHere:
            ["Sign in again in this browser, in one tab at a time. If that fails too, allow cookies for this address."]
        case .tooLate, .usedBefore: ["Sign in again."]
        case .tooOften(let seconds): ["Try again in \(seconds) s."]
        case .providerUnknown: ["Go back to the console, and choose one of its buttons."]
        case .refusedByProvider(let error, let description):
            ["It says: \(error)\(description.map { " (\($0))" } ?? "")"]
        case .noRole(let claim):
            [
                "The claim \(claim) of your account has no value that gives a role in this service. Ask the person who "
                    + "manages the accounts to give you one, then sign in again."
            ]
        case .loginTooOld: ["Sign out at your identity provider, then sign in again."]
        case .ledger: ["Only what is on record is done. Try again; /health/ready of the service says what is wrong."]
        case .discovery, .noAnswer, .keysUnknown: ["Try again in a moment, or sign in with an API key."]
        case .otherIssuer, .noCode, .metadata, .codeRefused, .answerUnfit, .token, .otherNonce, .otherParty:
            ["Sign in again. If that fails too, the service's log has the reason: \(label)."]
        }
    }
}
