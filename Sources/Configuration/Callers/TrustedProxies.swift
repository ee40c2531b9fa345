// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// The proxies whose `Forwarded` or `X-Forwarded-For` is believed; from other senders, these headers are ignored.
package struct TrustedProxies: Sendable {
    private let networks: [AddressNetwork]

    /// None are believed.
    package static let none = TrustedProxies(networks: [])

    private init(networks: [AddressNetwork]) { self.networks = networks }

    /// Reads a list of addresses and networks, as `10.0.0.0/8,fd00::/8,192.0.2.7`; `nil` of anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ",", omittingEmptySubsequences: false)
        let networks = parts.compactMap { AddressNetwork($0.trimmed) }
        guard networks.count == parts.count else { return nil }
        self.networks = networks
    }

    /// The client of a request: the last address in the forwarding headers that is not a trusted proxy.
    ///
    /// A proxy writes `Forwarded` (RFC 7239) or `X-Forwarded-For`, and may pass the other one on as the client sent it. If the
    /// two disagree, or cannot be read, the proxy itself counts as the client.
    package func client(of request: Request) -> PeerAddress {
        guard !networks.isEmpty, contains(request.peer) else { return request.peer }
        let forwarded = Self.list(request.headers.values(of: "Forwarded")).map { Self.forParameter($0) ?? "" }
        let chains = [forwarded, Self.list(request.headers.values(of: "X-Forwarded-For"))].filter { !$0.isEmpty }
        let clients = chains.map { client(in: $0, behind: request.peer) }
        let doAgree = clients.allSatisfy { $0.address == clients.first?.address }
        return doAgree ? clients.first ?? request.peer : request.peer
    }

    private func client(in chain: [String], behind proxy: PeerAddress) -> PeerAddress {
        var client = proxy
        for node in chain.reversed() {
            guard let address = Self.address(node) else { return client }
            client = address
            if !contains(address) { return client }
        }
        return client
    }

    /// Whether that is the address of one of them.
    package func contains(_ peer: PeerAddress) -> Bool { networks.contains { $0.contains(peer.address) } }

    /// The elements of the fields, in their order.
    private static func list(_ values: [ArraySlice<UInt8>]) -> [String] {
        values.flatMap { String(decoding: $0, as: UTF8.self).split(separator: ",").map { $0.trimmed } }
    }

    /// The address that an element is for; `nil` if it has none, several, or quotes that hold more than an address.
    private static func forParameter(_ element: String) -> String? {
        let pairs = element.split(separator: ";").map { $0.split(separator: "=", maxSplits: 1).map(\.trimmed) }
        guard pairs.allSatisfy({ $0.count == 2 && $0[1].count { $0 == "\"" } % 2 == 0 }) else { return nil }
        let named = pairs.filter { $0[0].lowercased() == "for" }
        return named.count == 1 ? named[0][1] : nil
    }

    /// An address that may stand in quotes and brackets, and have a port.
    private static func address(_ node: String) -> PeerAddress? {
        var text = node
        if text.hasPrefix("\""), text.hasSuffix("\""), text.count > 1 { text = String(text.dropFirst().dropLast()) }
        if text.hasPrefix("["), let end = text.firstIndex(of: "]") {
            return PeerAddress(String(text[text.index(after: text.startIndex)..<end]), port: 0)
        }
        if let address = PeerAddress(text, port: 0) { return address }
        return text.split(separator: ":").first.flatMap { PeerAddress(String($0), port: 0) }
    }
}

extension StringProtocol {
    fileprivate var trimmed: String {
        String(drop { $0 == " " || $0 == "\t" }.reversed().drop { $0 == " " || $0 == "\t" }.reversed())
    }
}
