// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import HTTP
import Stores

/// What `check --live` reports about the identity providers.
package struct IdentityProviderReport: Sendable {
    /// What asking one came to.
    struct Entry: Sendable {
        let provider: IdentityProvider
        let outcome: Result<Reading, ProviderFault>
        /// `nil` if people do not sign in to the console by it.
        let signIn: Result<ProviderMetadata, SignInFault>?
    }

    /// A set of keys, and where it is.
    struct Reading: Sendable {
        let url: String
        let set: TokenKeySet
    }

    private let entries: [Entry]

    /// Asks each provider in turn.
    init(_ providers: IdentityProviders, _ transport: any Transport) async {
        let reading = ProviderReading(transport: transport, timeoutMilliseconds: Self.timeoutMilliseconds)
        var entries: [Entry] = []
        for provider in providers.all {
            let outcome = await reading.wholeSet(of: provider.keySource)
            let signIn = provider.console == nil ? nil : await reading.signIn(provider.keySource)
            entries.append(Entry(provider: provider, outcome: outcome, signIn: signIn))
        }
        self.entries = entries
    }

    private static let timeoutMilliseconds = 10_000

    /// Silence is no fault of the configuration; every other failure is.
    var verdict: LiveVerdict {
        var verdict = LiveVerdict.good
        for entry in entries {
            switch entry.signIn {
            case .failure(.discovery(let fault)) where fault.isSilence: verdict = .unreachable
            case .failure: return .wrong
            case .success, nil: break
            }
            switch entry.outcome {
            case .success(let reading) where Self.usable(reading.set, entry.provider).isEmpty: return .wrong
            case .success: continue
            case .failure(let fault) where fault.isSilence: verdict = .unreachable
            case .failure: return .wrong
            }
        }
        return verdict
    }

    /// One line for each provider, and one for each key that is ignored.
    var lines: [String] {
        ["Identity providers:"]
            + entries.flatMap { entry in
                let keys =
                    switch entry.outcome {
                    case .failure(let fault): ["  \(entry.provider.policy.issuer) \(fault)"]
                    case .success(let reading): Self.lines(reading, entry.provider)
                    }
                return keys + (entry.signIn.map { [Self.line($0, entry.provider)] } ?? [])
            }
    }

    private static func line(_ signIn: Result<ProviderMetadata, SignInFault>, _ provider: IdentityProvider) -> String {
        switch signIn {
        case .success(let metadata):
            "    sign-in to the console at \(metadata.authorizationURL), "
                + "\(metadata.endSessionURL.map { "sign-out at \($0)" } ?? "without a sign-out at the provider"); "
                + "register \(provider.console?.redirectURL ?? "redirectUri") there"
        case .failure(let fault): "    no sign-in to the console: \(provider.policy.issuer) \(fault.detail)"
        }
    }

    private static func lines(_ reading: Reading, _ provider: IdentityProvider) -> [String] {
        let usable = usable(reading.set, provider)
        let issuer = provider.policy.issuer
        let wanted = provider.policy.algorithms.map(\.rawValue).sorted().joined(separator: ", ")
        let first =
            usable.isEmpty
            ? "  \(issuer) publishes no key for \(wanted); compare algorithms in the keys file with \(reading.url)"
            : "  \(issuer): \(usable.count) key\(usable.count == 1 ? "" : "s") for \(wanted), from \(reading.url)"
        let unusable = reading.set.unusable.map { place, fault in
            "    key \(place) of the set is ignored: it \(fault)"
        }
        return [first] + unusable
    }

    private static func usable(_ set: TokenKeySet, _ provider: IdentityProvider) -> [TokenKey] {
        set.keys.filter { !$0.algorithms.isDisjoint(with: provider.policy.algorithms) }
    }
}

extension ProviderFault {
    /// Whether the provider may answer well at another time.
    var isSilence: Bool {
        switch self {
        case .noAnswer: true
        case .status(let status): status >= 500 || status == 429
        default: false
        }
    }
}

extension ProviderReading {
    /// What a sign-in needs of the provider, as a result.
    fileprivate func signIn(_ source: IdentityProvider.KeySource) async -> Result<ProviderMetadata, SignInFault> {
        do throws(SignInFault) { return .success(try await metadata(source)) } catch { return .failure(error) }
    }

    /// The keys, wherever they are.
    func wholeSet(
        of source: IdentityProvider.KeySource
    ) async -> Result<IdentityProviderReport.Reading, ProviderFault> {
        do throws(ProviderFault) {
            let url = try await jwksURL(source)
            guard case .keys(let set, _) = try await keys(url).answer else { throw .status(304) }
            return .success(IdentityProviderReport.Reading(url: url, set: set))
        } catch {
            return .failure(error)
        }
    }
}
