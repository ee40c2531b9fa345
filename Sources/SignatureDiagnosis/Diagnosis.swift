// SPDX-License-Identifier: Apache-2.0
package import Cryptography

/// Why a signature was refused, as far as it can be known.
package struct Diagnosis: Hashable, Sendable {
    /// In one word.
    package enum Verdict: String, CaseIterable, Sendable {
        case payloadDiffers = "payload-differs"
        case formatWrong = "format-wrong"
        case signedCorrectly = "signed-correctly"
        case unknownKey = "unknown-key"
        case expired, reused
        case notEligibleAtStore = "not-eligible-at-store"
        case offerNotApplied = "offer-not-applied"
        case undecided
    }

    /// How sure a finding is.
    package enum Certainty: String, CaseIterable, Sendable {
        /// By computation: there is no other explanation.
        case proved
        /// By what was reported.
        case likely
        case possible
    }

    /// One thing that is wrong.
    package struct Finding: Hashable, Sendable {
        /// What is wrong.
        package let fault: SignatureFault
        /// How sure it is.
        package let certainty: Certainty

        /// A finding that is proved unless said otherwise.
        package init(_ fault: SignatureFault, _ certainty: Certainty = .proved) {
            (self.fault, self.certainty) = (fault, certainty)
        }
    }

    /// The result in one word.
    package var verdict = Verdict.undecided
    /// Each fault once, in the order in which they were found.
    package var findings: [Finding] = []
    /// How many payloads were tried, each under every key.
    package var triedPayloads = 0
    /// How many keys are known, including those known only by their digest.
    package var triedKeys = 0
    /// The SHA-256 of the key's SubjectPublicKeyInfo in hexadecimal, if it was recovered from the signature.
    package var recoveredKey: String?
    /// Whether that key is known by nothing but having made the signatures of both reports.
    package var isKeyOfBothReports = false
    /// The id of the key that made the signature, where it is known.
    package var signedBy: String?
    /// The digests that the signatures were proved to be made over: of the original one, and of the JWS.
    package var signedDigests: [SHA256Digest] = []
    /// The domains and codes that StoreKit reported, the outermost first; shown, and but for the first never interpreted.
    package var reportedErrors: [ReportedError.Level] = []
    /// The members that the report lacks.
    package var lacking: [String] = []
    /// What can't be known from the report, by code; see ``words(for:)``.
    package var notDecidable: [String] = []

    /// Nothing is known yet.
    package init() {}

    /// Adds a finding, unless there is one of the same fault: the certainty of the first stays.
    package mutating func add(_ fault: SignatureFault, _ certainty: Certainty = .proved) {
        if !findings.contains(where: { $0.fault == fault }) { findings.append(Finding(fault, certainty)) }
    }

    mutating func cannotDecide(_ codes: String...) {
        for code in codes where !notDecidable.contains(code) { notDecidable.append(code) }
    }

    /// Takes in what was found out about the JWS of the same report.
    mutating func merge(_ other: Diagnosis) {
        for finding in other.findings { add(finding.fault, finding.certainty) }
        // A JWS that nothing is known of takes nothing from what was proved, and makes nothing right.
        let telling: Set<Verdict> = [.signedCorrectly, .undecided]
        if telling.contains(verdict), !telling.contains(other.verdict) { verdict = other.verdict }
        triedPayloads += other.triedPayloads
        signedDigests += other.signedDigests
        if signedBy == nil, recoveredKey == nil {
            (signedBy, recoveredKey, isKeyOfBothReports) = (
                other.signedBy, other.recoveredKey, other.isKeyOfBothReports
            )
        }
        for code in other.notDecidable { cannotDecide(code) }
    }

    /// Whether it says what is wrong, or that the signature is right.
    package var isDecided: Bool { verdict != .undecided }

    /// What a code of ``notDecidable`` means, and what to do about it.
    package static func words(for code: String) -> String {
        switch code {
        case "needs-public-key": "Give the key's public half (--public-key), or its pin (--pin)."
        case "needs-second-signature": "Give a second report of a signature of the same key (--with)."
        case "needs-attempt-time":
            "Whether the signature was too old when it was used: give attemptedAt, in milliseconds since 1970."
        case "needs-fields": "The report lacks fields that were signed: give all that the app attached."
        case "same-signature-twice":
            "Both reports hold the same signature. Give a second one (--with) that was made for another request."
        case "search-not-complete":
            "There are more combinations than a search may try. Give fewer keys, apps, products and offers."
        case "unknown-mistake":
            "Which mistake it is. Log the very bytes that the server signs, and compare them with the seven fields of the report; check that the report has what the app attached."
        case "key-revoked": "Whether the key was revoked in App Store Connect."
        case "key-of-other-team": "Whether the key belongs to another team, or is an App Store Connect API key."
        case "offer-deleted":
            "Whether the offer is live in App Store Connect, and for this storefront and billing plan."
        case "reused": "Whether the signature was used before: each attempt to buy needs a new one."
        default: code
        }
    }
}
