// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Limits on concurrent work for app devices: in total, per subscriber, and per device.
///
/// The share of each device shrinks as places fill up: at most a quarter of the free places, so that a few devices leave
/// room for others (dynamic thresholds; Choudhury and Hahne, 1998). The last eighth is for devices that ask for one thing.
///
/// One subscriber may have a quarter of the total, because one IPv6 subscriber has up to 65,536 networks of 64 bits.
package struct DeviceShares: Sendable {
    private let mostInAll: Int
    private let mostOfDevice: Int
    private var inAll = 0
    private var byDevice: [Device: Int] = [:]
    private var bySubscriber: [PeerAddress.Address: Int] = [:]

    package init(mostInAll: Int, mostOfDevice: Int) {
        self.mostInAll = mostInAll
        self.mostOfDevice = mostOfDevice
    }

    /// Reserves places for a device; false if a limit is reached.
    ///
    /// An idle device may exceed its own limit once, so that the service can accept a batch as a whole.
    package mutating func take(_ count: Int, for device: Device) -> Bool {
        let own = byDevice[device, default: 0]
        let neighbors = bySubscriber[device.address.subscriber, default: 0]
        let free = mostInAll - inAll
        guard count <= free, count == 1 || free - count >= mostInAll / 8,
            neighbors == 0 || neighbors + count <= mostInAll / 4,
            own == 0 || own + count <= min(mostOfDevice, free / 4)
        else { return false }
        inAll += count
        byDevice[device] = own + count
        bySubscriber[device.address.subscriber] = neighbors + count
        return true
    }

    /// Releases places; does nothing for a device that holds none.
    package mutating func giveBack(_ count: Int, of device: Device) {
        guard let own = byDevice[device] else { return }
        let count = min(count, own)
        inAll -= count
        byDevice[device] = own > count ? own - count : nil
        let neighbors = bySubscriber[device.address.subscriber, default: 0]
        bySubscriber[device.address.subscriber] = neighbors > count ? neighbors - count : nil
    }
}
