// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON

/// Reads `consoleSignIn` of an identity provider in the keys file.
struct ConsoleSignInReader {
    private var reader: ObjectReader
    private let mismatches: Mismatches

    static func read(_ value: JSONValue, _ mismatches: Mismatches, of file: KeyRingFile) -> ConsoleSignIn? {
        var reader = ConsoleSignInReader(reader: ObjectReader(value, into: mismatches), mismatches: mismatches)
        return reader.read(file)
    }

    private mutating func read(_ file: KeyRingFile) -> ConsoleSignIn? {
        let title = reader.optional("title", "1 to 64 printable ASCII characters", as: Self.title)
        let clientID = reader.required(
            "clientId",
            "what the provider calls this service",
            as: IdentityProviderReader.visible
        )
        let secret = readSecret(file)
        let redirect = readRedirect()
        let mismatches = mismatches
        let scopes = reader.elements("scopes", atMost: 16) { Self.text($0, "a scope without spaces", into: mismatches) }
        let claim = readClaim()
        let roles = readRoles()
        let session = readMinutes("sessionMinutes", 5...720)
        let age = readMinutes("maximumAgeMinutes", 1...10_080)
        reader.finish()
        guard let clientID, let redirect, let claim, !roles.isEmpty else { return nil }
        return ConsoleSignIn(
            title: title,
            clientID: clientID,
            clientSecret: secret,
            redirectURL: redirect.url,
            origin: redirect.origin,
            scopes: ["openid"] + scopes.filter { $0 != "openid" },
            roleClaim: claim,
            roles: roles,
            sessionMinutes: session ?? Self.standardSessionMinutes,
            maximumAgeMinutes: age
        )
    }

    private mutating func readSecret(_ file: KeyRingFile) -> ClientSecret? {
        guard let contents = file.readSecret(&reader, "clientSecretFile", for: .clientSecret, isRequired: false) else {
            return nil
        }
        guard let secret = ClientSecret(contents) else {
            reader.note("clientSecretFile", "expected a file of 1 to 512 visible ASCII characters")
            return nil
        }
        return secret
    }

    private mutating func readRedirect() -> (url: String, origin: String)? {
        let expected =
            "the console's https address and \(ConsoleSignIn.redirectPath), as https://offers.example.com"
            + "\(ConsoleSignIn.redirectPath) (http for 127.0.0.1, [::1] and localhost alone)"
        return reader.required("redirectUri", expected) { value in
            guard let url = value.string, url.hasSuffix(ConsoleSignIn.redirectPath), !url.contains("?"),
                ProviderAddress.isAllowed(url), let request = try? ClientRequest(.get, url: url)
            else { return nil }
            return (url, request.origin.description)
        }
    }

    private mutating func readClaim() -> [String]? {
        guard let value = reader.member("roleClaim") else {
            reader.note("roleClaim", "is missing; expected the name of a claim, or an array of names within each other")
            return nil
        }
        let path = (value.array.map(Array.init) ?? [value]).map {
            Self.text($0, "the name of a claim", into: mismatches)
        }
        let names = path.compactMap(\.self)
        guard !names.isEmpty, names.count == path.count, names.count <= 4 else {
            if path.isEmpty || path.count > 4 { mismatches.add(value, "expected 1 to 4 names of claims") }
            return nil
        }
        return names
    }

    private mutating func readRoles() -> [String: CallerRole] {
        guard let value = reader.member("roles") else {
            reader.note("roles", #"is missing; expected as {"value of the claim": "auditor"}"#)
            return [:]
        }
        guard let object = value.object, (1...64).contains(object.count) else {
            mismatches.add(value, "expected 1 to 64 texts of the claim, each with its role")
            return [:]
        }
        var roles: [String: CallerRole] = [:]
        for member in object {
            guard let role = member.value.string.flatMap(CallerRole.init), role.mayReadRecords, !member.name.isEmpty
            else {
                mismatches.add(member.value, "expected auditor or admin, found \(member.value.summary)")
                continue
            }
            roles[member.name] = role
        }
        return roles
    }

    private static func text(_ value: JSONValue, _ expected: String, into mismatches: Mismatches) -> String? {
        IdentityProviderReader.visible(value) ?? mismatches.none(value, "expected \(expected), found \(value.summary)")
    }

    private mutating func readMinutes(_ name: StaticString, _ range: ClosedRange<Int64>) -> Int64? {
        reader.optional(name, "a whole number of minutes from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private static func title(_ value: JSONValue) -> String? {
        value.string.flatMap { text in
            (1...64).contains(text.utf8.count) && text.utf8.allSatisfy { (0x20...0x7E).contains($0) } ? text : nil
        }
    }

    private static let standardSessionMinutes: Int64 = 60
}
