// SPDX-License-Identifier: Apache-2.0
import Configuration
package import Ledger
package import OfferDomain
package import ServiceRuntime

/// Reads which notifications the App Store has sent, and takes in those that never arrived.
///
/// Each page is durable before the next one is requested. A catch-up that ended early can simply start again: the ID
/// identifies each notification that is already recorded.
package struct NotificationCatchUp: Sendable {
    /// What is wanted of one app in one environment.
    package struct Span: Hashable, Sendable {
        /// The app whose notifications are read.
        package let bundleID: BundleID
        /// The environment whose server is asked.
        package let environment: StoreEnvironment
        /// The start of what is read; the end is the time of reading.
        package let since: Timestamp
        /// Only those that Apple could not deliver.
        package let onlyFailures: Bool

        package init(bundleID: BundleID, environment: StoreEnvironment, since: Timestamp, onlyFailures: Bool) {
            self.bundleID = bundleID
            self.environment = environment
            self.since = since
            self.onlyFailures = onlyFailures
        }
    }

    private let api: AppStoreServerAPI
    private let receiver: NotificationReceiver
    private let party: Party
    private let clock: WallClock
    private let pause: Pause

    /// - Parameters:
    ///   - api: Sends the requests.
    ///   - receiver: Takes in what comes.
    ///   - party: The party that the hourly budget is charged to.
    ///   - clock: Gives the end of the requested time span.
    ///   - pause: Waits while the store asks for it, or does not answer.
    package init(
        api: AppStoreServerAPI,
        receiver: NotificationReceiver,
        party: Party,
        clock: WallClock,
        pause: Pause = .system
    ) {
        self.api = api
        self.receiver = receiver
        self.party = party
        self.clock = clock
        self.pause = pause
    }

    /// How long Apple keeps notifications.
    package static let keptDays = 180
    /// Twenty notifications each; more would be an answer without end.
    private static let mostPages = 200_000

    /// Reads to the end, or to the first obstacle, which the tally then contains.
    ///
    /// `progress` is called after each page.
    package func run(
        _ span: Span,
        under context: EvidenceContext,
        progress: (CatchUpTally) -> Void = { _ in }
    ) async -> CatchUpTally {
        let query = NotificationHistoryQuery(from: span.since, to: clock.now(), onlyFailures: span.onlyFailures)
        var tally = CatchUpTally(span: span)
        var next: String?
        var earlier: [NotificationHistory.Item] = []
        for _ in 0..<Self.mostPages {
            do throws(StoreError) {
                let page = try await page(query, from: next, span)
                guard page.items.isEmpty || page.items != earlier else {
                    throw .badAnswer(reason: "a page is the one before it")
                }
                earlier = page.items
                await take(page.items, under: context, into: &tally)
                guard tally.obstacle == nil else { return tally }
                progress(tally)
                next = page.nextPage
            } catch {
                tally.obstacle = .store(error)
                return tally
            }
            guard next != nil else { return tally }
        }
        tally.obstacle = .store(.badAnswer(reason: "its pages have no end"))
        return tally
    }

    // MARK: - Asking

    private func page(
        _ query: NotificationHistoryQuery,
        from page: String?,
        _ span: Span
    ) async throws(StoreError) -> NotificationHistory {
        let asking = AppStoreAsking(bundleID: span.bundleID, party: party, environment: span.environment)
        var failures = 0
        while true {
            do throws(StoreError) {
                return try await api.notificationHistory(
                    query,
                    from: page,
                    mostPages: 1,
                    in: span.environment,
                    asking
                )
            } catch {
                guard let wait = waitMilliseconds(after: failures, error) else { throw error }
                failures += 1
                await pause(milliseconds: wait)
            }
        }
    }

    /// How long to wait before the same page is requested again; `nil` if a retry is useless or the wait is too long.
    private func waitMilliseconds(after failures: Int, _ error: StoreError) -> Int64? {
        switch error {
        case .unavailable, .rateLimited, .budgetSpent: break
        default: return nil
        }
        guard failures < Self.waits.count else { return nil }
        guard let time = error.retryAfter else { return Self.waits[failures] }
        let wait = max(time.milliseconds - clock.now().milliseconds, 1000)
        return wait <= Self.longestWait ? wait : nil
    }

    /// The pauses if the store names no time; after the last one, the operator has to start again.
    private static let waits: [Int64] = [2000, 5000, 15_000, 30_000]
    private static let longestWait: Int64 = 900_000

    // MARK: - Taking in

    private enum Outcome: Sendable {
        case absorbed(Absorption)
        case refused(NotificationRefusal)
    }

    /// Retries for a while after a temporary fault, such as an unknown revocation status.
    private func take(_ signedPayload: [UInt8], under context: EvidenceContext) async -> Outcome {
        var attempts = 0
        while true {
            attempts += 1
            do throws(NotificationRefusal) {
                return .absorbed(
                    try await receiver.receive(
                        signedPayload,
                        relayed: context.relayedStores.contains(.appStore) ? Self.body(signedPayload) : nil,
                        from: .service,
                        under: context,
                        at: clock.now()
                    )
                )
            } catch {
                guard case .unacceptable(let fault) = error, fault.isTemporary, attempts < Self.mostAttempts else {
                    return .refused(error)
                }
                await pause(milliseconds: 500)
            }
        }
    }

    private static let mostAttempts = 20

    /// What the App Store would have sent.
    private static func body(_ signedPayload: [UInt8]) -> [UInt8] {
        Array(#"{"signedPayload":""#.utf8) + signedPayload + Array(#""}"#.utf8)
    }

    /// All of a page at once, so that they are committed together.
    private func take(
        _ items: [NotificationHistory.Item],
        under context: EvidenceContext,
        into tally: inout CatchUpTally
    ) async {
        let outcomes = await withTaskGroup(of: Outcome.self) { group in
            for item in items { group.addTask { await take(item.signedPayload.bytes, under: context) } }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for outcome in outcomes {
            switch outcome {
            case .absorbed(.recorded): tally.recorded += 1
            case .absorbed(.repeated): tally.repeated += 1
            case .refused(.unacceptable(let fault)) where fault.isTemporary:
                tally.obstacle = .store(.unavailable(retryAfter: nil))
            case .refused(.unacceptable(let fault)):
                tally.refused[fault.label, default: CatchUpTally.Refused(fault.description)].count += 1
            case .refused(.notExamined): tally.refused["not-examined", default: CatchUpTally.Refused("")].count += 1
            case .refused(.notRecorded(let error)): tally.obstacle = .ledger(error)
            }
        }
    }
}

/// What came of reading the notifications of one app in one environment.
package struct CatchUpTally: Sendable {
    /// What was to be read.
    package let span: NotificationCatchUp.Span
    /// Those that were missing.
    package var recorded = 0
    /// Those that were on record already.
    package var repeated = 0
    /// Those that are not as they must be, by the label of the reason.
    package var refused: [String: Refused] = [:]
    /// What kept it from reading on; `nil` if it came to the end.
    package var obstacle: Obstacle?

    /// Notifications that were refused for the same reason.
    package struct Refused: Hashable, Sendable {
        package fileprivate(set) var count = 0
        /// A sentence, of the first one.
        package let reason: String

        fileprivate init(_ reason: String) {
            self.reason = reason
        }
    }

    /// What ended the reading before its end.
    package enum Obstacle: Sendable {
        case store(StoreError)
        case ledger(LedgerError)
    }

    fileprivate init(span: NotificationCatchUp.Span) {
        self.span = span
    }

    /// How many notifications were read, whatever came of them.
    package var read: Int { recorded + repeated + refused.values.map(\.count).reduce(0, +) }

    /// Whether it would come further by itself if it were begun again later.
    package var mayComeFurtherLater: Bool {
        switch obstacle {
        case .store(.unavailable), .store(.rateLimited), .store(.budgetSpent), .store(.cancelled), .ledger: true
        case .store, nil: false
        }
    }
}
