// SPDX-License-Identifier: Apache-2.0
import HTTP

/// Which addresses an identity provider may be asked at.
package enum ProviderAddress {
    /// Whether the keys file may name the address: https, or this machine.
    ///
    /// No other party can change an answer from there.
    package static func isAllowed(_ url: String) -> Bool {
        guard let origin = origin(of: url) else { return false }
        return origin.scheme == .https || isThisMachine(origin)
    }

    /// Whether a discovery document at `document` may name the address of the keys.
    ///
    /// A provider must not have the service ask what only the service's own network can reach. So an address there counts only
    /// if the keys file names that network already.
    package static func isAllowed(_ url: String, namedBy document: String) -> Bool {
        guard isAllowed(url), let origin = origin(of: url), let namer = Self.origin(of: document) else { return false }
        return !isPrivate(origin) || isPrivate(namer)
    }

    private static func origin(of url: String) -> Origin? { try? ClientRequest(.get, url: url).origin }

    private static func isThisMachine(_ origin: Origin) -> Bool {
        ["127.0.0.1", "[::1]", "localhost"].contains(origin.host)
    }

    /// Whether the host is this machine, or an address of a private network.
    ///
    /// A name may lead there too; then TLS refuses every server that has no certificate for it.
    private static func isPrivate(_ origin: Origin) -> Bool {
        let host = origin.host
        if host == "localhost" || host.hasSuffix(".localhost") { return true }
        let bare = host.hasPrefix("[") ? String(host.dropFirst().dropLast()) : host
        guard let address = PeerAddress(bare, port: 0) else {
            // Such as 2130706433 and 0x7f.1, which libcurl takes for IPv4 addresses.
            guard let last = host.split(separator: ".").last else { return true }
            return last.hasPrefix("0x") || last.allSatisfy(\.isNumber)
        }
        return address.address.isPrivate
    }
}

extension PeerAddress.Address {
    /// Networks of IPv4 that are not public, with the lengths of their prefixes.
    ///
    /// Source: RFC 6890.
    private static let privateNetworks: [(bits: UInt32, length: UInt32)] = [
        (0x0000_0000, 8), (0x0A00_0000, 8), (0x6440_0000, 10), (0x7F00_0000, 8), (0xA9FE_0000, 16),
        (0xAC10_0000, 12), (0xC0A8_0000, 16), (0xE000_0000, 3),
    ]

    fileprivate var isPrivate: Bool {
        switch self {
        case .ipv4(let bits): Self.privateNetworks.contains { (bits ^ $0.bits) >> (32 - $0.length) == 0 }
        // Only 2000::/3 is public, and there 2002::/16 leads to IPv4.
        case .ipv6(let upper, _): upper >> 61 != 0b001 || upper >> 48 == 0x2002
        }
    }
}
