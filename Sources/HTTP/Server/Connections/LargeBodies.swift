// SPDX-License-Identifier: Apache-2.0

/// What large bodies take that are under way, in all and of each neighbour.
struct LargeBodies {
    private(set) var bytes = 0
    private var bytesByAddress: [PeerAddress.Address: Int] = [:]

    /// Whether there is room for so many bytes more from that neighbour.
    func haveRoom(for more: Int, from group: PeerAddress.Address, _ limits: Limits) -> Bool {
        bytes + more <= limits.bodyBytesInAll
            && bytesByAddress[group, default: 0] + more <= limits.bodyBytesPerAddress
    }

    /// Counts bytes that have come.
    mutating func add(_ more: Int, from group: PeerAddress.Address) {
        bytes += more
        bytesByAddress[group, default: 0] += more
    }

    /// Counts out what was counted of a body.
    mutating func remove(_ count: Int, from group: PeerAddress.Address) {
        bytes -= count
        let rest = bytesByAddress[group, default: 0] - count
        bytesByAddress[group] = rest > 0 ? rest : nil
    }
}
