// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

extension AppAttestSettings {
    /// Reads `appAttest` of an app in the offers file; `nil` if it is not there, or not as it must be.
    static func read(
        _ app: inout ObjectReader,
        isInAppStore: Bool,
        _ mismatches: Mismatches
    ) -> AppAttestSettings? {
        guard let value = app.member("appAttest") else { return nil }
        if !isInAppStore { app.note("appAttest", "needs the app's bundleId") }
        var reader = ObjectReader(value, into: mismatches)
        let teamID = reader.required("teamId", "ten capital letters and digits, as the developer account shows them") {
            $0.string.flatMap { isTeamID($0) ? $0 : nil }
        }
        let policy = reader.required("policy", GenuineAppPolicy.expected) { $0.string.flatMap(GenuineAppPolicy.init) }
        let environments = readEnvironments(&reader, mismatches)
        reader.finish()
        guard let teamID, let policy else { return nil }
        return AppAttestSettings(teamID: teamID, environments: environments, policy: policy)
    }

    private static func readEnvironments(
        _ reader: inout ObjectReader,
        _ mismatches: Mismatches
    ) -> Set<AppAttestEnvironment> {
        guard let value = reader.member("environments") else { return [.production] }
        let listed: [AppAttestEnvironment] = reader.elements("environments") { element in
            element.string.flatMap(AppAttestEnvironment.init)
                ?? mismatches.none(element, "expected “production” or “development”, found \(element.summary)")
        }
        if value.array?.isEmpty == true {
            mismatches.add(value, "is empty, so every key would be refused; name at least one, or leave it out")
        }
        return Set(listed)
    }

    private static func isTeamID(_ text: String) -> Bool {
        text.utf8.count == 10
            && text.utf8.allSatisfy { byte in
                (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
                    || (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            }
    }
}

extension GenuineAppPolicy {
    static let expected = "one of " + allCases.map(\.rawValue).joined(separator: ", ")

    /// Reads `genuineApp` of an offer in that store; without it, what the app says holds.
    static func read(_ offer: inout ObjectReader, of app: AppProofSettings, at store: Store) -> GenuineAppPolicy {
        let own = offer.optional("genuineApp", expected) { $0.string.flatMap(GenuineAppPolicy.init) }
        let policy = app.policy(at: store)
        if let own, own != .off, policy == nil {
            let isApple = store == .appStore
            offer.note("genuineApp", "needs the app's \(isApple ? "appAttest, with the team's ID" : "playIntegrity")")
        }
        return own ?? policy ?? .off
    }
}

/// What proofs of an app must show, in each store; `nil` where none is looked at.
struct AppProofSettings: Sendable {
    var appAttest: AppAttestSettings?
    var playIntegrity: PlayIntegritySettings?

    init() {}

    /// Reads what an app in the offers file says of them.
    init(_ app: inout ObjectReader, isIn stores: (appStore: Bool, googlePlay: Bool), _ mismatches: Mismatches) {
        appAttest = AppAttestSettings.read(&app, isInAppStore: stores.appStore, mismatches)
        playIntegrity = PlayIntegritySettings.read(&app, isAtGooglePlay: stores.googlePlay, mismatches)
    }

    func policy(at store: Store) -> GenuineAppPolicy? {
        switch store {
        case .appStore: appAttest?.policy
        case .googlePlay: playIntegrity?.policy
        }
    }
}
