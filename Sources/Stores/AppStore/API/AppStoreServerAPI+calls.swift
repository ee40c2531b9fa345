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
        let path = ["inApps", "v1", "subscriptions", id.text]
        let request = AppStoreRequest(endpoint: .subscriptionStatuses, path: path)
        return try await statuses.answer(to: question(.subscriptionStatuses, about: id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(request, about: id, asking) { $0 }
            }
        }
    }

    /// Get Transaction Info: one transaction.
    package func transactionInfo(
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> Answered<UnverifiedJWS> {
        let path = ["inApps", "v1", "transactions", id.text]
        let request = AppStoreRequest(endpoint: .transactionInfo, path: path)
        return try await signedTexts.answer(to: question(.transactionInfo, about: id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(request, about: id, asking) { (answer: SignedTransactionAnswer) in answer.jws }
            }
        }
    }

    /// Get App Transaction Info: the download of the app that the transaction belongs to.
    package func appTransactionInfo(
        of id: TransactionID,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> Answered<UnverifiedJWS> {
        let path = ["inApps", "v1", "transactions", "appTransactions", id.text]
        let request = AppStoreRequest(endpoint: .appTransactionInfo, path: path)
        return try await signedTexts.answer(to: question(.appTransactionInfo, about: id, asking)) { [self] in
            await outcome { () throws(StoreError) in
                try await one(request, about: id, asking) { (answer: SignedAppTransactionAnswer) in answer.jws }
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
        let question = Question(
            endpoint: .transactionHistory,
            transactionID: id,
            bundleID: asking.bundleID,
            environment: asking.environment,
            filter: filter,
            revision: revision
        )
        return try await histories.answer(to: question) { [self] in
            await outcome { () throws(StoreError) in
                let deadline = deadline(asking)
                return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
                    let history = try await pages(for: question, asking, in: environment, before: deadline)
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
            let request = AppStoreRequest(
                endpoint: .notificationHistory,
                method: .post,
                path: ["inApps", "v1", "notifications", "history"],
                query: next.map { [("paginationToken", $0)] } ?? [],
                body: query.body
            )
            let page: NotificationHistory = try await askThere(request, asking, in: environment, before: deadline)
            items += page.items
            for member in page.unreadable { leftOut(member, of: asking.bundleID, in: environment) }
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
        let request = AppStoreRequest(
            endpoint: .requestTestNotification,
            method: .post,
            path: ["inApps", "v1", "notifications", "test"]
        )
        let answer: TestNotificationAnswer = try await askThere(
            request,
            asking,
            in: environment,
            before: deadline(asking)
        )
        return answer.token
    }

    /// Get Test Notification Status: whether it arrived.
    package func testNotificationStatus(
        of token: TestNotificationToken,
        in environment: StoreEnvironment,
        _ asking: AppStoreAsking
    ) async throws(StoreError) -> TestNotificationStatus {
        let request = AppStoreRequest(
            endpoint: .testNotificationStatus,
            path: ["inApps", "v1", "notifications", "test", token.text]
        )
        return try await askThere(request, asking, in: environment, before: deadline(asking))
    }

    // MARK: - Parts

    /// A question about an app in one environment, where a refusal of the key ends it.
    private func askThere<Answer: AppStoreAnswer>(
        _ request: AppStoreRequest,
        _ asking: AppStoreAsking,
        in environment: StoreEnvironment,
        before deadline: Deadline
    ) async throws(StoreError) -> Answer {
        do throws(StoreError) {
            return try await ask(request, asking, in: environment, before: deadline)
        } catch {
            if error == .credentialsRefused { refused(asking.bundleID, environment) }
            throw error
        }
    }

    private func question(
        _ endpoint: AppStoreEndpoint,
        about id: TransactionID,
        _ asking: AppStoreAsking
    ) -> Question {
        Question(endpoint: endpoint, transactionID: id, bundleID: asking.bundleID, environment: asking.environment)
    }

    /// A question of one request, wherever the transaction is.
    private func one<Read: AppStoreAnswer, Answer: Hashable & Sendable>(
        _ request: AppStoreRequest,
        about id: TransactionID,
        _ asking: AppStoreAsking,
        take: (Read) -> Answer
    ) async throws(StoreError) -> Answered<Answer> {
        let deadline = deadline(asking)
        return try await inItsEnvironment(id, asking) { environment throws(StoreError) in
            let read: Read = try await ask(request, asking, in: environment, before: deadline)
            return Answered(take(read), environment: environment, answeredAt: clock.now())
        }
    }

    private func pages(
        for question: Question,
        _ asking: AppStoreAsking,
        in environment: StoreEnvironment,
        before deadline: Deadline
    ) async throws(StoreError) -> TransactionHistory {
        var (signed, next, appAppleID): ([UnverifiedJWS], String?, Int64?) = ([], question.revision, nil)
        var unreadable: [String] = []
        var isComplete = false
        let path = ["inApps", "v2", "history", question.transactionID.text]
        for _ in 0..<maximumPages {
            var request = AppStoreRequest(endpoint: question.endpoint, path: path)
            request.query = question.filter?.query ?? []
            if let next { request.query.append(("revision", next)) }
            let page: TransactionHistoryPage = try await ask(request, asking, in: environment, before: deadline)
            signed += page.signedTransactions
            unreadable += page.unreadable
            appAppleID = page.appAppleID ?? appAppleID
            guard page.hasMore else {
                next = page.revision ?? next
                isComplete = true
                break
            }
            guard let following = page.revision, following != next else {
                throw .badAnswer(reason: "a page leads nowhere or to itself")
            }
            next = following
        }
        return TransactionHistory(
            appAppleID: appAppleID,
            signedTransactions: signed,
            revision: next,
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
