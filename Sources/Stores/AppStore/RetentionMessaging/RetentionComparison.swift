// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// Compares what the catalog says of an app's messages with what the App Store has in one environment.
struct RetentionComparison {
    let bundleID: BundleID
    let environment: StoreEnvironment
    let shown: AppRetention
    let setup: RetentionMessagingReport.Setup

    /// The state of a message that is shown.
    static let approved = "APPROVED"

    typealias Finding = RetentionMessagingReport.Finding

    var findings: [Finding] { messageFindings + imageNotes + urlFindings + defaultNotes }

    // MARK: - Messages

    private var messageFindings: [Finding] {
        let known = Dictionary(setup.messages.map { ($0.id, $0) }) { first, _ in first }
        return shown.messages.compactMap { message in
            fault(of: message, known[message.id]).map { Finding(text: "\(message.member): \($0)", isFault: true) }
        }
    }

    private func fault(of message: NamedRetentionMessage, _ found: UploadedMessage?) -> String? {
        guard let found else {
            return
                "\(environment.rawValue) lists no message \(message.id), and expected is one that is APPROVED. Upload it "
                + "there, or correct the ID."
        }
        switch found.state {
        case Self.approved: break
        case "PENDING":
            return
                "message \(message.id) is PENDING, and expected is APPROVED. Wait for Apple's review, or name another one."
        case "REJECTED":
            return
                "message \(message.id) is REJECTED, and expected is APPROVED. Upload another one, and name its ID here."
        default:
            return "message \(message.id) is \(found.state), and expected is APPROVED. Name one that is."
        }
        guard message.isBeside, found.hasImage == true else { return nil }
        return
            "message \(message.id) has an image, and beside an offer or a product expected is one without. Upload one, and "
            + "name its ID here."
    }

    /// A person must check what the list does not state.
    private var imageNotes: [Finding] {
        let unlisted = Set(setup.messages.filter { $0.hasImage == nil }.map(\.id))
        let members = shown.messages.filter { $0.isBeside && unlisted.contains($0.id) }.map(\.member)
        guard let first = members.first else { return [] }
        let others = members.count == 1 ? "" : ", and \(members.count - 1) more"
        return [
            Finding(
                text:
                    "The App Store does not list which messages have an image. Those beside offers and products must have "
                    + "none (\(first)\(others)).",
                isFault: false
            )
        ]
    }

    // MARK: - The real-time URL

    private var path: String { "/v1/retention/app-store/\(bundleID)" }

    private var urlFindings: [Finding] {
        switch setup.realtimeURL {
        case .failure(let error):
            [
                Finding(
                    text: "real-time URL: not read: \(error.sentence)",
                    isFault: !error.isTemporary && !error.isNotGranted
                )
            ]
        case .success(nil):
            [
                Finding(
                    text: "real-time URL: none is configured; expected is https://YOUR-SERVICE\(path). Configure it"
                        + (environment == .production
                            ? ", once a performance test has passed (offer-signer retention perf-test)." : "."),
                    isFault: true
                )
            ]
        case .success(let url?): urlFault(url).map { [Finding(text: "real-time URL: \($0)", isFault: true)] } ?? []
        }
    }

    private func urlFault(_ url: String) -> String? {
        guard url.lowercased().hasPrefix("https://") else {
            return "\(url) is no https URL; expected is https://YOUR-SERVICE\(path). Configure that."
        }
        let place = url.prefix { $0 != "?" && $0 != "#" }
        guard !place.hasSuffix(path) else { return nil }
        return "\(url) does not end with \(path), where this service answers for the app. Configure a URL that does."
    }

    // MARK: - Default messages

    private var defaultNotes: [Finding] {
        let missing = setup.withoutDefault.map { locale, products in
            "no default message for locale \(locale): \(products.joined(separator: ", ")). Where the service gives no answer "
                + "in time, the App Store shows what App Store Connect says, or nothing. Configure one."
        }
        return (missing + setup.defaultNotes).map { Finding(text: $0, isFault: false) }
    }
}
