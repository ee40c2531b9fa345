// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
package import Ledger
package import OfferDomain

extension AppStoreServerAPI {
    /// Set App Account Token: of the current period and later ones.
    ///
    /// A repetition changes nothing.
    /// `id` must be that of an original transaction. Where there is an error, the App Store may have set it all the same.
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
        return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
            let _: Done = try await ask(
                .setAppAccountToken,
                in: environment,
                asking,
                before: deadline,
                .put,
                path: ["inApps", "v1", "transactions", id.text, "appAccountToken"],
                body: Self.body(setting: token)
            )
            return environment
        }
    }

    private static func body(setting token: UniqueID) -> [UInt8] {
        let body: JSONTree = ["appAccountToken": .text(token.description)]
        return body.bytes
    }
}

/// The answer to what changes something: its status says it all.
private struct Done: AppStoreAnswer {
    private init() {}

    init?(_ reader: inout AnswerReader) {}

    static var withoutBody: Done? { Done() }
}
