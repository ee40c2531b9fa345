// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport

/// curl with a token of PyJWT's, as a client of the fake App Store.
struct FakeAppStoreClient {
    typealias Answer = CurlAnswer

    private let store: FakeAppStore
    private let folder: TemporaryDirectory
    private let keyPath: String
    private var token = ""

    /// Registers a key of its own.
    init(_ store: FakeAppStore) async throws {
        self.store = store
        folder = try TemporaryDirectory()
        let key = try KeyTool.makeKey()
        keyPath = try folder.write(key, to: "key.pem")
        try store.registerKey(
            keyID: "ABC123DEFG",
            issuerID: "57246542-96fe-1a63-e053-0824d011072a",
            publicKeyPEM: String(decoding: try KeyTool.openssl("pkey", "-pubout", input: key), as: UTF8.self),
            bundleIDs: ["com.example.app"]
        )
        token = try await makeToken("{}")
    }

    /// A token with changes as `bearer_token.py` takes them.
    func makeToken(_ changes: String) async throws -> String {
        let outcome = try await Program.check("bearer_token", keyPath, changes)
        guard outcome.succeeded else { throw ChildProcess.Failure("\(outcome)") }
        return String(outcome.output.dropLast())
    }

    func get(
        _ path: String,
        environment: FakeAppStore.Environment = .production,
        scheme: FakeAppStore.Scheme = .https,
        token: String? = nil,
        options: [String] = []
    ) async throws -> Answer {
        let authorization = ["-H", "Authorization: Bearer \(token ?? self.token)"]
        return try await curl(
            store.apiOrigin(environment, scheme) + path,
            trusting: store.tlsCAPath,
            authorization + options
        )
    }

    func post(_ path: String, _ body: String) async throws -> Answer {
        try await get(path, options: ["-H", "Content-Type: application/json", "--data-raw", body])
    }

    /// The certificates of a JWS as files 0.pem, 1.pem and 2.pem.
    func certificates(of jws: String) throws -> TemporaryDirectory {
        struct Header: Decodable {
            let x5c: [String]
        }
        let folder = try TemporaryDirectory()
        var segment = String(jws.prefix { $0 != "." })
        segment += String(repeating: "=", count: (4 - segment.utf8.count % 4) % 4)
        let header = try JSONDecoder().decode(Header.self, from: Data(base64Encoded: segment) ?? Data())
        for (index, text) in header.x5c.enumerated() {
            let der = Array(Data(base64Encoded: text) ?? Data())
            try folder.write(KeyDER.pem(der, label: "CERTIFICATE"), to: "\(index).pem")
        }
        return folder
    }
}

/// What the checker `signed_data.py` found.
struct Verdict: Decodable {
    struct Payload: Decodable {
        let transactionId, originalTransactionId: String?
        let signedDate, purchaseDate, offerType: Int?
        let transactionReason: String?
        let data: NotificationData?
    }

    struct NotificationData: Decodable {
        let signedTransactionInfo, signedRenewalInfo: String
    }

    let payload: Payload?
    let refused: String?
}

/// Answers of the API, as far as the tests look.
struct Statuses: Decodable {
    struct Group: Decodable {
        let lastTransactions: [Item]
    }

    struct Item: Decodable {
        let status: Int
        let signedTransactionInfo, signedRenewalInfo: String
    }

    let data: [Group]
}

struct TransactionInfo: Decodable {
    let signedTransactionInfo: String
}

struct History: Decodable {
    let revision: String
    let hasMore: Bool
    let signedTransactions: [String]
}

struct Notifications: Decodable {
    struct Item: Decodable {
        let sendAttempts: [Attempt]
    }

    struct Attempt: Decodable {
        let sendAttemptResult: String
    }

    let hasMore: Bool
    let paginationToken: String?
    let notificationHistory: [Item]
}

extension CurlAnswer {
    /// The code of an error of the App Store Server API.
    var errorCode: Int? { value("/errorCode").flatMap { Int($0) } }
}
