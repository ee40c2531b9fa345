// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import HTTP
@testable import OfferService

/// Devices leave places to others: to other devices, to other networks, and to whoever is none.
struct DeviceSharesTests {
    private static let app = CallerID("app")

    private static func device(_ bits: UInt32) throws -> Device {
        Device(caller: try #require(app), address: .ipv4(bits))
    }

    private static func taken(_ shares: inout DeviceShares, by bits: UInt32) throws -> Int {
        let device = try device(bits)
        return (0..<20).count { _ in shares.take(1, for: device) }
    }

    @Test func `devices leave half of the places to others`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        #expect(try Self.taken(&shares, by: 0) == 8)
        #expect(try (1..<20).reduce(0) { $0 + (try Self.taken(&shares, by: $1)) } == 56)
        shares.giveBack(1, of: try Self.device(0))
        #expect(try Self.taken(&shares, by: 99) == 1)
        for _ in 0..<100 { shares.giveBack(1, of: try Self.device(7)) }
        #expect(try Self.taken(&shares, by: 7) == 8, "what was not taken can't be given back")
    }

    @Test func `one IPv6 subscriber has a quarter, from however many networks`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        let app = try #require(Self.app)
        func device(_ upper: UInt64) -> Device { Device(caller: app, address: .ipv6(upper: upper, lower: 0)) }
        let home: UInt64 = 0x2001_0DB8_0007_0000
        let taken = (0..<100).count { shares.take(1, for: device(home + $0)) }
        #expect(taken == 16)
        let isNeighborIn = shares.take(1, for: device(home + 0x1_0000))
        #expect(isNeighborIn)
        shares.giveBack(1, of: device(home))
        let isBackIn = shares.take(1, for: device(home + 5))
        #expect(isBackIn)
    }

    @Test func `a batch of a device that has nothing under way is done as a whole`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        let device = try Self.device(1)
        let (isFirstIn, isSecondIn) = (shares.take(32, for: device), shares.take(1, for: device))
        #expect(isFirstIn && !isSecondIn)
        shares.giveBack(32, of: device)
        let isThirdIn = shares.take(1, for: device)
        #expect(isThirdIn)
    }
}
