// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The fake App Store, as curl, openssl and PyJWT see it: what it is trusted with in other tests.
    @Suite(.ring(.check)) struct FakeAppStoreTests {
        private let store: FakeAppStore
        private let client: FakeAppStoreClient

        /// One for all tests, which take turns.
        private static let shared = Task {
            let store = try FakeAppStore()
            return (store, try await FakeAppStoreClient(store))
        }

        init() async throws {
            (store, client) = try await Self.shared.value
            try store.reset()
        }

        /// What the checker says of signed data, by name.
        private func check(_ signed: [(name: String, jws: String)]) async throws -> [String: Verdict] {
            let folder = try TemporaryDirectory()
            let lines = try signed.map { name, jws in
                "\(name) \(String(decoding: try JSONEncoder().encode(jws), as: UTF8.self))\n"
            }
            let input = try folder.write(Array(lines.joined().utf8), to: "input")
            let outcome = try await runProcess(
                [Program.python, "-B", Program.checker("signed_data"), store.rootPEMPath],
                input: input
            )
            #expect(outcome.succeeded, "\(outcome)")
            return try JSONDecoder().decode([String: Verdict].self, from: Data(outcome.output.utf8))
        }

        @Test func `what it signs is right for openssl and PyJWT`() async throws {
            let ids = try store.setCustomer(.init("anna", subscriptions: [.init(.active)]))
            let id = ids.subscriptions[0].originalTransactionID
            let notification = FakeAppStore.Notification("DID_RENEW", transactionID: id)
            let verdicts = try await check([
                ("transaction", store.signTransaction(id)),
                ("renewalInfo", store.signRenewalInfo(id)),
                ("appTransaction", store.signAppTransaction(customer: "anna")),
                ("notification", store.signNotification(notification).jws),
                ("realtimeRequest", store.signRealtimeRequest(id).jws),
                ("payload", store.signPayload(["originalTransactionId": "7"])),
            ])
            #expect(verdicts.count == 6)
            for (name, verdict) in verdicts { #expect(verdict.refused == nil, "\(name)") }
            #expect(verdicts["payload"]?.payload?.originalTransactionId == "7")
            let data = try #require(verdicts["notification"]?.payload?.data)
            let nested = try await check([("a", data.signedTransactionInfo), ("b", data.signedRenewalInfo)])
            #expect(nested["a"]?.payload?.originalTransactionId == id)
            #expect(nested["b"]?.payload?.originalTransactionId == id)
        }

        @Test func `each fault of a chain or a signature is one that a verifier finds`() async throws {
            #expect(try store.faultNames() == FakeAppStore.Fault.allCases.map(\.rawValue).sorted())
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let faults = FakeAppStore.Fault.allCases.filter(\.isInSignature)
            let verdicts = try await check(faults.map { ($0.rawValue, try store.signTransaction(id, fault: $0)) })
            for fault in faults {
                let verdict = try #require(verdicts[fault.rawValue])
                #expect((verdict.refused == nil) == fault.isAcceptable, "\(fault): \(verdict)")
            }
        }

        @Test func `time passes by more periods, and the earlier ones stay as they were`() async throws {
            let day = 86_400_000
            var subscription = FakeAppStore.Subscription(.expired, periods: 1, startedDaysAgo: 100, offers: [.init(1)])
            let id = try store.setCustomer(.init("eva", subscriptions: [subscription])).subscriptions[0]
                .originalTransactionID
            let first = try store.signTransaction(id, latest: false)
            subscription.state = .active
            subscription.periods = 2
            subscription.returnedAfterDays = 65
            let ids = try store.setCustomer(.init("eva", subscriptions: [subscription])).subscriptions[0]
            #expect(ids.transactionIDs.count == 2 && ids.originalTransactionID == id)
            let verdicts = try await check([
                ("first", first),
                ("again", store.signTransaction(id, latest: false)),
                ("latest", store.signTransaction(id)),
            ])
            let payloads = verdicts.compactMapValues(\.payload)
            #expect(payloads["first"]?.purchaseDate == payloads["again"]?.purchaseDate)
            #expect(payloads["first"]?.offerType == 1 && payloads["latest"]?.offerType == nil)
            #expect(payloads["latest"]?.transactionId == ids.transactionIDs[1])
            #expect(payloads["latest"]?.transactionReason == "PURCHASE")
            let purchases = ["first", "latest"].compactMap { payloads[$0]?.purchaseDate }
            #expect(purchases.count == 2 && purchases[1] - purchases[0] == 95 * day)
        }

        @Test func `a fault that would change nothing is refused`() throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            #expect(throws: ChildProcess.Failure.self) { try store.signRenewalInfo(id, fault: .otherBundle) }
            #expect(throws: ChildProcess.Failure.self) { try store.signTransaction("404") }
        }

        @Test(arguments: [["--http2"], ["--http1.1"]])
        func `it answers over TLS in both versions of HTTP`(option: [String]) async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let answer = try await client.get("/inApps/v1/subscriptions/\(id)", options: option)
            #expect(answer.status == 200)
            let request = try #require(try store.requests().first)
            #expect(request.protocol == (option == ["--http2"] ? "h2" : "http/1.1"))
            #expect(request.target == "/inApps/v1/subscriptions/\(id)")
            let plain = try await client.get("/inApps/v1/subscriptions/\(id)", scheme: .http)
            #expect(plain.status == 200)
        }

        @Test func `a certificate of another authority is not trusted`() async throws {
            for certificate in [FakeAppStore.TLSCertificate.otherAuthority, .otherAddress, .expired] {
                try store.setTLS(certificate)
                #expect(try await client.get("/").end == .exited(60), "\(certificate)")
            }
            try store.setTLS(.good)
            #expect(try await client.get("/").status == 404)
            try store.setTLS(protocols: ["http/1.1"])
            _ = try await client.get("/", options: ["--http2"])
            #expect(try store.requests().last?.protocol == "http/1.1")
        }

        @Test(arguments: BadToken.rows)
        func `a token that is not right opens nothing, and nothing is said`(row: BadToken) async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let token = try await client.makeToken(row.changes)
            let answer = try await client.get("/inApps/v1/subscriptions/\(id)", token: token)
            #expect(answer.status == 401)
            #expect(answer.body.isEmpty)
            let refusals = try store.counts().refusals
            #expect(refusals.count == 1 && refusals[0].contains(row.reason), "\(refusals)")
        }

        @Test(arguments: zip(FakeAppStore.Subscription.State.allCases, [1, 1, 2, 3, 4, 5, 5, 1, 1]))
        func `a subscription has the status of its state`(
            state: FakeAppStore.Subscription.State,
            status: Int
        ) async throws {
            let ids = try store.addSubscription(.init(state))
            let answer = try await client.get("/inApps/v1/subscriptions/\(ids.transactionIDs[1])")
            let item = try #require(try answer.decode(Statuses.self).data.first?.lastTransactions.first)
            #expect(item.status == status)
            let verdicts = try await check([("a", item.signedTransactionInfo), ("b", item.signedRenewalInfo)])
            #expect(verdicts["a"]?.payload?.transactionId == ids.transactionIDs.last)
            #expect(verdicts["b"]?.payload?.originalTransactionId == ids.originalTransactionID)
        }

        @Test func `history comes in pages of twenty, and filters must be repeated`() async throws {
            let id = try store.addSubscription(.init(.expired, periods: 45)).originalTransactionID
            let path = "/inApps/v2/history/\(id)"
            var found: [Int] = []
            var page = try await client.get(path + "?sort=DESCENDING").decode(History.self)
            found.append(page.signedTransactions.count)
            while page.hasMore {
                let next = path + "?sort=DESCENDING&revision=\(page.revision)"
                page = try await client.get(next).decode(History.self)
                found.append(page.signedTransactions.count)
            }
            #expect(found == [20, 20, 5])
            #expect(try await client.get(path + "?revision=\(page.revision)").errorCode == 4_000_005)
            #expect(try await client.get(path + "?sort=UPWARDS").errorCode == 4_000_021)
            let none = try await client.get(path + "?revoked=true").decode(History.self)
            #expect(none.signedTransactions.isEmpty && !none.hasMore)

            try store.misbehave(.repeatedPage, at: .history, times: 1)
            let repeated = try await client.get(path).decode(History.self)
            let again = try await client.get(path + "?revision=\(repeated.revision)").decode(History.self)
            #expect(repeated.hasMore && again.signedTransactions.count == 20)
            try store.misbehave(.endlessPages, at: .history)
            page = again
            for _ in 0..<5 { page = try await client.get(path + "?revision=\(page.revision)").decode(History.self) }
            #expect(page.hasMore && page.signedTransactions.count == 20)
        }

        @Test func `an id is found in its own environment only`() async throws {
            let id = try store.addSubscription(.init(.active), environment: .sandbox).originalTransactionID
            for path in ["v1/subscriptions/", "v2/history/", "v1/transactions/", "v1/transactions/appTransactions/"] {
                let answer = try await client.get("/inApps/\(path)\(id)")
                #expect(answer.status == 404 && answer.errorCode == 4_040_010, "\(path)")
                #expect(try await client.get("/inApps/\(path)\(id)", environment: .sandbox).status == 200, "\(path)")
            }
            #expect(try await client.get("/inApps/v1/transactions/12a").errorCode == 4_000_006)
            #expect(try store.counts().requests(to: .statuses, in: .sandbox) == 1)
            let nobody = try store.setCustomer(.init(appTransaction: .null))
            let answer = try await client.get("/inApps/v1/transactions/appTransactions/\(nobody.appTransactionID)")
            #expect(answer.errorCode == 4_040_019)
        }

        @Test func `notification history comes in pages, or only what failed`() async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            for index in 0..<25 {
                var notification = FakeAppStore.Notification("DID_RENEW", transactionID: id)
                notification.sendAttempts = index.isMultiple(of: 5) ? ["TIMED_OUT", "NO_RESPONSE"] : ["SUCCESS"]
                _ = try store.signNotification(notification)
            }
            let now = Int(Date().timeIntervalSince1970 * 1000)
            let period = "\"startDate\":\(now - 3_600_000),\"endDate\":\(now + 3_600_000)"
            let path = "/inApps/v1/notifications/history"
            let first = try await client.post(path, "{\(period)}").decode(Notifications.self)
            #expect(first.notificationHistory.count == 20 && first.hasMore)
            let token = try #require(first.paginationToken)
            let second = try await client.post(path + "?paginationToken=\(token)", "{\(period)}")
                .decode(Notifications.self)
            #expect(second.notificationHistory.count == 5 && !second.hasMore && second.paginationToken == nil)
            let failed = try await client.post(path, "{\(period),\"onlyFailures\":true}").decode(Notifications.self)
            #expect(failed.notificationHistory.count == 5)
            #expect(
                failed.notificationHistory.first?.sendAttempts.map(\.sendAttemptResult) == ["TIMED_OUT", "NO_RESPONSE"]
            )
            #expect(try await client.post(path, "{}").errorCode == 4_000_015)
        }

        @Test func `a test notification can be asked for and looked up`() async throws {
            let made = try await client.post("/inApps/v1/notifications/test", "").decode([String: String].self)
            let token = try #require(made["testNotificationToken"])
            let answer = try await client.get("/inApps/v1/notifications/test/\(token)")
            #expect(answer.status == 200 && answer.body.contains("SUCCESS"))
            #expect(try await client.get("/inApps/v1/notifications/test/none").errorCode == 4_040_008)
        }

        @Test(arguments: Rudeness.rows)
        func `misbehaves as the test says, and then recovers`(row: Rudeness) async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let path = "/inApps/v1/subscriptions/\(id)"
            for (option, end) in [("--http1.1", row.endOfHTTP1), ("--http2", row.endOfHTTP2)] {
                try store.misbehave(row.misbehaviour, at: .statuses, times: 1)
                let answer = try await client.get(path, options: [option, "--max-time", row.patience])
                #expect(end.map { answer.end == .exited($0) } ?? (answer.end != .exited(0)), "\(option): \(answer)")
                #expect(answer.status == row.status, "\(option): \(answer)")
                #expect(row.head.map { answer.head.contains($0) } ?? true, "\(option): \(answer)")
                #expect(try await client.get(path, options: [option]).status == 200)
            }
        }

        @Test func `Retry-After is a time in milliseconds, or what the test says`() async throws {
            try store.misbehave(.rateLimit(millisecondsFromNow: 60_000), times: 1)
            try store.misbehave(.rateLimit(retryAfter: "soon"), times: 1)
            let timed = try await client.get("/inApps/v1/transactions/1")
            let now = Int(Date().timeIntervalSince1970 * 1000)
            let time = try #require(timed.field("retry-after").flatMap { Int($0) })
            #expect(timed.errorCode == 4_290_000 && time > now && time <= now + 60_000)
            #expect(try await client.get("/inApps/v1/transactions/1").field("retry-after") == "soon")
        }

        @Test func `misbehaviour can be for one customer, endpoint or environment`() async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let other = try store.addSubscription(.init(.active)).originalTransactionID
            try store.misbehave(.error(5_000_000), at: .statuses, in: .production, onlyFor: id)
            #expect(try await client.get("/inApps/v1/subscriptions/\(id)").errorCode == 5_000_000)
            #expect(try await client.get("/inApps/v1/subscriptions/\(other)").status == 200)
            #expect(try await client.get("/inApps/v2/history/\(id)").status == 200)
            #expect(try await client.get("/inApps/v1/subscriptions/\(id)", environment: .sandbox).status == 404)
            try store.behave(at: .statuses)
            #expect(try await client.get("/inApps/v1/subscriptions/\(id)").status == 200)
        }

        @Test func `what it lies about is signed`() async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            let other = try store.addSubscription(.init(.active)).originalTransactionID
            let path = "/inApps/v1/transactions/\(id)"
            try store.misbehave(.otherCustomer(other), times: 1)
            try store.misbehave(.stale(days: 30), times: 1)
            try store.misbehave(.unknownValues, times: 1)
            try store.misbehave(.fault(.otherRoot), times: 1)
            var signed: [(String, String)] = []
            for name in ["other", "stale", "unknown", "fault"] {
                let answer = try await client.get(path).decode(TransactionInfo.self)
                signed.append((name, answer.signedTransactionInfo))
            }
            let verdicts = try await check(signed)
            #expect(verdicts["other"]?.payload?.transactionId == other)
            let age = Date().timeIntervalSince1970 * 1000 - Double(verdicts["stale"]?.payload?.signedDate ?? 0)
            #expect(age > 29 * 86_400_000)
            #expect(verdicts["unknown"]?.payload?.offerType == 99)
            #expect(verdicts["fault"]?.refused?.contains("local issuer") == true)
        }

        @Test func `connections can be refused, ignored and dropped`() async throws {
            try store.misbehave(.close, at: .connection, times: 1)
            #expect(try await client.get("/").end == .exited(35))
            try store.misbehave(.hang, at: .connection, times: 1)
            #expect(try await client.get("/", options: ["--max-time", "1"]).end == .exited(28))
            try store.listen(false, .production)
            #expect(try await client.get("/").end == .exited(7))
            #expect(try await client.get("/", environment: .sandbox).status == 404)
            try store.listen(true, .production)
            #expect(try await client.get("/").status == 404)
        }

        @Test(arguments: OCSPRow.rows)
        func `its OCSP responder says of a certificate what the test sets`(row: OCSPRow) async throws {
            let id = try store.addSubscription(.init(.active)).originalTransactionID
            try store.setOCSP(row.behaviour, about: .leaf)
            let folder = try client.certificates(of: try store.signTransaction(id))
            let outcome = try await runProcess([
                "openssl", "ocsp", "-issuer", folder.path(of: "1.pem"), "-cert", folder.path(of: "0.pem"),
                "-url", "\(store.ocspURL)/intermediate", "-CAfile", store.rootPEMPath,
                "-verify_other", folder.path(of: "1.pem"), "-no-CApath", "-no-CAstore",
            ])
            let said = outcome.output + outcome.errors
            for word in row.words { #expect(said.contains(word), "\(outcome)") }
            #expect(try store.counts().requests(to: .ocsp) == 1)
        }

        @Test func `a connection of before is not counted after a reset`() async throws {
            let port = try #require(URL(string: store.ocspURL)?.port)
            let connection = try RawHTTPClient(port: UInt16(port))
            try await eventually("it is counted") { try store.counts().ocspConnections == 1 }
            try store.reset()
            #expect(try store.counts().ocspConnections == 0)
            connection.close()
        }

        @Test func `it ends with its input, and says so by closing its ports`() async throws {
            let store = try FakeAppStore()
            let client = try await FakeAppStoreClient(store)
            try store.misbehave(.hang)
            async let hanging = client.get("/inApps/v1/transactions/1", options: ["--max-time", "20"])
            while try store.counts().inFlight == 0 { try await Task.sleep(for: .milliseconds(10)) }
            store.stop()
            #expect(store.complaints.isEmpty, "\(store.complaints)")
            #expect(try await hanging.status == 0)
            #expect(try await client.get("/").end == .exited(7))
        }
    }
}
