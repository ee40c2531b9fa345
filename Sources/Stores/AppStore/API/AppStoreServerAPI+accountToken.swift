// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
package import Ledger
package import OfferDomain

extension AppStoreServerAPI {
    /// Calls Set App Account Token, for the current period and later ones.
    ///
    /// Repeating the call changes nothing.
    /// `id` must identify an original transaction. After an error, the App Store may still have set the token.
    ///
    /// Source: Apple, [Set App Account Token](https://developer.apple.com/documentation/appstoreserverapi/set-app-account-token).
    ///
    /// - Returns: The environment of the transaction.
    package func setAppAccountToken(
        _ token: UniqueID,
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> StoreEnvironment {
        let deadline = deadline(asking)
        let request = AppStoreRequest(
            endpoint: .setAppAccountToken,
            method: .put,
            path: ["inApps", "v1", "transactions", id.text, "appAccountToken"],
            body: Self.body(setting: token)
        )
        return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
            let _: Done = try await ask(request, asking, in: environment, before: deadline)
            return environment
        }
    }

    private static func body(setting token: UniqueID) -> [UInt8] {
        let body: JSONTree = ["appAccountToken": .text(token.description)]
        return body.bytes
    }
}

/// The answer to a request that changes something: only its status counts.
private struct Done: AppStoreAnswer {
    private init() {}

    init?(_ reader: inout AnswerReader) {}

    static var withoutBody: Done? { Done() }
}
