// SPDX-License-Identifier: Apache-2.0

/// What is asked of one server at the same time for devices, who have an app's key that everybody knows: half of what may be
/// asked in all, and for one device so much that a batch is answered soon.
struct DevicePlaces: Sendable {
    private var inAll = 0
    private var byDevice: [Device: Int] = [:]

    private static let (mostInAll, mostOfDevice) = (64, 8)

    /// Takes a place for a device, or tells that it has as many as it may; everybody else needs none.
    mutating func take(for party: Party) -> Bool {
        guard case .device(let device) = party else { return true }
        guard inAll < Self.mostInAll, byDevice[device, default: 0] < Self.mostOfDevice else { return false }
        inAll += 1
        byDevice[device, default: 0] += 1
        return true
    }

    mutating func giveBack(_ party: Party) {
        guard case .device(let device) = party, let count = byDevice[device] else { return }
        inAll -= 1
        byDevice[device] = count > 1 ? count - 1 : nil
    }
}

extension Party {
    /// Who shares one part with others: all devices that have an app's key.
    var group: Party? {
        if case .device(let device) = self { .caller(device.caller) } else { nil }
    }
}
