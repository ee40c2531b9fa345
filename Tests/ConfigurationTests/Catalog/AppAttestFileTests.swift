// SPDX-License-Identifier: Apache-2.0
import Configuration
import TestSupport
import Testing

/// What the offers file says of proofs.
struct AppAttestFileTests {
    /// Members of the app and of its offer, and what `check` says of them; `nil` is nothing.
    static let rows: [(app: String, offer: String, issue: String?)] = [
        (#"appAttest: {teamId: "ABCDE12345", policy: "require"}"#, "", nil),
        (#"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #", genuineApp: "require""#, nil),
        (#"appAttest: {teamId: "ABCDE12345", policy: "prefer", environments: ["development"]}"#, "", nil),
        ("", #", genuineApp: "off""#, nil),
        ("", #", genuineApp: "require""#, "needs the app's appAttest, with the team's ID"),
        ("", #", genuineApp: "prefer""#, "needs the app's appAttest, with the team's ID"),
        (#"appAttest: {policy: "require"}"#, "", "teamId"),
        (#"appAttest: {teamId: "abcde12345", policy: "require"}"#, "", "ten capital letters and digits"),
        (#"appAttest: {teamId: "ABCDE1234", policy: "require"}"#, "", "ten capital letters and digits"),
        (#"appAttest: {teamId: "ABCDE12345"}"#, "", "policy"),
        (#"appAttest: {teamId: "ABCDE12345", policy: "demand"}"#, "", "one of require, prefer, off"),
        (#"appAttest: {teamId: "ABCDE12345", policy: "off", environments: []}"#, "", "so every key would be refused"),
        (#"appAttest: {teamId: "ABCDE12345", policy: "off", environments: ["sandbox"]}"#, "", "“development”"),
        (#"appAttest: {teamId: "ABCDE12345", policy: "off", team: "x"}"#, "", "team"),
        (#"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #", genuineApp: true"#, "one of require, prefer, off"),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #"}, eligibility: {appOrigin: {in: []}"#,
            "/appOrigin/in"
        ),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#,
            #"}, eligibility: {deviceIntegrity: {atLeast: "hardware"}"#,
            "one of basic, device, strong"
        ),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #"}, eligibility: {deviceIntegrity: "strong""#,
            "expected an object"
        ),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #"}, eligibility: {appLicensed: "yes""#,
            "true or false"
        ),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#, #"}, eligibility: {appOrigin: {in: ["web"]}"#,
            "testFlight"
        ),
        (
            #"appAttest: {teamId: "ABCDE12345", policy: "off"}"#,
            #"}, eligibility: {appOrigin: {in: ["other", "other"]}"#,
            "/appOrigin/in"
        ),
    ]

    @Test(arguments: rows.indices) func `says what is wrong with it`(index: Int) throws {
        let row = Self.rows[index]
        let directory = try TemporaryDirectory()
        let file = """
            {apps: [{bundleId: "com.example.app", \(row.app.isEmpty ? "" : row.app + ", ")
              plans: [{appStore: {productId: "p"}, offers: [{id: "o", appStore: {offerId: "x"\(row.offer)}}]}]}]}
            """
        let path = try directory.write(Array(file.utf8), to: "offers")
        var issues: [ConfigurationIssue] = []
        do throws(ConfigurationError) { _ = try CatalogFile.read(path) } catch { issues = error.issues }
        let text = issues.map { "\($0)" }.joined(separator: "\n")
        guard let issue = row.issue else {
            #expect(issues.isEmpty, "\(text)")
            return
        }
        #expect(text.contains(issue), "\(text)")
    }

    @Test func `is for apps in the App Store`() throws {
        let directory = try TemporaryDirectory()
        let file = """
            {apps: [{packageName: "com.example.app", appAttest: {teamId: "ABCDE12345", policy: "off"},
              plans: [{googlePlay: {productId: "p", basePlanId: "m"}, offers: [{id: "o", googlePlay: {offerId: "x"}}]}]}]}
            """
        let path = try directory.write(Array(file.utf8), to: "offers")
        #expect(throws: ConfigurationError.self) { try CatalogFile.read(path) }
    }
}
