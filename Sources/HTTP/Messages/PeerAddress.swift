// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The address at the other end of a connection.
package struct PeerAddress: Hashable, Sendable, CustomStringConvertible {
    /// An IP address; the bytes are in the order of the network.
    package enum Address: Hashable, Sendable {
        case ipv4(UInt32)
        case ipv6(upper: UInt64, lower: UInt64)

        /// Of the bits of an IPv6 address: an IPv4 one if it wraps one.
        init(upper: UInt64, lower: UInt64) {
            let wrapsIPv4 = upper == 0 && lower >> 32 == 0xFFFF
            self = wrapsIPv4 ? .ipv4(UInt32(truncatingIfNeeded: lower)) : .ipv6(upper: upper, lower: lower)
        }

        /// The network that an address is in with its neighbors: 24 bits of IPv4, 48 bits of IPv6.
        package var network: Address {
            switch self {
            case .ipv4(let bits): .ipv4(bits & 0xFFFF_FF00)
            case .ipv6(let upper, _): .ipv6(upper: upper & 0xFFFF_FFFF_FFFF_0000, lower: 0)
            }
        }
    }

    /// IPv4 also where the socket is one of IPv6 that takes both.
    package let address: Address
    /// The other end's port.
    package let port: UInt16

    package init(address: Address, port: UInt16) {
        self.address = address
        self.port = port
    }

    /// 127.0.0.1, port 0.
    package static let loopback = PeerAddress(address: .ipv4(0x7F00_0001), port: 0)

    /// What counts as one neighbor for a limit per address: an IPv4 address, or an IPv6 network of 64 bits, since a
    /// single subscriber is usually given a whole one (RFC 6177).
    package var group: Address {
        switch address {
        case .ipv4: address
        case .ipv6(let upper, _): .ipv6(upper: upper, lower: 0)
        }
    }

    /// The network that an address is in with its neighbors: 24 bits of IPv4, 48 bits of IPv6.
    package var network: Address { address.network }

    /// The address without the port, as in “192.0.2.1” and “2001:db8::1”.
    package var description: String {
        switch address {
        case .ipv4(let bits):
            return stride(from: 24, through: 0, by: -8).map { String(bits >> UInt32($0) & 0xFF) }.joined(separator: ".")
        case .ipv6(let upper, let lower):
            var bytes = in6_addr(upper: upper, lower: lower)
            var text = [UInt8](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            unsafe text.withUnsafeMutableBytes { text in
                _ = unsafe inet_ntop(
                    AF_INET6,
                    &bytes,
                    text.baseAddress?.assumingMemoryBound(to: CChar.self),
                    socklen_t(text.count)
                )
            }
            return String(decoding: text.prefix { $0 != 0 }, as: UTF8.self)
        }
    }
}

extension PeerAddress {
    /// Reads a numeric address, as in “0.0.0.0” and “::1”; `nil` for anything else.
    ///
    /// An IPv4 address that IPv6 wraps (`::ffff:192.0.2.1`, RFC 4291) is an IPv4 address here, as in all of these.
    package init?(_ text: String, port: UInt16) {
        var four = in_addr()
        var six = in6_addr()
        if unsafe inet_pton(AF_INET, text, &four) == 1 {
            self.init(address: .ipv4(UInt32(bigEndian: four.s_addr)), port: port)
        } else if unsafe inet_pton(AF_INET6, text, &six) == 1 {
            self.init(address: Address(upper: six.upper, lower: six.lower), port: port)
        } else {
            return nil
        }
    }

    /// Asks the kernel for the address at the other end of a connected socket; `nil` if the peer is gone.
    init?(connectedTo socket: Int32) {
        guard let storage = unsafe SocketAddressStorage(of: socket, by: getpeername) else { return nil }
        self.init(storage)
    }

    init?(_ storage: SocketAddressStorage) {
        if let four = storage.ipv4 {
            self.init(address: .ipv4(UInt32(bigEndian: four.sin_addr.s_addr)), port: UInt16(bigEndian: four.sin_port))
        } else if let six = storage.ipv6 {
            self.init(
                address: Address(upper: six.sin6_addr.upper, lower: six.sin6_addr.lower),
                port: UInt16(bigEndian: six.sin6_port)
            )
        } else {
            return nil
        }
    }
}

extension in6_addr {
    init(upper: UInt64, lower: UInt64) {
        self = unsafe unsafeBitCast((upper.bigEndian, lower.bigEndian), to: in6_addr.self)
    }

    var upper: UInt64 { halves.0 }
    var lower: UInt64 { halves.1 }

    private var halves: (UInt64, UInt64) {
        let halves = unsafe unsafeBitCast(self, to: (UInt64, UInt64).self)
        return (UInt64(bigEndian: halves.0), UInt64(bigEndian: halves.1))
    }
}
