// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain
import ServiceRuntime
import Stores

extension LiveCheck {
    /// What the App Store has of an app's retention messages, in each environment that accepts the key.
    func retentionEntries(
        of app: AppStoreApp,
        answers: [LiveAnswer],
        token: SignedToken
    ) async -> [RetentionMessagingReport.Entry] {
        guard let shown = loaded.catalog.retention(of: app.bundleID) else { return [] }
        var entries: [RetentionMessagingReport.Entry] = []
        for answer in answers where answer.isAccepted {
            let api = RetentionMessagingAPI(
                AuthorizedServer(transport: client, origin: answer.origin, token: token.text)
            )
            let outcome = await RetentionSetupReading(api: api, environment: answer.environment).setup(shown)
            entries.append(.init(app.bundleID, in: answer.environment, shown: shown, outcome: outcome))
        }
        return entries
    }
}

/// Reads what is set up for an app in one environment.
struct RetentionSetupReading: Sendable {
    let api: RetentionMessagingAPI
    let environment: StoreEnvironment
    var pause = Pause.system

    /// How many questions about default messages are asked; the sandbox takes one a second.
    private static let most = 20
    /// The locale that is asked about beside those of the catalog.
    private static let standardLocale = "en-US"

    func setup(
        _ shown: AppRetention
    ) async -> Result<RetentionMessagingReport.Setup, RetentionMessagingError> {
        do throws(RetentionMessagingError) {
            let messages = try await api.messages()
            var setup = RetentionMessagingReport.Setup(messages: messages, realtimeURL: await realtimeURL())
            await readDefaults(shown, into: &setup)
            return .success(setup)
        } catch {
            return .failure(error)
        }
    }

    private func realtimeURL() async -> Result<String?, RetentionMessagingError> {
        do throws(RetentionMessagingError) { return .success(try await api.realtimeURL()) } catch {
            return .failure(error)
        }
    }

    private func readDefaults(_ shown: AppRetention, into setup: inout RetentionMessagingReport.Setup) async {
        let locales = Set(shown.messages.compactMap(\.locale)).union([Self.standardLocale]).sorted()
        let questions = shown.plans.keys.sorted().flatMap { product in locales.map { (product, $0) } }
        var missing: [String: [String]] = [:]
        for (place, (product, locale)) in questions.enumerated() {
            guard place < Self.most else {
                setup.defaultNotes.append("\(questions.count - place) products and locales were not asked about.")
                break
            }
            if place > 0 { await pause(milliseconds: environment == .sandbox ? 1_000 : 100) }
            do throws(RetentionMessagingError) {
                if try await api.defaultMessage(of: product, in: locale) == nil {
                    missing[locale, default: []].append(product)
                }
            } catch {
                setup.defaultNotes.append(
                    "default message of \(product) for locale \(locale): not read: \(error.sentence)"
                )
                // An error code from Apple for this product and locale says nothing about the others.
                if case .code = error { continue }
                break
            }
        }
        setup.withoutDefault = missing.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
