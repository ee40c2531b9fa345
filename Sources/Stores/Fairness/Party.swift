// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import HTTP

/// The party for which shared work is done; each party has its own share.
package enum Party: Hashable, Sendable {
    /// A caller who proves who it is: a backend, an administrator, or the service itself.
    case caller(CallerID)
    /// Any client with an app's API key at one network address; the key is public.
    case device(Device)
    /// A sender, without an API key, of what claims to be a store's notification, by its network address.
    case unauthenticated(PeerAddress.Address)

    /// The service itself, for what it does on its own account.
    package static let service = Party.caller(.service)

    /// The classes that take turns before parties do.
    enum Kind: CaseIterable { case callers, devices, unauthenticated }

    /// The device, if it is one.
    var device: Device? { if case .device(let device) = self { device } else { nil } }

    /// The group that shares one part: all devices with the same app's key; `nil` for all other parties.
    var group: Party? { device.map { .caller($0.caller) } }

    /// The same party, with its network address widened to that of its subscriber.
    var subscriber: Party {
        switch self {
        case .caller: self
        case .device(let device): .device(Device(caller: device.caller, address: device.address.subscriber))
        case .unauthenticated(let address): .unauthenticated(address.subscriber)
        }
    }

    var kind: Kind {
        switch self {
        case .caller: .callers
        case .device: .devices
        case .unauthenticated: .unauthenticated
        }
    }
}

extension PeerAddress.Address {
    /// What one subscriber may have: an IPv4 address, or an IPv6 network of 48 bits.
    package var subscriber: PeerAddress.Address { if case .ipv4 = self { self } else { network } }
}

extension Caller {
    /// The party whose share is used: the device if the caller is an app, otherwise the caller.
    package var party: Party { device.map(Party.device) ?? .caller(id) }
}
