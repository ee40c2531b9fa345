// SPDX-License-Identifier: Apache-2.0

/// The bytes of large bodies in progress, in total and per address group.
struct LargeBodies {
    private(set) var bytes = 0
    private var bytesByAddress: [PeerAddress.Address: Int] = [:]

    /// Whether there is room for `more` bytes from that address group.
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
