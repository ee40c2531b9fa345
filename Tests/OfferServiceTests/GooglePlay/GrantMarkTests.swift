// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import Testing

@testable import Ledger
@testable import OfferService

/// What a purchase carries to name its grant, and who can make it.
struct GrantMarkTests {
    @Test func `takes the room that Google Play has, and comes back as it was`() async throws {
        try await withPlayService { world in
            let (keys, offer) = (try world.place.keys, try world.offer().ledgerKey)
            let grant = UniqueID.version7(at: PlaySample.now, 1, 2)
            let mark = keys.mark(of: grant, for: offer)
            #expect(mark.text.utf8.count == 64)
            #expect(mark.text.allSatisfy { "0123456789abcdef".contains($0) })
            #expect(GrantMark(mark.text) == mark && GrantMark(mark.text)?.grantID == grant)
            #expect(keys.isGenuine(mark, for: offer))
        }
    }

    @Test func `is worth nothing when a digit differs, for another offer, in another app, or under another secret`()
        async throws
    {
        try await withPlayService { world in
            let (place, offer) = (try world.place, try world.offer().ledgerKey)
            let grant = UniqueID.version7(at: PlaySample.now, 1, 2)
            let text = place.keys.mark(of: grant, for: offer).text
            for position in 0..<64 {
                var digits = Array(text)
                digits[position] = digits[position] == "0" ? "1" : "0"
                let forged = try #require(GrantMark(String(digits)))
                #expect(!place.keys.isGenuine(forged, for: offer))
            }
            let mark = place.keys.mark(of: grant, for: offer)
            #expect(!place.keys.isGenuine(mark, for: try world.offer("stay-20").ledgerKey))
            let pseudonyms = world.service.current.value.pseudonyms
            let otherApp = GooglePlayPseudonyms(pseudonyms, in: try AppName("com.example.other"))
            #expect(!otherApp.isGenuine(mark, for: offer))
            try await withPlayService { other in
                let keys = try other.place.keys
                #expect(!keys.isGenuine(mark, for: offer))
            }
        }
    }

    @Test(arguments: [
        "", "0", String(repeating: "0", count: 63), String(repeating: "A", count: 64),
        String(repeating: "g", count: 64), String(repeating: "é", count: 32),
    ])
    func `has one form`(text: String) {
        #expect(GrantMark(text) == nil)
        #expect(GooglePlayAccountID(text) == nil)
    }

    @Test func `an account ID identifies one customer, and equals no value in the ledger or records`() async throws {
        try await withPlayService { world in
            let keys = try world.place.keys
            func accountID(_ name: String) throws -> GooglePlayAccountID {
                keys.accountID(of: .customer(try CustomerID(name)))
            }
            let (anna, pseudonym) = (try accountID("anna"), try world.pseudonym("anna"))
            #expect(anna.text.utf8.count == 64 && GooglePlayAccountID(anna.text) == anna)
            #expect(try accountID("ANNA") == anna)
            #expect(try accountID("bert") != anna)
            #expect(anna.key != pseudonym.ledgerKey)
            let record = Base64.decodeURL(Array(pseudonym.text.split(separator: ":")[2].utf8))
            #expect(record?.count == 32 && record != [UInt8](hexadecimal: anna.text))
        }
    }

    @Test func `a token's key is no token, and differs from app to app`() async throws {
        try await withPlayService { world in
            let token = try PurchaseToken("24lowercase.AO-J1Oabc")
            let key = try world.place.keys.purchaseKey(of: token)
            #expect(key.bytes.count == LedgerKey.byteCount)
            let other = GooglePlayPseudonyms(
                world.service.current.value.pseudonyms,
                in: try AppName("com.example.other")
            )
            #expect(other.purchaseKey(of: token) != key)
            #expect(try world.place.keys.purchaseKey(of: PurchaseToken("24LOWERCASE.AO-J1Oabc")) != key)
        }
    }
}
