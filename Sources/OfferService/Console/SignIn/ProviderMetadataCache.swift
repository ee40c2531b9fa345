// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import ServiceRuntime
import Stores

/// The discovery documents of providers by which people sign in, each read once for all who ask at the same time.
///
/// A document is good for ten minutes, and a failure for five seconds: people who begin sign-ins cannot make the service ask a
/// provider more often.
final class ProviderMetadataCache: Sendable {
    typealias Source = IdentityProvider.KeySource
    private typealias Outcome = Result<ProviderMetadata, SignInFault>

    private struct Entry {
        let reading: Task<Outcome, Never>
        var goodUntil: Int64
    }

    private let entries = Guarded<[Source: Entry]>([:])
    private let uptime: Uptime
    private let reading: ProviderReading

    init(_ transport: any Transport, uptime: Uptime) {
        self.uptime = uptime
        reading = ProviderReading(transport: transport, timeoutMilliseconds: Self.timeoutMilliseconds)
    }

    /// What the provider's document says, at most ten minutes old.
    func metadata(of source: Source) async throws(SignInFault) -> ProviderMetadata {
        let now = uptime.milliseconds
        let task = entries.withLock { entries in
            if let entry = entries[source], now < entry.goodUntil { return entry.reading }
            // Providers that are no longer in the keys file go, too.
            entries = entries.filter { now < $0.value.goodUntil }
            let task = Task { [self] in await read(source) }
            entries[source] = Entry(reading: task, goodUntil: .max)
            return task
        }
        return try await task.value.get()
    }

    private func read(_ source: Source) async -> Outcome {
        var outcome: Outcome
        do throws(SignInFault) {
            outcome = .success(try await reading.metadata(source))
        } catch {
            outcome = .failure(error)
        }
        let isGood = if case .success = outcome { true } else { false }
        let end = uptime.milliseconds + (isGood ? Self.goodMilliseconds : Self.failureMilliseconds)
        entries.withLock { $0[source]?.goodUntil = end }
        return outcome
    }

    private static let timeoutMilliseconds = 5000
    private static let goodMilliseconds: Int64 = 600_000
    private static let failureMilliseconds: Int64 = 5000
}
