// SPDX-License-Identifier: Apache-2.0
import OfferDomain
package import ServiceRuntime

/// All witnesses of the log, each asked by itself.
package final class Witnesses: Sendable {
    /// What one of them is like now.
    package struct Report: Sendable {
        /// Whether the witness has signed what there is.
        ///
        /// It is `refused` if the witness says no, and `unreachable` if there is no answer of use.
        package enum State: String, CaseIterable, Sendable {
            case current, behind, refused, unreachable
        }

        /// The witness's name in the policy.
        package let name: String
        /// How many entries the witness has signed; 0 if it never signed.
        package let size: Int64
        /// Seconds since 1970, as it says; nil if it never signed.
        package let cosignedSeconds: Int64?
        /// `behind` before the first signature, and if the witness has not signed a checkpoint within 5 s.
        package let state: State
        /// A sentence's end that says why.
        package let detail: String
    }

    private let policy: LogPolicy
    private let links: [WitnessLink]
    private let clock: WallClock

    /// Contacts no witness before ``start()``.
    ///
    /// `stored` is what the witnesses signed in earlier runs; `storedNow` is what they have by now, for all instances.
    package init(
        _ policy: LogPolicy,
        stored: [CheckpointTable.StoredCosignature],
        storedNow: @escaping @Sendable () -> [CheckpointTable.StoredCosignature],
        context: WitnessContext
    ) {
        self.policy = policy
        clock = context.clock
        links = policy.witnesses.map { witness in
            var progress = WitnessLink.Progress()
            let name = witness.key.description
            if let found = stored.first(where: { $0.witness == name }) {
                progress.cosigned = (found.size, found.seconds)
                progress.held = found.size
            }
            return WitnessLink(
                witness,
                progress: progress,
                stored: { storedNow().first { $0.witness == name }.map { ($0.size, $0.seconds) } },
                context: context
            )
        }
    }

    /// Starts the threads of all witnesses.
    package func start() {
        for link in links { link.start() }
    }

    /// Waits for the answers that are on their way.
    package func stop() {
        for link in links { link.stop() }
    }

    /// Has each witness asked to sign the latest checkpoint.
    package func checkpointPublished() {
        let now = clock.now()
        for link in links { link.checkpointPublished(at: now) }
    }

    /// How long a witness may take before it is called behind.
    package static let patienceSeconds = 5

    /// What each witness is like now, in the order of the policy.
    package var reports: [Report] {
        let now = clock.now()
        return links.map { link in
            let progress = link.progress
            let (state, detail) = Self.state(progress, at: now)
            return Report(
                name: link.witness.name,
                size: progress.cosigned?.size ?? 0,
                cosignedSeconds: progress.cosigned?.seconds,
                state: state,
                detail: detail
            )
        }
    }

    private static func state(_ progress: WitnessLink.Progress, at now: Timestamp) -> (Report.State, String) {
        if let fault = progress.fault { return (fault.isRefusal ? .refused : .unreachable, fault.reason) }
        guard let since = progress.behindSince, now >= since.adding(seconds: patienceSeconds) else {
            return progress.cosigned == nil ? (.behind, "it has not signed yet") : (.current, "it signs")
        }
        return (.behind, "it has not signed what there is since \(since)")
    }

    /// Whether those that sign what there is are enough for the policy.
    package var isQuorumMet: Bool {
        policy.isMet(by: Set(reports.filter { $0.state == .current }.map(\.name)))
    }

    /// For the metrics.
    package var gauges: [Gauge] { Self.gauges(of: reports) }

    /// For the metrics of a service that may have no witnesses.
    package static func gauges(of reports: [Report]) -> [Gauge] {
        let states = reports.flatMap { report in
            Report.State.allCases.map { state in
                Gauge.Sample(
                    state == report.state ? 1 : 0,
                    labels: [("witness", report.name), ("state", state.rawValue)]
                )
            }
        }
        return [
            Gauge(
                "offer_signer_witness_size",
                help: "Entries of the audit log that each witness has signed",
                reports.map { Gauge.Sample(Double($0.size), labels: [("witness", $0.name)]) }
            ),
            Gauge("offer_signer_witness_state", help: "1 for the state that each witness is in", states),
        ]
    }
}
