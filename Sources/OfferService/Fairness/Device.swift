// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP

/// The devices behind one address, with one app's key.
package struct Device: Hashable, Sendable {
    let caller: CallerID
    /// One IPv4 address, or one IPv6 network of 64 bits.
    let address: PeerAddress.Address
}

extension Caller {
    /// Whose share a request takes where those of an app have one for each address; `nil` of every other caller.
    var device: Device? { origin.map { Device(caller: id, address: $0) } }
}
