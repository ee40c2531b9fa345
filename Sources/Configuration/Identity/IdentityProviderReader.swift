// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// Reads one of the `identityProviders` of the keys file.
struct IdentityProviderReader {
    private var reader: ObjectReader
    private let mismatches: Mismatches
    private let file: KeyRingFile

    static func read(_ value: JSONValue, _ mismatches: Mismatches, of file: KeyRingFile) -> IdentityProvider? {
        var reader = IdentityProviderReader(
            reader: ObjectReader(value, into: mismatches),
            mismatches: mismatches,
            file: file
        )
        return reader.read()
    }

    private mutating func read() -> IdentityProvider? {
        let preset = named("preset", IdentityProviderPreset.self)
        let name = reader.optional("name", "1 to 48 of a-z 0-9 . _ -", as: Self.name)
        let issuer = readIssuer(preset)
        let signIn = readConsole(preset, issuer: issuer)
        let isForConsoleAlone = isForConsoleAlone
        let apps = isForConsoleAlone ? [] : readApps()
        let audiences = isForConsoleAlone ? [] : readAudiences(preset, apps)
        var policy = TokenPolicy(issuer: issuer ?? "", audiences: audiences, algorithms: [.es256, .rs256])
        preset?.adapt(&policy)
        readPolicy(&policy)
        let jwksURL = readURL("jwksUri") ?? preset?.jwksURL
        let customer = readCustomer(preset)
        let accountToken = readAccountToken()
        let attributes = readAttributes("attributes") + readAttributes("facts")
        let proofs = named("dpop", IdentityProvider.ProofPolicy.self) ?? .off
        let publicOrigin = readOrigin("publicOrigin")
        let asksForCertificates = reader.optional("clientCertificates", "true or false", as: \.bool)
        reader.finish()
        guard let issuer, jwksURL != nil || isReadable(issuer) else { return nil }
        guard isForConsoleAlone || !apps.isEmpty && !audiences.isEmpty else { return nil }
        return IdentityProvider(
            name: name ?? Self.defaultName(issuer),
            policy: policy,
            keySource: IdentityProvider.KeySource(issuer: issuer, jwksURL: jwksURL),
            apps: Set(apps),
            isConfinedToAudience: preset == .signInWithApple,
            customer: customer,
            accountToken: accountToken,
            attributes: attributes,
            proofs: proofs,
            publicOrigin: publicOrigin?.description,
            asksForCertificates: asksForCertificates ?? false,
            console: signIn
        )
    }

    /// Whether a discovery document can be read at the issuer's own address.
    private func isReadable(_ issuer: String) -> Bool {
        if ProviderAddress.isAllowed(issuer) { return true }
        reader.note("issuer", "is no https address to read the discovery document from; name the key set in jwksUri")
        return false
    }

    /// Whether no app's users have this provider, by which people sign in to the console.
    private var isForConsoleAlone: Bool {
        var copy = reader
        return copy.member("consoleSignIn") != nil && copy.member("bundleIds") == nil && copy.member("audience") == nil
    }

    private mutating func readConsole(_ preset: IdentityProviderPreset?, issuer: String?) -> ConsoleSignIn? {
        guard let value = reader.member("consoleSignIn") else { return nil }
        if preset == .signInWithApple || preset == .firebase {
            reader.note(
                "consoleSignIn",
                "is not possible with this preset; use a provider with OpenID Connect Discovery"
            )
        } else if let issuer, !ProviderAddress.isAllowed(issuer) {
            reader.note(
                "consoleSignIn",
                "needs an issuer that is an https address, to read the discovery document from"
            )
        }
        return ConsoleSignInReader.read(value, mismatches, of: file)
    }

    private mutating func readOrigin(_ member: StaticString) -> Origin? {
        reader.optional(member, "an origin, as https://offers.example.com") { value in
            value.string.flatMap { try? Origin(parsing: $0) }
        }
    }

    // MARK: - Whose tokens

    private mutating func readIssuer(_ preset: IdentityProviderPreset?) -> String? {
        let expected = "1 to 512 bytes from 0x21 to 0x7E, exactly as in the tokens' iss"
        guard let own = preset?.issuer else { return reader.required("issuer", expected, as: Self.visible) }
        return reader.optional("issuer", expected, as: Self.visible) ?? own
    }

    private mutating func readApps() -> [AppName] {
        let mismatches = mismatches
        let apps: [AppName] = reader.elements("bundleIds", atMost: 256) { value in
            guard let text = value.string else {
                return mismatches.none(value, "expected a bundle id or package name, found \(value.summary)")
            }
            do throws(IdentifierError) { return try AppName(text) } catch { return mismatches.none(value, "\(error)") }
        }
        if reader.member("bundleIds")?.array?.isEmpty ?? true {
            reader.note("bundleIds", "expected at least one bundle id or package name")
        }
        return apps
    }

    private mutating func readAudiences(_ preset: IdentityProviderPreset?, _ apps: [AppName]) -> Set<String> {
        guard let value = reader.member("audience") else {
            if preset == .signInWithApple { return Set(apps.map(\.text)) }
            reader.note("audience", "is missing; expected what the tokens' aud has for this service")
            return []
        }
        let texts = value.array.map(Array.init) ?? [value]
        let audiences = texts.compactMap(Self.visible)
        if audiences.isEmpty || audiences.count != texts.count {
            mismatches.add(value, "expected a text, or an array of texts, of 1 to 512 bytes from 0x21 to 0x7E each")
        }
        return Set(audiences)
    }

    // MARK: - What tokens are like

    private mutating func readPolicy(_ policy: inout TokenPolicy) {
        policy.audienceClaim =
            reader.optional("audienceClaim", "the name of a claim", as: Self.visible)
            ?? policy.audienceClaim
        if let listed = readAlgorithms() { policy.algorithms = listed }
        if let type = named("tokenType", TokenType.self) { policy.kind = type.kind }
        policy.requiredScope = reader.optional("requiredScope", "one scope without spaces", as: Self.visible)
        if let claims = readTexts("requiredClaims") {
            policy.requiredClaims.merge(claims.mapValues { [$0] }) { _, own in own }
        }
        if let seconds = readSeconds("maximumLifetime", 60...172_800) { policy.maximumLifetimeSeconds = seconds }
        if let seconds = readSeconds("clockSkew", 0...300) { policy.clockSkewSeconds = seconds }
    }

    private enum TokenType: String, CaseIterable {
        case accessToken = "at+jwt"
        case any
        case idToken

        var kind: TokenPolicy.Kind {
            switch self {
            case .accessToken: .accessToken
            case .any: .any
            case .idToken: .identityToken
            }
        }
    }

    private mutating func readAlgorithms() -> Set<TokenAlgorithm>? {
        guard let value = reader.member("algorithms") else { return nil }
        let mismatches = mismatches
        let algorithms: [TokenAlgorithm] = reader.elements(of: value, atMost: 8) { element in
            let names = TokenAlgorithm.allCases.map(\.rawValue).joined(separator: ", ")
            return element.string.flatMap(TokenAlgorithm.init)
                ?? mismatches.none(element, "expected one of \(names), found \(element.summary)")
        }
        if value.array?.isEmpty == true { mismatches.add(value, "is empty; name at least one, or leave it out") }
        return Set(algorithms)
    }

    private mutating func readSeconds(_ name: StaticString, _ range: ClosedRange<Int64>) -> Int64? {
        reader.optional(name, "a whole number of seconds from \(range.lowerBound) to \(range.upperBound)") { value in
            value.integer.flatMap { range.contains($0) ? $0 : nil }
        }
    }

    private mutating func readTexts(_ name: StaticString) -> [String: String]? {
        reader.optional(name, "an object of texts") { value in
            guard let object = value.object else { return nil }
            let pairs = object.compactMap { member in member.value.string.map { (member.name, $0) } }
            return pairs.count == object.count ? Dictionary(pairs) { first, _ in first } : nil
        }
    }

    // MARK: - What claims are for

    private mutating func readCustomer(_ preset: IdentityProviderPreset?) -> IdentityProvider.CustomerClaim {
        let usual = preset?.customerClaim ?? "sub"
        guard let value = reader.member("customerId") else { return .init(claim: usual, form: .asIs) }
        var own = IdentityProviderReader(
            reader: ObjectReader(value, into: mismatches),
            mismatches: mismatches,
            file: file
        )
        let claim = own.reader.required("claim", "the name of a claim", as: Self.visible)
        let form = own.named("form", IdentityProvider.CustomerClaim.Form.self) ?? .asIs
        own.reader.finish()
        return .init(claim: claim ?? usual, form: form)
    }

    private mutating func readAccountToken() -> IdentityProvider.AccountTokenClaim? {
        guard let value = reader.nullableMember("appAccountToken") else { return nil }
        var own = ObjectReader(value, into: mismatches)
        defer { own.finish() }
        if own.member("derive") == nil {
            return own.required("claim", "the name of a claim, or derive and namespace", as: Self.visible).map {
                .claim($0)
            }
        }
        _ = own.optional("derive", "“uuidv5”") { $0.string(equals: "uuidv5") ? true : nil }
        return own.required("namespace", "a UUID") { $0.string.flatMap { UniqueID($0) } }
            .map { .derived(namespace: $0) }
    }

    private mutating func readAttributes(_ name: StaticString) -> [IdentityProvider.AttributeClaim] {
        guard let value = reader.member(name) else { return [] }
        guard let object = value.object, object.count <= Attributes.limit else {
            mismatches.add(
                value,
                "expected an object of at most \(Attributes.limit) attributes, as churnRisk: \"claim:churn\""
            )
            return []
        }
        return object.compactMap { member in
            guard Attributes.admits(name: member.name), let text = member.value.string, text.hasPrefix("claim:"),
                text.utf8.count > 6
            else { return mismatches.none(member.value, "expected “claim:” and the name of a claim") }
            return .init(attribute: member.name, claim: String(text.dropFirst(6)))
        }
    }

    // MARK: - Texts

    private mutating func named<Value: RawRepresentable<String> & CaseIterable>(
        _ name: StaticString,
        _ type: Value.Type
    ) -> Value? {
        let names = type.allCases.map(\.rawValue)
        return reader.optional(name, "one of \(names.joined(separator: ", "))") { $0.string.flatMap(type.init) }
    }

    private mutating func readURL(_ name: StaticString) -> String? {
        reader.optional(name, "an https address (http for 127.0.0.1 and [::1] alone)") { value in
            value.string.flatMap { ProviderAddress.isAllowed($0) ? $0 : nil }
        }
    }

    static func visible(_ value: JSONValue) -> String? {
        value.string.flatMap { text in
            (1...512).contains(text.utf8.count) && text.utf8.allSatisfy { (0x21...0x7E).contains($0) } ? text : nil
        }
    }

    private static func name(_ value: JSONValue) -> String? {
        value.string.flatMap { $0.utf8.count <= mostNameBytes && CallerID($0) != nil ? $0 : nil }
    }

    /// What follows the scheme, with a hyphen for what a name may not have.
    private static func defaultName(_ issuer: String) -> String {
        let rest = issuer.split(separator: "://", maxSplits: 1).last.map(String.init) ?? issuer
        let named = rest.lowercased().map { character in
            character.isASCII && (character.isLetter || character.isNumber || ".-_".contains(character))
                ? character : "-"
        }
        let trimmed = String(named.drop { $0 == "-" }.reversed().drop { $0 == "-" }.reversed())
        return String(trimmed.prefix(mostNameBytes))
    }

    private static let mostNameBytes = 48
}
