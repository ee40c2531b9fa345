// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// Everything secret or personal is planted, every call is made, and nothing of it is found anywhere.
    // Its tests share one fake store.
    @Suite(.serialized) struct NeedleTests {
        private static let shared = Result { try FakeAppStore() }

        /// What is planted, by what it is.
        private struct Needles {
            let customer = "customer-needle-\(UUID().uuidString.prefix(8))"
            let anonymous = "anonymous-needle-\(UUID().uuidString.prefix(8))"
            let username = "Username+Needle/\(UUID().uuidString.prefix(8))"
            let token = UUID().uuidString
            let statedTransaction = "70000\(UInt32.random(in: 1_000_000_000...4_000_000_000))"
            let namedTransaction = "80000\(UInt32.random(in: 1_000_000_000...4_000_000_000))"
            let purchase = "purchase-needle.\(UUID().uuidString)"
            let attribute = "attribute-needle-\(UUID().uuidString.prefix(8))"
            let idempotency = "idempotency-needle-\(UUID().uuidString.prefix(8))"
            let bearer = "0123456789abcdef.\(UUID().uuidString)needle"
            let push = "eyJhbGciOiJSUzI1NiJ9.\(UUID().uuidString.filter { $0 != "-" }).push-needle"
            let path = "path-needle-\(UUID().uuidString.prefix(8))"
            let message = "message-needle-\(UUID().uuidString.prefix(8))"

            var all: [String] {
                let bare = token.filter { $0 != "-" }
                return [
                    customer, customer.uppercased(), anonymous, anonymous.lowercased(), username, username.lowercased(),
                    token, token.lowercased(), bare, bare.lowercased(), statedTransaction, namedTransaction, purchase,
                    attribute, idempotency, bearer, String(bearer.dropFirst(17)), push, path, message,
                ]
            }
        }

        private let store: FakeAppStore
        private let demo: DemoFolder
        private let needles = Needles()
        /// Of the service account's key: the lines of its text.
        private let accountLines: [String]

        init() async throws {
            store = try Self.shared.get()
            try store.reset()
            try store.setOCSP(.good)
            demo = try await DemoFolder()
            let pem = try KeyTool.makeRSAKey()
            accountLines = String(decoding: pem, as: UTF8.self).split(separator: "\n").map(String.init)
                .filter { !$0.hasPrefix("-") }
            try demo.write(String(decoding: ServiceAccountDraft(pem: pem).bytes, as: UTF8.self), to: "account.json")
            try FileManager.default.setAttributes(
                [.posixPermissions: 0o600],
                ofItemAtPath: demo.path(of: "account.json")
            )
            try demo.edit(
                "keys",
                replacing: "  customerIds:",
                with: #"  googleServiceAccounts: [{ packageNames: ["com.example.app"], file: "account.json" }],"#
                    + "\n  customerIds:"
            )
            try demo.edit("keys", replacing: #"purposes: ["#, with: #"purposes: ["app-store-server-api", "#)
            try demo.edit(
                "offers",
                replacing: #"bundleId: "com.example.app","#,
                with: #"bundleId: "com.example.app", packageName: "com.example.app","#
            )
        }

        private var options: [String] {
            [
                "--log", "debug", "--app-store-roots", store.rootPEMPath, "--trusted-certificates", store.tlsCAPath,
                "--app-store-url", store.apiOrigin(.production), "--app-store-sandbox-url", store.apiOrigin(.sandbox),
                "--google-play-url", "http://127.0.0.1:9", "--google-oauth-url", "http://127.0.0.1:9",
                "--google-certs-url", "http://127.0.0.1:9", "--google-push-audience", "https://example.com/push",
                "--google-push-email", "push@example.iam.gserviceaccount.com",
            ]
        }

        private func customerMembers(_ signed: String) -> String {
            """
            "customerId": "\(needles.customer)", "anonymousId": "\(needles.anonymous)",
            "appAccountToken": "\(needles.token)", "transactionId": "\(needles.namedTransaction)",
            "signedTransactions": ["\(signed)"], "attributes": {"tier": "\(needles.attribute)"},
            "facts": {"status": "expired", "expiresAt": "2026-01-01T00:00:00Z",
                      "originalTransactionId": "\(needles.statedTransaction)"}
            """
        }

        /// Makes every call, well and badly; answers what was given to the caller alone.
        private func makeAllCalls(_ service: RunningService) throws -> [String] {
            let ids = try store.addSubscription(
                .init(.expired, productID: DemoFolder.product, group: "21234567", endsInDays: -60)
            )
            let signed = try store.signTransaction(ids.originalTransactionID)
            let notification = try store.signNotification(
                .init("DID_RENEW", transactionID: ids.originalTransactionID)
            ).jws
            let offer = #""bundleId": "com.example.app", "productId": "com.example.pro.monthly""#
            let named = #"{\#(offer), "offerId": "winback_3m", "formats": ["v1", "jws"], \#(customerMembers(signed))}"#
            let user = #"{\#(offer), "offerId": "winback_3m", "applicationUsername": "\#(needles.username)"}"#
            let eligibility =
                #"{"bundleId": "com.example.app", \#(customerMembers(signed)), "purchaseTokens": ["\#(needles.purchase)"]}"#
            let authorization = """
                {"packageName": "com.example.app", "productId": "pro", "basePlanId": "monthly", "offerId": "winback_3m",
                 "customerId": "\(needles.customer)", "purchaseTokens": ["\(needles.purchase)"]}
                """
            let transactions = """
                {"bundleId": "com.example.app", "customerId": "\(needles.customer)", "signedTransactions": ["\(signed)"]}
                """
            let transfer = """
                {"bundleId": "com.example.app", "from": {"anonymousId": "\(needles.anonymous)"},
                 "to": {"customerId": "\(needles.customer)"}}
                """
            let push =
                #"{"message": {"data": "\#(Data(needles.purchase.utf8).base64EncodedString())", "messageId": "\#(needles.message)"}}"#
            let calls = [
                ("/v1/app-store/promotional-offers/signatures", named),
                ("/v1/app-store/promotional-offers/signatures", user),
                ("/v1/app-store/introductory-offers/signatures", "{\(offer), \(customerMembers(signed))}"),
                ("/v1/google-play/offers/authorizations", authorization), ("/v1/eligibility", eligibility),
                ("/v1/transactions", transactions), ("/v1/customers/transfers", transfer),
                ("/v1/notifications/app-store", #"{"signedPayload": "\#(notification)"}"#),
                ("/v1/notifications/google-play", push),
            ]
            var given = [signed, notification].flatMap(Self.segments)
            var statuses: [Int] = []
            for (path, body) in calls {
                for spoilt in [
                    body, String(body.dropLast()), body.replacingOccurrences(of: "com.example.app", with: "com.x"),
                ] {
                    for key in [demo.apiKey, needles.bearer, needles.push] {
                        let answer = try send(service, path, spoilt, key)
                        statuses.append(answer.status)
                        given += Self.signatures(in: answer.body)
                    }
                }
            }
            for path in ["/\(needles.path)", "/metrics?\(needles.path)", "/health/ready", "/openapi.yaml"] {
                _ = try send(service, path, nil, demo.apiKey)
            }
            // The calls did something: signatures were made, and signed data was believed.
            #expect(statuses.count { $0 == 200 } >= 5, "\(statuses)")
            #expect(given.count > 6)
            return given
        }

        private func send(
            _ service: RunningService,
            _ path: String,
            _ body: String?,
            _ key: String
        ) throws -> RawHTTPClient.Answer {
            let client = try RawHTTPClient(port: service.port, patience: 60)
            var text = RunningService.text(body == nil ? "GET" : "POST", path, body: body, apiKey: key)
            let extra =
                "Idempotency-Key: \(needles.idempotency)-\(UInt32.random(in: 0...9_999))\r\nUser-Agent: \(needles.path)\r\n"
            text.replace("Host: localhost\r\n", with: "Host: localhost\r\n\(extra)", maxReplacements: 1)
            client.send(text)
            return try client.readAnswer()
        }

        /// The payload and the signature of a compact JWS; every header is alike.
        private static func segments(_ jws: String) -> [String] {
            jws.split(separator: ".").dropFirst().map { String($0.prefix(120)) }
        }

        private static func signatures(in body: String) -> [String] {
            let jws = body.matches(of: #/"jws":"([^"]+)"/#).flatMap { segments(String($0.1)) }
            return jws + body.matches(of: #/"signature":"([^"]+)"/#).map { String($0.1) }
        }

        /// What is secret in the files of the example.
        private func secrets() throws -> [String] {
            let hex = demo.text(of: "customer-ids.key").trimmingCharacters(in: .whitespacesAndNewlines)
            let raw = stride(from: 0, to: hex.count, by: 2).compactMap { offset in
                UInt8(hex.dropFirst(offset).prefix(2), radix: 16)
            }
            return [
                hex, hex.uppercased(), Data(raw).base64EncodedString(), demo.apiKey, String(demo.apiKey.dropFirst(17)),
            ]
                + accountLines + logKeyTexts()
        }

        /// Of the key that signs checkpoints: its text, and its seed, which are the last 32 bytes.
        private func logKeyTexts() -> [String] {
            let line = demo.text(of: "audit-log.key").split(separator: "\n").first { !$0.hasPrefix("-") }
            let seed = Array((Data(base64Encoded: String(line ?? "")) ?? Data()).suffix(32))
            return [
                String(line ?? ""), Data(seed).base64EncodedString(), seed.map { String(format: "%02x", $0) }.joined(),
            ]
        }

        /// What auditors are answered, and the console.
        private func askAsAuditor(_ service: RunningService) async throws -> String {
            let added = try await Program.run(
                ["callers", "add", "looker", "--role", "auditor", "--database", demo.location]
            )
            let key = added.output.trimmingCharacters(in: .whitespacesAndNewlines)
            try await eventually("the auditor is known") {
                try service.ask("/v1/seal", apiKey: key).status == 200
            }
            var said = ""
            for path in [
                "/v1/audit/log", "/v1/audit/entries?limit=500", "/v1/audit/entries?limit=500&format=csv",
                "/v1/audit/entries/0", "/v1/audit/entries/0/proof", "/v1/audit/summary", "/v1/audit/reconciliation",
                "/v1/keys", "/v1/callers/self", "/audit/checkpoint", "/audit/tile/0/000.p/1", "/console/",
            ] {
                let answer = try service.ask(path, apiKey: key)
                #expect(answer.status == 200, "\(path): \(answer)")
                said += answer.body
            }
            #expect(!said.contains(key.dropFirst(17)))
            return said
        }

        private func search(_ files: [String], _ texts: [String]) async throws -> ProcessOutcome {
            let present = files.filter { FileManager.default.fileExists(atPath: $0) }
            #expect(!texts.contains { $0.contains(",") })
            return try await runProcess(
                [Program.python, "-B", Program.checker("needles"), "files", demo.privateKey]
                    + [texts.joined(separator: ",")] + present
            )
        }

        /// Everything that the commands say of it, in one file.
        private func askCommands(_ service: RunningService) async throws -> String {
            var said = try service.ask("/metrics").body + service.ask("/health/ready").body
            for arguments in [
                ["customers", "pseudonym", "--app", "com.example.app", "--customer-id", needles.customer]
                    + ["--app-account-token", needles.token, "--original-transaction-id", needles.statedTransaction],
                ["customers", "pseudonym", "--app", "com.example.app", "--app-account-token", needles.customer],
                ["audit", "query", "--user", needles.customer],
                ["audit", "query"], ["audit", "export"], ["callers", "list"], ["keys", "list"], ["check"],
            ] {
                let outcome = try await Program.run(arguments + demo.options())
                said += outcome.output + outcome.errors
            }
            said += try await askAsAuditor(service)
            #expect(said.contains("sign.intent") && said.contains("customer.lookup") && said.contains("hmac:1:"))
            return try demo.directory.write(Array(said.utf8), to: "said")
        }

        @Test(.disabled(if: Sanitizer.isActive, "a sanitizer reports crashes itself"), arguments: [SIGSEGV, SIGABRT])
        func `nothing planted is found in output, log, metrics, records, answers, database or after a crash`(
            _ signal: Int32
        ) async throws {
            let cores = demo.directory.path(of: "cores")
            try FileManager.default.createDirectory(atPath: cores, withIntermediateDirectories: true)
            let service = try await RunningService(
                demo,
                wrapper: ["sh", "-c", #"ulimit -c unlimited 2>/dev/null; cd "$1" && shift && exec "$@""#, "sh", cores],
                options: options
            )
            let texts = try makeAllCalls(service) + needles.all + secrets()
            try await service.reload()
            let said = try await askCommands(service)
            let files = [service.logPath, service.outputPath, said, try demo.databaseContents()]
            #expect(texts.count >= 40)
            let running = try await search(files, texts)
            #expect(running.succeeded, "\(running)")
            service.process.send(signal)
            #expect(try await service.process.waitForEnd() == .killed(bySignal: signal))
            #expect(try FileManager.default.contentsOfDirectory(atPath: cores) == [])
            let crashed = try await search(files, texts)
            #expect(crashed.succeeded, "\(crashed)")

            // The search finds each of them where it is.
            for text in texts {
                let planted = try demo.directory.write(Array("a\(text)b".utf8), to: "planted")
                #expect(try await search([planted], [text]).end == .exited(1))
            }
        }
    }
}
