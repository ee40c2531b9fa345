// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain

/// What is wrong with an app's key, as far as the answers tell; beside its own those to the other apps of the ring.
///
/// The store says 401 and nothing more, whatever is wrong. But each acceptance proves something right, and that is taken
/// from the list of suspects.
struct LiveDiagnosis {
    /// By how much clocks may differ before it is said; a token is issued half a minute ago.
    private static let noticedSkewSeconds = 30

    private let entry: LiveReport.Entry
    private let entries: [LiveReport.Entry]

    init(_ entry: LiveReport.Entry, among entries: [LiveReport.Entry]) {
        self.entry = entry
        self.entries = entries
    }

    /// What to do, the likeliest first; empty if all is well.
    var sentences: [String] {
        guard let key = entry.key else { return [] }
        let refused = entry.answers.filter { $0.outcome == .refused }
        var sentences: [String] = []
        if let skew, abs(skew) > Self.noticedSkewSeconds {
            sentences.append(
                "This machine's clock is \(LiveReport.clock(skew)). Tokens are good for minutes only: set the clock "
                    + "(NTP) and check again\(refused.isEmpty ? "." : " before looking for anything else.")"
            )
        } else if let first = refused.first {
            sentences += refused.count == entry.answers.count ? refusedEverywhere(key) : refusedSomewhere(first)
        }
        return sentences + entry.answers.compactMap(Self.advice)
    }

    private var skew: Int? { entry.answers.compactMap(\.skewSeconds).max { abs($0) < abs($1) } }

    // MARK: - 401

    private func refusedSomewhere(_ refusal: LiveAnswer) -> [String] {
        guard let proof = entry.answers.first(where: \.isAccepted) else {
            return ["\(refusal.environment) says no more than that; see what keeps the other from answering first."]
        }
        let right = "Key id, issuer id and bundle id are right: \(proof.environment) accepts them."
        guard refusal.environment == .production else { return ["\(right) Check again later."] }
        return [
            "\(right) Production refuses apps that were never approved: until this one is, give it "
                + #"environments: ["sandbox"] in the offers file. If it is on sale, check again later."#
        ]
    }

    private func refusedEverywhere(_ key: LiveReport.Key) -> [String] {
        let others = entries.filter { $0 != entry }
        func other(_ fits: (LiveReport.Key) -> Bool) -> LiveReport.Entry? {
            others.first { other in other.key.map(fits) == true && other.answers.contains(where: \.provesKey) }
        }
        let bundle = "the bundle id \(entry.bundleID) (App Information in App Store Connect, letter case included)"
        if let proof = other({ $0 == key }) {
            return [
                "Key id and issuer id are right: they are accepted for \(proof.bundleID). Wrong is \(bundle), or the app "
                    + "belongs to another account, whose key it needs\(unlessUnapproved)."
            ]
        }
        let page = "Users and Access › Integrations › In-App Purchase in App Store Connect"
        let keySuspect =
            "the key id \(key.id): it must stand, not revoked, on the page \(page), and the file must be the one "
            + "downloaded for it (AuthKey_….p8 is a key of another kind)"
        if let proof = other({ $0.issuerID == key.issuerID }), let name = proof.key?.id {
            return [
                "The issuer id is right: it is accepted with key \(name) for \(proof.bundleID). Wrong is one of:",
                keySuspect + ";", bundle + unlessUnapproved + ".",
            ]
        }
        return [
            "The App Store does not say which of these is wrong:", keySuspect + ";",
            "the issuer id \(key.issuerID): it is above the list of keys on the same page;",
            bundle + ", which must be an app of the same account" + unlessUnapproved + ".",
        ]
    }

    /// Production alone can't tell an app that was never approved from a wrong key.
    private var unlessUnapproved: String {
        entry.answers.contains { $0.environment == .sandbox }
            ? ""
            : "; or the app was never approved, and production refuses it: add \"sandbox\" to its environments in the "
                + "offers file to tell"
    }

    // MARK: - Everything else

    private static func advice(_ answer: LiveAnswer) -> String? {
        let (place, host) = (answer.environment.rawValue, answer.origin.host)
        return switch answer.outcome {
        case .accepted, .refused: nil
        case .appUnknown:
            "The key is right, and \(place) knows no app of this bundle id: correct it, or create the app in App Store "
                + "Connect first."
        case .rateLimited:
            "\(place) limits how often this app asks, so nothing is known yet. Check again later."
        case .storeFailed: "\(place) fails by itself. Check again later."
        case .strange:
            "\(host) is not answered for by the App Store: look for a proxy in between, or a wrong --app-store-url."
        case .notReached(let error): advice(on: error, place: place, host: host)
        }
    }

    private static func advice(on error: ClientError, place: String, host: String) -> String {
        switch error {
        case .cannotResolve: "\(host) has no address here: look at DNS (/etc/resolv.conf)."
        case .cannotConnect, .connectTimeout:
            "\(host) can't be connected to: let this machine out to its port 443 (firewall, routes)."
        case .certificateNotTrusted(let reason):
            "The certificate of \(host) is not trusted (\(reason)): install ca-certificates, look for a proxy that opens "
                + "TLS, or name its authority with --trusted-certificates."
        case .tls(let reason): "TLS with \(host) fails (\(reason)): look for a proxy in between."
        case .timeout: "\(host) did not answer in time. Check again later."
        default: "\(place) could not be asked. \(error)"
        }
    }
}
