// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import OfferDomain

struct CustomerIdentityTests {
    static let token = "7e3fb204-2a6b-4b2f-9a3c-1b2c3d4e5f60"
    static let digest = String(repeating: "ab01", count: 16)

    @Test
    func `lowercases UUIDs and digests and keeps all else`() throws {
        #expect(try CustomerID(CustomerIdentityTests.token.uppercased()).text == CustomerIdentityTests.token)
        #expect(try CustomerID(CustomerIdentityTests.digest.uppercased()).text == CustomerIdentityTests.digest)
        #expect(try CustomerID("Alice@Example.com").text == "Alice@Example.com")
        #expect(try CustomerID("ABCDEF").text == "ABCDEF")
    }

    @Test
    func `takes at most 64 bytes`() throws {
        #expect(try CustomerID(String(repeating: "z", count: 64)).text.utf8.count == 64)
        #expect(throws: IdentifierError.tooLong(limit: 64)) { try CustomerID(String(repeating: "z", count: 65)) }
        #expect(throws: IdentifierError.notAllowed(.scalar(" "), offset: 5)) { try CustomerID("alice ") }
    }

    @Test(arguments: [
        token, token.uppercased(), "{\(token)}", "urn:uuid:\(token)", "URN:UUID:\(token.uppercased())",
        "7E3FB2042A6B4B2F9A3C1B2C3D4E5F60", "{7e3fb2042a6b4b2f9a3c1b2c3d4e5f60}",
    ])
    func `counts every spelling of a UUID as the token it is`(text: String) throws {
        let token = CustomerIdentity.appAccountToken(try #require(UniqueID(CustomerIdentityTests.token)))
        #expect(CustomerIdentity.customer(try CustomerID(text)).capBytes == token.capBytes)
        #expect(CustomerIdentity.applicationUsername(try ApplicationUsername(text)).capBytes == token.capBytes)
        #expect(token.capBytes == Array("c:\(CustomerIdentityTests.token)".utf8))
        #expect(try CustomerID(text).canonicalForCaps == Array(CustomerIdentityTests.token.utf8))
    }

    @Test
    func `counts letter cases together`() throws {
        let names = try ["Alice", "ALICE", "alice"].map { CustomerIdentity.customer(try CustomerID($0)).capBytes }
        #expect(Set(names).count == 1)
        #expect(try CustomerIdentity.applicationUsername(ApplicationUsername("aLICE")).capBytes == names[0])
    }

    @Test(arguments: [("alice", "alicf"), ("a", "aa"), ("{a}", "a"), (token, String(token.dropLast()) + "1")])
    func `counts different customers apart`(one: String, other: String) throws {
        let first = CustomerIdentity.customer(try CustomerID(one)).capBytes
        #expect(first != CustomerIdentity.customer(try CustomerID(other)).capBytes)
    }

    @Test(arguments: ["2000000123456789", "0", "1"])
    func `never takes a transaction for a customer`(digits: String) throws {
        let transaction = CustomerIdentity.originalTransaction(try TransactionID(digits)).capBytes
        for text in [digits, "t:\(digits)", "c:\(digits)"] {
            #expect(CustomerIdentity.customer(try CustomerID(text)).capBytes != transaction)
            #expect(CustomerIdentity.applicationUsername(try ApplicationUsername(text)).capBytes != transaction)
        }
    }

    @Test
    func `counts a transaction the same whatever zeros lead it`() throws {
        let plain = CustomerIdentity.originalTransaction(try TransactionID("42"))
        #expect(try CustomerIdentity.originalTransaction(TransactionID("00042")).capBytes == plain.capBytes)
        #expect(try CustomerIdentity.originalTransaction(TransactionID("000")).capBytes == Array("t:0".utf8))
    }

    @Test
    func `lists what a request names`() throws {
        let customer = try CustomerID("alice")
        let name = try ApplicationUsername("alice")
        let transaction = try TransactionID("1")
        let known = CustomerIdentity.known(
            customer: customer,
            binding: .applicationUsername(name),
            originalTransaction: transaction
        )
        #expect(known == [.customer(customer), .applicationUsername(name), .originalTransaction(transaction)])
        #expect(known.map(\.namesCustomer) == [true, true, false])
        #expect(CustomerIdentity.known(customer: nil, binding: .none, originalTransaction: nil).isEmpty)
    }
}
