// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
package import Ledger
package import OfferDomain
import ServiceRuntime

extension AppStoreServerAPI {
    /// Calls Get All Subscription Statuses, for all subscriptions of the transaction's customer.
    package func subscriptionStatuses(
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> Answered<SubscriptionStatuses> {
        try await statuses.answer(to: question(.subscriptionStatuses, id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(.subscriptionStatuses, id, asking, ["inApps", "v1", "subscriptions", id.text]) { $0 }
            }
        }
    }

    /// Get Transaction Info: one transaction.
    package func transactionInfo(
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> Answered<UnverifiedJWS> {
        try await signedTexts.answer(to: question(.transactionInfo, id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(.transactionInfo, id, asking, ["inApps", "v1", "transactions", id.text]) {
                    (answer: SignedTransactionAnswer) in answer.jws
                }
            }
        }
    }

    /// Get App Transaction Info: the download of the app that the transaction belongs to.
    package func appTransactionInfo(
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> Answered<UnverifiedJWS> {
        let path = ["inApps", "v1", "transactions", "appTransactions", id.text]
        return try await signedTexts.answer(to: question(.appTransactionInfo, id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(.appTransactionInfo, id, asking, path) { (answer: SignedAppTransactionAnswer) in
                    answer.jws
                }
            }
        }
    }

    /// Calls Get Transaction History, version 2, for all pages up to the limit.
    ///
    /// `id` is any transaction of the customer. `revision` comes from an earlier history with the same filter and
    /// selects what has changed since.
    package func transactionHistory(
        of id: TransactionID,
        _ asking: AppStoreAsking,
        _ filter: TransactionHistoryFilter = TransactionHistoryFilter(),
        since revision: String? = nil
    ) async throws(StoreError) -> Answered<TransactionHistory> {
        var question = question(.transactionHistory, id, asking)
        question.filter = filter
        question.revision = revision
        return try await histories.answer(to: question) { [self] in
            await outcome { () throws(StoreError) in
                let deadline = deadline(asking)
                return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
                    let history = try await pages(of: id, filter, revision, environment, asking, deadline)
                    return Answered(history, environment: environment, answeredAt: clock.now())
                }
            }
        }
    }

    /// Calls Get Notification History, for all pages up to the limit, from the first or from an earlier answer's end.
    ///
    /// `mostPages` can lower that limit.
    package func notificationHistory(
        _ query: NotificationHistoryQuery,
        from page: String? = nil,
        mostPages: Int = .max,
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> NotificationHistory {
        let deadline = deadline(asking)
        var items: [NotificationHistory.Item] = []
        var next = page
        for _ in 0..<min(mostPages, maximumPages) {
            let page: NotificationHistory = try await askThere(
                .notificationHistory,
                in: environment,
                asking,
                before: deadline,
                .post,
                path: ["inApps", "v1", "notifications", "history"],
                query: next.map { [("paginationToken", $0)] } ?? [],
                body: query.body
            )
            items += page.items
            for member in page.unreadable { leftOut(member, asking.bundleID, environment) }
            guard page.nextPage != next || next == nil else { throw .badAnswer(reason: "a page leads to itself") }
            next = page.nextPage
            if next == nil { break }
        }
        return NotificationHistory(items: items, nextPage: next)
    }

    /// Request a Test Notification: the App Store sends one to the URL that is set for the app.
    package func requestTestNotification(
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> TestNotificationToken {
        let answer: TestNotificationAnswer = try await askThere(
            .requestTestNotification,
            in: environment,
            asking,
            before: deadline(asking),
            .post,
            path: ["inApps", "v1", "notifications", "test"]
        )
        return answer.token
    }

    /// Get Test Notification Status: whether it arrived.
    package func testNotificationStatus(
        of token: TestNotificationToken,
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> TestNotificationStatus {
        try await askThere(
            .testNotificationStatus,
            in: environment,
            asking,
            before: deadline(asking),
            path: ["inApps", "v1", "notifications", "test", token.text]
        )
    }

    // MARK: - Parts

    /// A question about an app in one environment, where a refusal of the key ends it.
    private func askThere<Answer: AppStoreAnswer>(
        _ endpoint: AppStoreEndpoint,
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking,
        before deadline: Deadline,
        _ method: HTTP.Method = .get,
        path: [String],
        query: [(name: String, value: String)] = [],
        body: [UInt8] = []
    ) async throws(StoreError) -> Answer {
        do throws(StoreError) {
            return try await ask(
                endpoint,
                in: environment,
                asking,
                before: deadline,
                method,
                path: path,
                query: query,
                body: body
            )
        } catch {
            if error == .credentialsRefused { refused(asking.bundleID, environment) }
            throw error
        }
    }

    private func question(
        _ endpoint: AppStoreEndpoint,
        _ id: TransactionID,
        _ asking: AppStoreAsking
    ) -> Question {
        Question(endpoint: endpoint, transactionID: id, bundleID: asking.bundleID, environment: asking.environment)
    }

    /// A question of one request, wherever the transaction is.
    private func one<Read: AppStoreAnswer, Answer: Hashable & Sendable>(
        _ endpoint: AppStoreEndpoint,
        _ id: TransactionID,
        _ asking: AppStoreAsking,
        _ path: [String],
        _ take: (Read) -> Answer
    ) async throws(StoreError) -> Answered<Answer> {
        let deadline = deadline(asking)
        return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
            let read: Read = try await ask(endpoint, in: environment, asking, before: deadline, path: path)
            return Answered(take(read), environment: environment, answeredAt: clock.now())
        }
    }

    private func pages(
        of id: TransactionID,
        _ filter: TransactionHistoryFilter,
        _ revision: String?,
        _ environment: StoreEnvironment,
        _ asking: AppStoreAsking,
        _ deadline: Deadline
    ) async throws(StoreError) -> TransactionHistory {
        var (signed, next, appAppleID): ([UnverifiedJWS], String?, Int64?) = ([], revision, nil)
        var unreadable: [String] = []
        for _ in 0..<maximumPages {
            let page: TransactionHistoryPage = try await ask(
                .transactionHistory,
                in: environment,
                asking,
                before: deadline,
                path: ["inApps", "v2", "history", id.text],
                query: filter.query + (next.map { [("revision", $0)] } ?? [])
            )
            signed += page.signedTransactions
            unreadable += page.unreadable
            appAppleID = page.appAppleID ?? appAppleID
            guard page.hasMore else {
                return history(appAppleID, signed, unreadable, page.revision ?? next, isComplete: true)
            }
            guard let following = page.revision, following != next else {
                throw .badAnswer(reason: "a page leads nowhere or to itself")
            }
            next = following
        }
        return history(appAppleID, signed, unreadable, next, isComplete: false)
    }

    private func history(
        _ appAppleID: Int64?,
        _ signed: [UnverifiedJWS],
        _ unreadable: [String],
        _ revision: String?,
        isComplete: Bool
    ) -> TransactionHistory {
        TransactionHistory(
            appAppleID: appAppleID,
            signedTransactions: signed,
            revision: revision,
            isComplete: isComplete,
            unreadable: unreadable
        )
    }
}

extension NotificationHistoryQuery {
    fileprivate var body: [UInt8] {
        let query: JSONTree = [
            "startDate": .integer(startsAt.milliseconds),
            "endDate": .integer(endsAt.milliseconds),
            "notificationType": notificationType.map { .text($0) },
            "notificationSubtype": subtype.map { .text($0) },
            "transactionId": transactionID.map { .text($0.text) },
            "onlyFailures": onlyFailures ? .boolean(true) : nil,
        ]
        return query.bytes
    }
}

/// What came of it, as a value.
private func outcome<Answer: Sendable>(
    _ body: () async throws(StoreError) -> Answer
) async -> Result<Answer, StoreError> {
    do throws(StoreError) {
        return .success(try await body())
    } catch {
        return .failure(error)
    }
}
