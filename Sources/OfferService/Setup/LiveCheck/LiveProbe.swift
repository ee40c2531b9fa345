// SPDX-License-Identifier: Apache-2.0
import HTTP
import OfferDomain
import ServiceRuntime
import Stores

/// Asks the App Store Server API once for a transaction ID that does not exist, which is harmless.
///
/// The store knows nothing of that transaction, but its answer shows whether it accepts the token.
/// Source: Apple, [Get Transaction Info](https://developer.apple.com/documentation/appstoreserverapi/get-transaction-info).
struct LiveProbe: Sendable {
    static let transactionID = "1"

    let transport: any Transport
    let clock: WallClock

    func ask(_ environment: StoreEnvironment, at origin: Origin, with token: SignedToken) async -> LiveAnswer {
        let (began, stopwatch) = (clock.now(), clock.stopwatch())
        let result = await send(origin, token)
        let milliseconds = stopwatch.microseconds / 1000
        switch result {
        case .failure(let error):
            return LiveAnswer(
                environment: environment,
                origin: origin,
                outcome: .notReached(error),
                milliseconds: milliseconds
            )
        case .success(let response):
            let middle = began.adding(milliseconds: milliseconds / 2)
            let date = response.headers.first("date").flatMap { httpDate(String(decoding: $0, as: UTF8.self)) }
            return LiveAnswer(
                environment: environment,
                origin: origin,
                outcome: LiveAnswer.Outcome(response),
                milliseconds: milliseconds,
                skewSeconds: date.map { Int(middle.seconds - $0.seconds) }
            )
        }
    }

    private func send(_ origin: Origin, _ token: SignedToken) async -> Result<ClientResponse, ClientError> {
        var headers = HeaderFields()
        headers.append("Authorization", "Bearer \(token.text)")
        headers.append("Accept", "application/json")
        do throws(ClientError) {
            let path = ["inApps", "v1", "transactions", Self.transactionID]
            return .success(try await transport.send(try ClientRequest(.get, origin, path: path, headers: headers)))
        } catch {
            return .failure(error)
        }
    }
}
