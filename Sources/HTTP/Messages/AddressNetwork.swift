// SPDX-License-Identifier: Apache-2.0

/// The addresses that begin with the same bits.
package struct AddressNetwork: Hashable, Sendable {
    private let base: PeerAddress.Address
    private let bits: Int

    /// Reads `ADDRESS` or `ADDRESS/BITS`.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard let first = parts.first, parts.count <= 2, let base = PeerAddress(String(first), port: 0)?.address else {
            return nil
        }
        let (isIPv4, isWrittenAsIPv6) = if case .ipv4 = base { (true, first.contains(":")) } else { (false, true) }
        let width = isWrittenAsIPv6 ? 128 : 32
        guard var bits = parts.count == 2 ? Int(parts[1]) : width, (0...width).contains(bits) else { return nil }
        // Of an IPv4 address that IPv6 wraps, the first 96 bits say no more than that.
        if isIPv4, isWrittenAsIPv6 { bits -= 96 }
        guard bits >= 0 else { return nil }
        (self.base, self.bits) = (base, bits)
    }

    /// Whether the address begins with the network's bits; an IPv4 network holds no IPv6 address.
    package func contains(_ address: PeerAddress.Address) -> Bool {
        switch (base, address) {
        case (.ipv4(let one), .ipv4(let other)): return Self.agree(UInt64(one) << 32, UInt64(other) << 32, first: bits)
        case (.ipv6(let upper, let lower), .ipv6(let otherUpper, let otherLower)):
            return Self.agree(upper, otherUpper, first: min(bits, 64))
                && Self.agree(lower, otherLower, first: max(0, bits - 64))
        default: return false
        }
    }

    /// Whether the first bits are the same.
    private static func agree(_ one: UInt64, _ other: UInt64, first bits: Int) -> Bool {
        bits == 0 || (one ^ other) >> UInt64(64 - bits) == 0
    }
}

/// Which servers a ``Client`` connects to: public addresses, and the networks that are listed.
///
/// A URL that leads to a machine of the own network could otherwise be used to reach what is not meant to be reached.
package struct AddressFilter: Hashable, Sendable {
    /// The networks that are admitted though they are not public.
    package let listed: [AddressNetwork]

    /// No networks admit public addresses alone.
    package init(listed: [AddressNetwork]) {
        self.listed = listed
    }

    /// Whether the address is public or in a listed network.
    package func admits(_ address: PeerAddress.Address) -> Bool {
        listed.contains { $0.contains(address) } || Self.isPublic(address)
    }

    private static func isPublic(_ address: PeerAddress.Address) -> Bool {
        switch address {
        case .ipv4: return !reserved.contains { $0.contains(address) }
        case .ipv6(let upper, let lower):
            // NAT64 (RFC 6052): what counts is the IPv4 address within.
            if upper == 0x0064_FF9B_0000_0000, lower >> 32 == 0 {
                return isPublic(.ipv4(UInt32(truncatingIfNeeded: lower)))
            }
            return globalUnicast.contains { $0.contains(address) } && !reserved.contains { $0.contains(address) }
        }
    }

    private static let globalUnicast = [AddressNetwork("2000::/3")].compactMap(\.self)

    /// Source: the IANA registries of special-purpose IPv4 and IPv6 addresses (RFC 6890), and multicast.
    private static let reserved = [
        "0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12", "192.0.0.0/24",
        "192.0.2.0/24", "192.88.99.0/24", "192.168.0.0/16", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24",
        "224.0.0.0/3", "2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20",
    ].compactMap { AddressNetwork($0) }
}
