// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import OfferService
import Synchronization

@testable import Ledger
@testable import Stores

/// Google Play as a test scripts it: an answer for each token, and a list of who may push.
final class ScriptedPlay: GooglePlayPurchaseSource, GooglePushAuthentication, Sendable {
    private struct State {
        var answers: [String: Result<GooglePlayPurchaseAnswer, StoreError>] = [:]
        var asked: [String] = []
    }

    private let state = Mutex(State())

    /// The tokens that it was asked about, in their order.
    var asked: [String] { state.withLock(\.asked) }

    func answer(_ token: String, _ sample: PlaySample) throws {
        let purchase = try sample.purchase()
        answer(token, .success(.purchase(purchase)))
    }

    func answer(_ token: String, _ answer: Result<GooglePlayPurchaseAnswer, StoreError>) {
        state.withLock { $0.answers[token] = answer }
    }

    func purchase(
        _ token: PurchaseToken,
        of packageName: PackageName,
        for party: Party?
    ) async throws(StoreError) -> GooglePlayPurchaseAnswer {
        try state.withLock { state in
            state.asked.append(token.text)
            return state.answers[token.text] ?? .success(.notFound)
        }.get()
    }

    /// Takes the token `genuine`, and can't tell while it is given `no-keys`.
    func identify(_ headers: HeaderFields) async throws(GooglePushRefusal) {
        switch headers.only("Authorization").map({ String(decoding: $0, as: UTF8.self) }) {
        case "Bearer genuine": return
        case "Bearer no-keys": throw .keysUnavailable
        case nil: throw .refused(label: "authorization-missing")
        default: throw .refused(label: "signature-wrong")
        }
    }
}
