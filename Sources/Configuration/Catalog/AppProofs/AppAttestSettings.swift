// SPDX-License-Identifier: Apache-2.0
package import Cryptography
import JSON
package import OfferDomain

/// What an app's keys must be to be taken.
package struct AppAttestSettings: Hashable, Sendable {
    /// Ten letters and digits that stand before the bundle ID in the app's ID.
    package let teamID: String
    /// The attestation services whose keys are accepted.
    package let environments: Set<AppAttestEnvironment>
    /// The policy for offers that set none of their own.
    package let policy: GenuineAppPolicy

    package init(teamID: String, environments: Set<AppAttestEnvironment>, policy: GenuineAppPolicy) {
        self.teamID = teamID
        self.environments = environments
        self.policy = policy
    }

    /// What Apple calls the app, `TEAMID.bundle.id`.
    package func appID(of bundleID: BundleID) -> String { "\(teamID).\(bundleID.text)" }
}

extension AppAttestSettings {
    /// Reads `appAttest` of an app in the offers file; `nil` if it is absent or invalid.
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
