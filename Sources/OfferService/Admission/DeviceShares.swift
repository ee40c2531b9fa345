// SPDX-License-Identifier: Apache-2.0
import HTTP

/// What is done at the same time for devices, who have an app's key that everybody knows: so much in all, a quarter of it for
/// one subscriber, who has many IPv6 networks, and a share for one device.
struct DeviceShares: Sendable {
    private let mostInAll: Int
    private let mostOfDevice: Int
    private var inAll = 0
    private var byDevice: [Device: Int] = [:]
    private var bySubscriber: [PeerAddress.Address: Int] = [:]

    init(mostInAll: Int, mostOfDevice: Int) {
        self.mostInAll = mostInAll
        self.mostOfDevice = mostOfDevice
    }

    /// Takes places for a device, or tells that there are not so many for it; a device that has none may have more than its
    /// share at once, for a batch is done as a whole.
    mutating func take(_ count: Int, for device: Device) -> Bool {
        let own = byDevice[device, default: 0]
        let neighbors = bySubscriber[device.address.subscriber, default: 0]
        guard inAll + count <= mostInAll,
            neighbors == 0 || neighbors + count <= mostInAll / 4,
            own == 0 || own + count <= mostOfDevice
        else { return false }
        inAll += count
        byDevice[device] = own + count
        bySubscriber[device.address.subscriber] = neighbors + count
        return true
    }

    /// Gives back what was taken; of a device that has taken nothing, nothing.
    mutating func giveBack(_ count: Int, of device: Device) {
        guard let own = byDevice[device] else { return }
        let count = min(count, own)
        inAll -= count
        byDevice[device] = own > count ? own - count : nil
        let neighbors = bySubscriber[device.address.subscriber, default: 0]
        bySubscriber[device.address.subscriber] = neighbors > count ? neighbors - count : nil
    }
}
