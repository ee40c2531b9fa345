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
    func `takes at most 64 bytes, and no space`() throws {
        #expect(try CustomerID(String(repeating: "z", count: 64)).text.utf8.count == 64)
        let expected = "1 to 64 printable ASCII characters without spaces"
        for text in [String(repeating: "z", count: 65), "alice "] {
            #expect(throws: IdentifierError.wrongShape(expected: expected)) { try CustomerID(text) }
        }
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

    @Test(arguments: [
        token, token.uppercased(), "{\(token)}", "7E3FB2042A6B4B2F9A3C1B2C3D4E5F60", "Bob", "42", "c:bob",
    ])
    func `what is only claimed is in a namespace of its own, and one claim there however it is made`(
        text: String
    ) throws {
        let claims: [CustomerIdentity] = [
            .anonymous(try AnonymousID(text)), .claimedApplicationUsername(try ApplicationUsername(text)),
        ]
        let known: [CustomerIdentity] = [
            .customer(try CustomerID(text)), .applicationUsername(try ApplicationUsername(text)),
        ]
        #expect(Set(claims.map(\.capBytes)).count == 1 && claims[0].capBytes.starts(with: "n:".utf8))
        #expect(Set(claims.map(\.capBytes)).isDisjoint(with: known.map(\.capBytes)))
        #expect(claims.allSatisfy(\.isClaimed) && !known.contains(where: \.isClaimed))
        #expect(known.map(\.asClaimed) == [known[0], claims[1]])
        if let token = UniqueID(text) {
            #expect(CustomerIdentity.appAccountToken(token).asClaimed.capBytes == claims[0].capBytes)
        }
    }

    @Test
    func `counts letter cases together`() throws {
        let names = try ["Alice", "ALICE", "alice"].map { CustomerIdentity.customer(try CustomerID($0)).capBytes }
        #expect(Set(names).count == 1)
        #expect(try CustomerIdentity.applicationUsername(ApplicationUsername("aLICE")).capBytes == names[0])
    }

    @Test(arguments: ["Device-1", "DEVICE-1", "device-1"])
    func `holds an anonymous id in lowercase`(text: String) throws {
        #expect(try AnonymousID(text).text == "device-1")
        #expect(try AnonymousID(text) == AnonymousID("device-1"))
    }

    @Test(arguments: ["", "a b", "Ä", "a\u{2063}", "\u{212A}", String(repeating: "x", count: 65)])
    func `refuses an anonymous id that is not 1 to 64 visible ASCII bytes`(text: String) {
        #expect(throws: IdentifierError.self) { try AnonymousID(text) }
    }

    @Test
    func `takes an anonymous id of 64 bytes`() throws {
        #expect(try AnonymousID(String(repeating: "~", count: 64)).text.utf8.count == 64)
    }

    @Test
    func `files the purchases of a known customer under the customer, and not under the device`() throws {
        let (customer, anonymous) = (try CustomerID("alice"), try AnonymousID("device"))
        let token = PurchaseBinding.appAccountToken(try #require(UniqueID(Self.token)))
        let known = CustomerIdentity.vouchedFor(customer: customer, anonymous: anonymous, binding: token)
        #expect(known.map(\.capBytes) == [Array("c:alice".utf8), Array("c:\(Self.token)".utf8)])
        let unknown = CustomerIdentity.vouchedFor(customer: nil, anonymous: anonymous, binding: .none)
        #expect(unknown == [.anonymous(anonymous)])
    }

    @Test(arguments: [("alice", "alicf"), ("a", "aa"), ("{a}", "a"), (token, String(token.dropLast()) + "1")])
    func `counts different customers apart`(one: String, other: String) throws {
        let first = CustomerIdentity.customer(try CustomerID(one)).capBytes
        #expect(first != CustomerIdentity.customer(try CustomerID(other)).capBytes)
    }

    @Test(arguments: ["2000000123456789", "10", "1"])
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
        let anonymous = try AnonymousID("device")
        let device = CustomerIdentity.known(
            customer: customer,
            anonymous: anonymous,
            binding: .none,
            originalTransaction: transaction
        )
        #expect(device == [.customer(customer), .anonymous(anonymous), .originalTransaction(transaction)])
        #expect(device.map(\.namesCustomer) == [true, true, false])
        #expect(CustomerIdentity.known(customer: nil, binding: .none, originalTransaction: nil).isEmpty)
    }
}
