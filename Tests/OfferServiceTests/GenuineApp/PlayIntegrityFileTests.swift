// SPDX-License-Identifier: Apache-2.0
import Configuration
import TestSupport
import Testing

/// What the offers file says of proofs at Google Play.
struct PlayIntegrityFileTests {
    /// `playIntegrity` of the app, more of its offer, and what `check` says of them; `nil` is nothing.
    static let rows: [(settings: String, offer: String, issue: String?)] = [
        (#"{policy: "require"}"#, "", nil),
        (#"{policy: "off"}"#, #", genuineApp: "require""#, nil),
        (#"{policy: "prefer", deviceIntegrity: "strong", licensed: true, requestsPerDay: 100}"#, "", nil),
        (#"{policy: "off", otherCertificates: ["\#(PlayVerdict.fingerprint)"]}"#, "", nil),
        ("", #", genuineApp: "off""#, nil),
        ("", #", genuineApp: "require""#, "needs the app's playIntegrity"),
        ("{}", "", "policy"),
        (#"{policy: "demand"}"#, "", "one of require, prefer, off"),
        (#"{policy: "off", deviceIntegrity: "MEETS_DEVICE_INTEGRITY"}"#, "", "one of basic, device, strong"),
        (#"{policy: "off", licensed: "yes"}"#, "", "true or false"),
        (#"{policy: "off", otherCertificates: ["AB:CD"]}"#, "", "32 bytes"),
        (#"{policy: "off", otherCertificates: ["\#(PlayVerdict.certificate)"]}"#, "", "32 bytes"),
        (#"{policy: "off", requestsPerDay: 0}"#, "", "a whole number from 100"),
        (#"{policy: "off", teamId: "ABCDE12345"}"#, "", "teamId"),
    ]

    @Test(arguments: rows.indices) func `says what is wrong with it`(index: Int) throws {
        let row = Self.rows[index]
        let settings = row.settings.isEmpty ? "" : "playIntegrity: \(row.settings),"
        let text = try issues(
            """
            {apps: [{packageName: "com.example.app", \(settings) plans: [{
              googlePlay: {productId: "p", basePlanId: "m"},
              offers: [{id: "o", googlePlay: {offerId: "x"\(row.offer)}}]}]}]}
            """
        )
        if let issue = row.issue { #expect(text.contains(issue), "\(text)") } else { #expect(text.isEmpty, "\(text)") }
    }

    @Test func `is for apps at Google Play`() throws {
        let text = try issues(
            """
            {apps: [{bundleId: "com.example.app", playIntegrity: {policy: "off"}, plans: [{
              appStore: {productId: "p"}, offers: [{id: "o", appStore: {offerId: "x"}}]}]}]}
            """
        )
        #expect(text.contains("needs the app's packageName"), "\(text)")
    }

    private func issues(_ file: String) throws -> String {
        let directory = try TemporaryDirectory()
        defer { withExtendedLifetime(directory) {} }
        let path = try directory.write(Array(file.utf8), to: "offers")
        do throws(ConfigurationError) {
            _ = try CatalogFile.read(path)
            return ""
        } catch {
            return error.issues.map { "\($0)" }.joined(separator: "\n")
        }
    }
}
