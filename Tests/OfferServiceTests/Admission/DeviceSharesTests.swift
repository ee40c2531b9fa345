// SPDX-License-Identifier: Apache-2.0
import TestSupport
import Testing

@testable import Configuration
@testable import HTTP
@testable import OfferService
@testable import Stores

/// A device leaves places to other devices, to other networks, and to callers that are no device.
struct DeviceSharesTests {
    private static let app = CallerID("app")

    private static func device(_ bits: UInt32) throws -> Device {
        Device(caller: try #require(app), address: .ipv4(bits))
    }

    private static func taken(_ shares: inout DeviceShares, by bits: UInt32) throws -> Int {
        let device = try device(bits)
        return (0..<20).count { _ in shares.take(1, for: device) }
    }

    @Test func `the fuller it is, the less one device has, and one that has nothing still gets a place`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        let taken = try (0..<16).map { try Self.taken(&shares, by: $0) }
        #expect(taken[0] == 8)
        #expect(taken == taken.sorted(by: >) && taken[15] < 3)
        #expect(taken.reduce(0, +) < 64, "16 devices that take all they can leave room")
        #expect(try Self.taken(&shares, by: 99) >= 1)
    }

    @Test func `never gives out more places than it has, and takes back only places that were taken`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        #expect(try (0..<100).reduce(0) { $0 + (try Self.taken(&shares, by: $1)) } == 64)
        shares.giveBack(1, of: try Self.device(0))
        #expect(try Self.taken(&shares, by: 199) == 1)
        for _ in 0..<100 { shares.giveBack(1, of: try Self.device(7)) }
        for bits: UInt32 in 0..<100 { shares.giveBack(64, of: try Self.device(bits)) }
        shares.giveBack(1, of: try Self.device(199))
        #expect(try Self.taken(&shares, by: 7) == 8)
    }

    @Test func `batches leave the last places to devices that ask for one thing`() throws {
        var shares = DeviceShares(mostInAll: 64, mostOfDevice: 8)
        let batches = try (UInt32(0)..<8).map { shares.take(16, for: try Self.device($0)) }
        #expect(batches.count { $0 } == 3)
        #expect(try (100..<200).reduce(0) { $0 + (try Self.taken(&shares, by: $1)) } == 16)
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
