// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

/// Entries of changes of app account tokens.
extension AuditEntry {
    static func details(of change: AccountTokenChange, _ answer: Result<StoreEnvironment, StoreError>?) -> [Member] {
        switch answer {
        case nil:
            subject(of: change) + [
                ("caller", .text(change.callerID.text)),
                ("users", .list([change.customer, change.token].map { .text($0.text) })),
            ]
        case .success(let environment):
            subject(of: change) + [("env", .text(environment.rawValue)), ("outcome", .text("set"))]
        case .failure(let error):
            subject(of: change) + [("outcome", .text(error.label))]
                + (error.storeCode.map { [("code", .integer($0))] } ?? [])
        }
    }

    private static func subject(of change: AccountTokenChange) -> [Member] {
        [
            ("bundle", .text(change.bundleID.text)), ("chain", .text(text(ofKey: change.chain.bytes))),
            ("rid", .text(change.requestID.description)),
        ]
    }
}
