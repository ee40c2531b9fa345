// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import HTTP

/// On whose behalf something is done that others wait for; each has a share of its own.
package enum Party: Hashable, Sendable {
    /// A caller who proves who it is: a backend, an administrator, or the service itself.
    case caller(CallerID)
    /// Whoever has an app's API key, which may be anybody, at one network address.
    case device(Device)
    /// Who sends what claims to be a store's notification, without an API key.
    case unauthenticated(PeerAddress.Address)

    /// The service itself, for what it does on its own account.
    package static let service = Party.caller(.service)

    /// Those among whom turns are taken first.
    enum Kind: CaseIterable { case callers, devices, unauthenticated }

    /// The device, if it is one.
    var device: Device? { if case .device(let device) = self { device } else { nil } }

    /// Who shares one part with others: all devices that have an app's key.
    var group: Party? { device.map { .caller($0.caller) } }

    /// The party by its subscriber, of one that is told apart by its address.
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
    var subscriber: PeerAddress.Address { if case .ipv4 = self { self } else { network } }
}

extension Caller {
    /// Whose share is used: the device's if the caller is an app, or else the caller's.
    package var party: Party { device.map(Party.device) ?? .caller(id) }
}
