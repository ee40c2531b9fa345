// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import JSON
import Ledger
import OfferDomain
import ServiceRuntime

/// Logs one line for each decision and each refusal: the caller, the offer, the outcome, the reason, and the duration.
///
/// The service writes the reasons itself; they contain no customer data from a request. Lines that unauthenticated
/// clients or an app's public key can cause are limited, so that they cannot fill a disk.
struct DecisionLog: Sendable {
    private let log: Log
    private let clock: WallClock
    private let unauthenticatedLines = LineBudget(perSecond: 50)

    init(_ runtime: Runtime) {
        (log, clock) = (runtime.log, runtime.clock)
    }

    /// Logs a decision that is answered with 200.
    func granted(_ offer: String, _ outcome: Outcome, in context: RequestContext) {
        guard isShown(context.caller) else { return }
        log(
            .info,
            "decided",
            with: [
                "caller": .text(context.caller.id.text), "offer": .text(offer), "outcome": .text(outcome.rawValue),
                "reason": outcome == .eligible ? "every rule is met" : "a rule is not met",
                "milliseconds": milliseconds(since: context.receivedAt), "request": .id(context.id),
            ],
            tone: outcome == .eligible ? .good : .refused
        )
    }

    /// A preview of several offers.
    func previewed(_ offerPreviews: [EligibilityPreview], in context: RequestContext) {
        guard isShown(context.caller) else { return }
        let available = offerPreviews.filter(\.canBeHad).map(\.offer.id.text)
        let shown = available.prefix(5).joined(separator: " ") + (available.count > 5 ? " …" : "")
        log(
            .info,
            "eligibility answered",
            with: [
                "caller": .text(context.caller.id.text), "offer": .text(shown.isEmpty ? "none" : shown),
                "outcome": "previewed",
                "reason": .text("\(available.count) of \(offerPreviews.count) offers can be had"),
                "milliseconds": milliseconds(since: context.receivedAt), "request": .id(context.id),
            ],
            tone: available.isEmpty ? .refused : .good
        )
    }

    /// Logs a refusal that was decided about a known caller and offer.
    func refused(_ refusal: Refusal, _ offer: String, in context: RequestContext) {
        guard refusal.isOfDecision, isShown(context.caller) else { return }
        let (outcome, reason) = refusal.outcome
        log(
            .info,
            "refused",
            with: [
                "caller": .text(context.caller.id.text), "offer": .text(offer), "outcome": .text(outcome),
                "reason": .text(reason), "milliseconds": milliseconds(since: context.receivedAt),
                "request": .id(context.id),
            ],
            tone: .refused
        )
    }

    /// What came of each request of a batch.
    func decided(
        _ batch: SignatureBatch,
        _ results: [Result<SignedOffer, Refusal>],
        in context: RequestContext
    ) {
        guard isShown(context.caller) else { return }
        for (item, result) in zip(batch.items, results) {
            let own = context.item(item.id, item.idempotency)
            let offer = (try? item.request.get())?.offerName ?? "unreadable"
            switch result {
            case .success: granted(offer, .eligible, in: own)
            case .failure(let refusal) where refusal.isOfDecision:
                refused(refusal, offer, in: own)
            case .failure(let refusal):
                let (caller, start) = (context.caller, context.receivedAt)
                refused(refusal, at: .offers(.promotionalOfferBatch), to: caller, requestID: item.id, since: start)
            }
        }
    }

    /// Logs any other refusal, for any caller.
    func refused(
        _ refusal: Refusal,
        at route: Route,
        to caller: Caller?,
        requestID: UniqueID,
        since start: Timestamp
    ) {
        guard !refusal.isOfDecision || !route.decides, isShown(caller) else { return }
        let problem = Problem(refusal)
        log(
            .info,
            "request refused",
            with: [
                "caller": .text(caller?.id.text ?? "unknown"), "route": .text(route.path),
                "status": .integer(Int64(problem.status)), "outcome": .text(problem.name),
                "reason": .text(refusal.loggedReason ?? problem.title), "milliseconds": milliseconds(since: start),
                "request": .id(requestID),
            ],
            tone: .refused
        )
    }

    private func isShown(_ caller: Caller?) -> Bool {
        if let caller, caller.role != .app { return true }
        return unauthenticatedLines.admits(at: clock.now())
    }

    private func milliseconds(since start: Timestamp) -> LogValue {
        .integer(max(0, clock.now().milliseconds - start.milliseconds))
    }
}

extension Route {
    /// Whether its calls log each decision themselves.
    fileprivate var decides: Bool {
        switch self {
        case .offers, .compatibility: true
        default: false
        }
    }
}

extension Refusal {
    /// Whether it came of what was decided about an offer, or in the course of that.
    fileprivate var isOfDecision: Bool {
        switch self {
        case .decision, .service: true
        case .request, .caller: false
        }
    }

    /// What came of it, and why, in a sentence.
    fileprivate var outcome: (name: String, reason: String) {
        if case .decision(.notEligible(let outcome, let decision, _)) = self {
            return (outcome.rawValue, decision.firstReason)
        }
        let problem = Problem(self)
        return (problem.name, problem.detail)
    }

    /// The first unexpected member, if its name is known to the service; the value sent is never logged.
    fileprivate var loggedReason: String? {
        switch self {
        case .request(.invalid(let mismatches, _)):
            let known = mismatches.filter {
                !$0.message.hasPrefix("is not a known member") && !$0.pointer.hasPrefix("/attributes")
            }
            guard let first = known.first?.pointer, !first.isEmpty else { return nil }
            return "\(first) is not as expected"
        case .caller(.bundleNotAllowed(let app)): return "the caller's key is not for \(app.text)"
        case .caller(.unauthenticated): return "no valid API key"
        case .caller(.tokenRefused(let fault, _)): return fault.label
        default: return nil
        }
    }
}

/// A limit of log lines a second, for lines that unauthenticated clients can cause.
final class LineBudget: Sendable {
    private let perSecond: Int
    private let spent = Guarded((second: Int64(0), count: 0))

    init(perSecond: Int) { self.perSecond = perSecond }

    func admits(at now: Timestamp) -> Bool {
        let second = now.milliseconds / 1000
        return spent.withLock { spent in
            if spent.second != second { spent = (second, 0) }
            spent.count += 1
            return spent.count <= perSecond
        }
    }
}
