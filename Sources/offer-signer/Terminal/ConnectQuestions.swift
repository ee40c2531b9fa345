// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import OfferService
import ServiceRuntime
import Stores

/// What `offer-signer init` need not ask, because App Store Connect has it.
struct ConnectQuestions {
    static let option = "--connect-key"

    typealias Offer = (productID: ProductID, groupID: SubscriptionGroupID, offerID: OfferID)

    let file: String
    let id: KeyID
    let app: ConnectApp
    private let arguments: Arguments
    private let asks: Bool

    /// Asks App Store Connect; `nil` without a key for it.
    init?(_ arguments: Arguments, asks: Bool, issuerID: IssuerID, bundleID: BundleID) throws(CommandError) {
        guard let file = try arguments.value(Self.option) else { return nil }
        let settings = try SettingsOptions.settings(arguments)
        do throws(SetupError) {
            id = try InitialSetup.connectKeyID(inNameOf: file)
            let lookup = try ConnectLookup(file: file, id: id, issuerID: issuerID, settings: settings, clock: .system)
            app = try lookup.app(bundleID)
        } catch {
            throw CommandError("\(Self.option): \(error)")
        }
        (self.file, self.arguments, self.asks) = (file, arguments, asks)
    }

    /// One promotional offer that App Store Connect has.
    private struct Choice {
        let offer: Offer
        let line: String
    }

    /// The offer that the options leave, or that the person chooses from the list.
    func offer() throws(CommandError) -> Offer {
        let product = try arguments.value("--product")
        let wanted = try arguments.value("--offer")
        let choices = all.filter { choice in
            (product ?? choice.offer.productID.text) == choice.offer.productID.text
                && (wanted ?? choice.offer.offerID.text) == choice.offer.offerID.text
        }
        let list = (choices.isEmpty ? all : choices).enumerated().map { "  \($0.offset + 1)  \($0.element.line)" }
        guard let first = choices.first else {
            let known = list.isEmpty ? "there is none" : "there is\n\(list.joined(separator: "\n"))"
            throw CommandError("App Store Connect has no such promotional offer of \(app.name): \(known)")
        }
        if choices.count == 1 { return first.offer }
        let heading = "Promotional offers of \(app.name) in App Store Connect:\n\(list.joined(separator: "\n"))"
        guard asks else { throw CommandError(usage: "\(heading)\nchoose one with --product and --offer") }
        Terminal.complain(heading)
        while let line = Terminal.ask("Number of the offer: ") {
            if let number = Int(line), choices.indices.contains(number - 1) { return choices[number - 1].offer }
            Terminal.complain("expected a number from 1 to \(choices.count)")
        }
        throw CommandError(usage: "--offer is missing")
    }

    /// Those that can be signed, in App Store Connect's order.
    private var all: [Choice] {
        app.subscriptions.flatMap { subscription in
            subscription.offerIDs.compactMap { text -> Choice? in
                guard let productID = try? ProductID(subscription.productID), let offerID = try? OfferID(text),
                    let groupID = try? SubscriptionGroupID(subscription.groupID)
                else { return nil }
                let state = subscription.state == "APPROVED" ? "" : ", \(subscription.state)"
                let line = "\(productID)  \(offerID)  (group \(groupID) “\(subscription.groupName)”\(state))"
                return Choice(offer: (productID, groupID, offerID), line: line)
            }
        }
    }
}
