// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import HTTP

/// The devices behind one address, with one app's key.
package struct Device: Hashable, Sendable {
    let caller: CallerID
    /// One IPv4 address, or one IPv6 network of 64 bits.
    let address: PeerAddress.Address

    package init(caller: CallerID, address: PeerAddress.Address) {
        (self.caller, self.address) = (caller, address)
    }
}

extension Caller {
    /// The device whose share a request of an app uses, by its address; `nil` for every other caller.
    package var device: Device? { origin.map { Device(caller: id, address: $0) } }
}
