// SPDX-License-Identifier: Apache-2.0
import Cryptography
import OfferDomain
import Testing

@testable import OfferService
@testable import Stores

/// Data in the wrong place, and what is sent in the place of signed data.
struct SignedDataKindTests {
    static let payloads: [(SignedDataKind, PayloadText)] = [
        (.transaction, .transaction), (.renewalInfo, .renewalInfo), (.appTransaction, .appTransaction),
        (.notification, .notification), (.realtimeRequest, .realtimeRequest),
    ]

    @Test
    func `names the kind that was found and the kind that was expected`() throws {
        let reader = try AppStoreSignedDataReader.example()
        let transaction = try reader.transaction(PayloadText.transaction.jws, at: PayloadText.now)
        for (found, payload) in Self.payloads {
            for expected in SignedDataKind.allCases where expected != found {
                #expect(throws: SignedDataFault.otherKind(found: found, expected: expected)) { () throws in
                    switch expected {
                    case .transaction: _ = try reader.transaction(payload.jws, at: PayloadText.now)
                    case .renewalInfo:
                        let paired = [transaction]
                        _ = try reader.renewalInfo(payload.jws, pairedWith: paired, .byTransaction, at: PayloadText.now)
                    case .appTransaction: _ = try reader.appTransaction(payload.jws, at: PayloadText.now)
                    case .notification: _ = try reader.notification(payload.jws, at: PayloadText.now)
                    case .realtimeRequest: _ = try reader.realtimeRequest(payload.jws, at: PayloadText.now)
                    }
                }
            }
        }
    }

    /// Refuses everything for one reason.
    private struct Refusing: SignedDataAuthenticator {
        let error: SignedDataError

        func payload(of jws: [UInt8], at unixSeconds: Int64, maximumBytes: Int) throws(SignedDataError) -> [UInt8] {
            throw error
        }

        func remembersChain(of jws: [UInt8], maximumBytes: Int) -> Bool { false }
    }

    private func fault(_ text: [UInt8], _ error: SignedDataError) throws -> SignedDataFault? {
        let apps = try AppStoreSignedDataReader.example().apps
        let reader = AppStoreSignedDataReader(apps: apps, authenticator: Refusing(error: error))
        do {
            _ = try reader.transaction(text, at: PayloadText.now)
            return nil
        } catch {
            return error
        }
    }

    private static func jws(_ payload: String) -> [UInt8] {
        ["{}", payload, "signature"].map { Base64.encodeURL(Array($0.utf8)) }.joined(separator: Array(".".utf8)) + []
    }

    @Test(arguments: [
        ("MIIT" + String(repeating: "A", count: 200), UnsignedData.receipt),
        ("ewoJInNpZ25hdHVyZSIgPSAi" + String(repeating: "A", count: 200), .receipt),
        (PayloadText.transaction.json, .json(.transaction)),
        ("\n" + PayloadText.appTransaction.json, .json(.appTransaction)),
        ("{}", .json(nil)),
        ("2000000123456789", .transactionID),
        (
            String(decoding: Base64.encodeURL(Array(PayloadText.transaction.json.utf8)), as: UTF8.self),
            .json(.transaction)
        ),
    ])
    func `names what is not signed`(text: String, data: UnsignedData) throws {
        let fault = try fault(Array(text.utf8), .notThreeSegments)
        #expect(fault == .notSignedData(data, expected: .transaction))
        #expect(fault?.description.contains("jwsRepresentation") == true)
    }

    @Test(arguments: [SignedDataError.notThreeCertificates, .chain(.untrustedRoot), .certificatesMissing])
    func `names data of Xcode, and a JWS of an own key`(error: SignedDataError) throws {
        for environment in ["Xcode", "LocalTesting"] {
            let text = Self.jws(#"{"transactionId":"0","environment":"\#(environment)"}"#)
            #expect(try fault(text, error) == .localTestData)
        }
        let own = try fault(Self.jws(#"{"aud":"promotional-offer","iss":"x"}"#), error)
        let isOwn = error == .certificatesMissing
        #expect(own == (isOwn ? .notSignedData(.ownJWS, expected: .transaction) : .notVerified(error)))
        #expect(try fault(Self.jws("{}"), error) == .notVerified(error))
    }

    @Test
    func `names a notification in another place, though it is too large to be verified there`() throws {
        let padding = String(repeating: "A", count: 20_000)
        let notification = Self.jws(#"{"notificationType":"DID_RENEW","data":{"signedTransactionInfo":"\#(padding)"}}"#)
        let limit = SignedDataError.tooLarge(limit: 16_384)
        let fault = try fault(notification, limit)
        #expect(fault == .claimsOtherKind(found: .notification, expected: .transaction))
        #expect(fault?.description.hasPrefix("This is a notification; a signed transaction") == true)
        #expect(fault?.isOfGenuineData == false)
        let transaction = Self.jws(#"{"transactionId":"1","productId":"p","x":"\#(padding)"}"#)
        #expect(try self.fault(transaction, limit) == .notVerified(limit))
        #expect(try self.fault(Array(padding.utf8), limit) == .notVerified(limit))
    }

    @Test(arguments: ["%@\n", " %@", "%@ ", "\"%@\"", "'%@'", "Bearer %@", "\r\n%@"])
    func `names what surrounds signed data`(pattern: String) throws {
        let text = pattern.replacing("%@", with: "eyJhbGciOiJFUzI1NiJ9.e30.AAAA")
        let error = SignedDataError.notBase64URL(.signature)
        #expect(try fault(Array(text.utf8), error) == .notSignedData(.surrounded, expected: .transaction))
        #expect(try fault(Array("eyJ.e30.AA=A".utf8), error) == .notVerified(error))
    }

    @Test
    func `says no more than it knows of a text that is nothing of that`() throws {
        for text in ["", "x", "a.b", "MIIT", "MIIT.AAAA", "0", "eyJ", "eyJ4"] {
            #expect(try fault(Array(text.utf8), .notThreeSegments) == .notVerified(.notThreeSegments))
        }
    }

    @Test
    func `unwraps a JWS that was encoded once more`() {
        let jws = Array("eyJhbGciOiJFUzI1NiJ9.e30.AAAA".utf8)
        let wrapped = Base64.encode(jws)
        #expect(SignedDataText(jws).bytes == jws)
        #expect(SignedDataText(wrapped).bytes == jws)
        #expect(SignedDataText(Base64.encodeURL(jws)).bytes == jws)
        #expect(SignedDataText(Array("ZXlKx".utf8)).bytes == Array("ZXlKx".utf8))
    }

    @Test
    func `takes empty texts for absent ones, and the beginning of long lists`() throws {
        let reader = try AppStoreSignedDataReader.example()
        let payload = PayloadText.transaction.with("offerIdentifier", "\"\"").with("appAccountToken", "\"\"")
            .with("storefront", "\"\"").with("offerDiscountType", "\"\"")
        let transaction = try reader.transaction(payload.jws, at: PayloadText.now)
        #expect(transaction.offerID == nil && transaction.appAccountToken == nil && transaction.storefront == nil)
        let offers = (0..<500).map { "\"offer_\($0)\"" } + ["7", "\"\""]
        let renewal = PayloadText.renewalInfo.with("eligibleWinBackOfferIds", "[\(offers.joined(separator: ","))]")
        let info = try reader.renewalInfo(renewal.jws, pairedWith: [transaction], .byTransaction, at: PayloadText.now)
        #expect(info.eligibleWinBackOfferIDs == (0..<64).map { "offer_\($0)" })
        #expect(throws: SignedDataFault.missing(pointer: "/productId")) { () throws in
            try reader.transaction(PayloadText.transaction.with("productId", "\"\"").jws, at: PayloadText.now)
        }
    }
}
