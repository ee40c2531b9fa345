// SPDX-License-Identifier: Apache-2.0
import OfferDomain
import OfferService
import TestSupport
import Testing

/// `identityProviders` in the keys file, and what wrong entries are refused with.
struct IdentityProviderFileTests {
    private static let good = """
        {issuer: "https://login.example.com/", audience: "offer-signer", bundleIds: ["com.example.app"],
         jwksUri: "https://login.example.com/jwks", algorithms: ["RS256", "ES256"], tokenType: "at+jwt",
         customerId: {claim: "sub", form: "asIs"}, appAccountToken: null, requiredScope: "offers:sign",
         facts: {churnRisk: "claim:churn"}, maximumLifetime: 3600, clockSkew: 60, dpop: "off"}
        """

    private static func issues(_ entries: String) throws -> (errors: [String], warnings: [String]) {
        let directory = try TemporaryDirectory()
        var files = TestFiles()
        files.keys = files.keys.replacing("customerIds:", with: "identityProviders: [\(entries)], customerIds:")
        _ = try TestService.write(files, into: directory)
        return OfferServiceTests.issues(directory, try TestService.settings(in: directory, files))
    }

    @Test func `takes an entry with every member`() throws {
        let found = try Self.issues(Self.good)
        #expect(found.errors == [] && found.warnings == [])
    }

    /// A part of the good entry, its replacement, and a part of the expected error.
    static let wrong = [
        (#"issuer: "https://login.example.com/", "#, "", "issuer: is missing"),
        (#"audience: "offer-signer", "#, "", "audience: is missing"),
        (#"audience: "offer-signer""#, "audience: []", "expected a text, or an array of texts"),
        (#"["com.example.app"]"#, "[]", "expected at least one bundle id"),
        (#"["com.example.app"]"#, #"["com example"]"#, "bundleIds/0"),
        (#""https://login.example.com/jwks""#, #""http://login.example.com/jwks""#, "an https address"),
        (#""https://login.example.com/jwks""#, #""file:///etc/passwd""#, "an https address"),
        (#"["RS256", "ES256"]"#, #"["RS256", "HS256"]"#, "expected one of ES256, RS256, PS256, EdDSA"),
        (#"["RS256", "ES256"]"#, #"["none"]"#, "expected one of"),
        (#"["RS256", "ES256"]"#, "[]", "is empty"),
        (#""at+jwt""#, #""JWT""#, "one of at+jwt, any, idToken"),
        (#"form: "asIs""#, #"form: "md5""#, "one of asIs, uuid, sha256"),
        (#"claim: "sub", form"#, "form", "claim: is missing"),
        ("appAccountToken: null", "appAccountToken: {}", "claim: is missing"),
        ("appAccountToken: null", #"appAccountToken: {derive: "uuidv4", namespace: "x"}"#, "uuidv5"),
        ("appAccountToken: null", #"appAccountToken: {derive: "uuidv5"}"#, "namespace: is missing"),
        (#""claim:churn""#, #""churn""#, "expected “claim:”"),
        ("maximumLifetime: 3600", "maximumLifetime: 0", "from 60 to 172800"),
        ("clockSkew: 60", "clockSkew: 301", "from 0 to 300"),
        (#"dpop: "off""#, #"dpop: "no""#, "one of required, accepted, off"),
        (#"dpop: "off""#, #"dpop: "off", publicOrigin: "https://x/y""#, "an origin"),
        (#"dpop: "off""#, #"dpopp: "off""#, "did you mean “dpop”"),
        (#"dpop: "off""#, #"dpop: "off", name: "Login""#, "1 to 48 of a-z"),
    ]

    @Test(arguments: wrong) func `says what is wrong with an entry`(old: String, new: String, said: String) throws {
        let entry = Self.good.replacing(old, with: new)
        #expect(entry != Self.good)
        let errors = try Self.issues(entry).errors
        #expect(errors.contains { $0.contains("/identityProviders/0") }, "\(errors)")
        #expect(
            errors.joined(separator: "\n").replacing("/", with: " ").contains(said.replacing("/", with: " ")),
            "\(errors)"
        )
    }

    @Test func `an issuer and a name have one entry each`() throws {
        #expect(
            try Self.issues(Self.good + "," + Self.good).errors.contains { $0.contains("the issuer of another entry") }
        )
        let named = Self.good.replacing("{issuer", with: #"{name: "login", issuer"#)
        let other = named.replacing("login.example.com/\"", with: "login.example.com/2\"")
        #expect(try Self.issues(named + "," + other).errors.contains { $0.contains("the name of another entry") })
    }

    @Test func `warns of an app that offers does not have`() throws {
        let warnings = try Self.issues(Self.good.replacing("com.example.app", with: "com.example.apq")).warnings
        #expect(warnings.contains { $0.contains("com.example.apq") && $0.contains("did you mean com.example.app") })
    }

    @Test(arguments: ["required", "accepted"])
    func `warns of DPoP without the origin that proofs name`(dpop: String) throws {
        let entry = Self.good.replacing(#"dpop: "off""#, with: "dpop: \"\(dpop)\"")
        let found = try Self.issues(entry)
        #expect(found.errors == [] && found.warnings.count == 1)
        #expect(
            found.warnings.contains {
                $0.contains("/identityProviders/0/publicOrigin: is missing, and dpop is “\(dpop)”")
            },
            "\(found.warnings)"
        )
        let named = entry.replacing("dpop:", with: #"publicOrigin: "https://offers.example.com", dpop:"#)
        #expect(try Self.issues(named).warnings == [])
        let signIn = #"{issuer: "https://login.example.com/2", dpop: "\#(dpop)", name: "two", "#
        let second = signIn + #"audience: "offer-signer", bundleIds: ["com.example.app"]}"#
        #expect(
            try Self.issues(named + "," + second).warnings.contains { $0.contains("/identityProviders/1/publicOrigin") }
        )
    }
}
