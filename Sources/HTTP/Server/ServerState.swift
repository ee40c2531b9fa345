// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// What a server's event loops share.
final class ServerState: Sendable {
    let configuration: ServerConfiguration
    let responder: any Responder
    /// Open connections of all loops.
    let openConnections = Atomic(0)
    private let tls: Mutex<TLSContext?>
    private let turnedAway = Atomic(0)
    /// Of all loops.
    private let largeBodies = Mutex(LargeBodies())
    private let connectionsFrom = Mutex(ConnectionCounts())

    /// Open connections by address, and by network.
    private struct ConnectionCounts {
        var byAddress: [PeerAddress.Address: Int] = [:]
        var byNetwork: [PeerAddress.Address: Int] = [:]
    }

    init(_ configuration: ServerConfiguration, _ responder: any Responder) throws(ServerError) {
        self.configuration = configuration
        self.responder = responder
        tls = Mutex(try configuration.tls.map { files throws(ServerError) in try TLSContext(files) })
    }

    /// What new connections use; `nil` for plain HTTP.
    var tlsContext: TLSContext? { tls.withLock { $0 } }

    /// Reads the certificate and key again; connections from now on use them.
    ///
    /// If it throws, the old ones stay.
    func reloadTLS() throws(ServerError) {
        guard let files = configuration.tls else { throw .notUsingTLS }
        let fresh = try TLSContext(files)
        tls.withLock { $0 = fresh }
    }

    /// Like ``reloadTLS()``, but the new ones come into use only once `step` has succeeded.
    func reloadTLS(after step: () throws -> Void) throws {
        let fresh = try configuration.tls.map(TLSContext.init)
        try step()
        if let fresh { tls.withLock { $0 = fresh } }
    }

    /// Whether one more connection may be open.
    enum Admission { case admitted, addressIsFull, networkIsFull }

    /// Counts a connection in, unless its address or its network has as many as it may.
    func admit(_ peer: PeerAddress) -> Admission {
        let limits = configuration.limits
        let mostOfNetwork = max(limits.connectionsPerAddress, limits.connections / 4)
        return connectionsFrom.withLock { counts in
            guard counts.byAddress[peer.group, default: 0] < limits.connectionsPerAddress else { return .addressIsFull }
            guard counts.byNetwork[peer.network, default: 0] < mostOfNetwork else { return .networkIsFull }
            counts.byAddress[peer.group, default: 0] += 1
            counts.byNetwork[peer.network, default: 0] += 1
            return .admitted
        }
    }

    /// Lets a connection that is not admitted wait until the client has read why; false if enough of them wait.
    ///
    /// Each counts among all that are open, and an address that has as many as it may can make them without end: beyond a
    /// sixteenth of the total they are closed at once, so that others find room.
    func beginTurningAway() -> Bool {
        let most = max(1, configuration.limits.connections / 16)
        if turnedAway.add(1, ordering: .relaxed).newValue <= most { return true }
        endTurningAway()
        return false
    }

    /// Counts out what ``beginTurningAway()`` let wait.
    func endTurningAway() { turnedAway.subtract(1, ordering: .relaxed) }

    /// Whether a body of that length would find room now; a later one may take it first.
    func hasRoom(forBody length: Int, from group: PeerAddress.Address) -> Bool {
        let bytes = length - Limits.uncountedBodyBytes
        return bytes <= 0 || largeBodies.withLock { $0.haveRoom(for: bytes, from: group, configuration.limits) }
    }

    /// Counts bytes of a large body that have come, to be given to ``giveBodyBytesBack(_:from:)`` once.
    ///
    /// - Returns: False, and nothing is counted, if bodies take as much as they may.
    func takeBodyBytes(_ bytes: Int, from group: PeerAddress.Address) -> Bool {
        largeBodies.withLock { bodies in
            guard bodies.haveRoom(for: bytes, from: group, configuration.limits) else { return false }
            bodies.add(bytes, from: group)
            return true
        }
    }

    /// Counts out what ``takeBodyBytes(_:from:)`` has counted.
    func giveBodyBytesBack(_ bytes: Int, from group: PeerAddress.Address) {
        largeBodies.withLock { $0.remove(bytes, from: group) }
    }

    /// What large bodies take now, without what counts for nothing.
    var bodyBytes: Int { largeBodies.withLock { $0.bytes } }

    /// Counts a connection that ``admit(_:)`` admitted out again.
    func dismiss(_ peer: PeerAddress) {
        connectionsFrom.withLock { counts in
            Self.countOut(peer.group, of: &counts.byAddress)
            Self.countOut(peer.network, of: &counts.byNetwork)
        }
    }

    private static func countOut(_ group: PeerAddress.Address, of counts: inout [PeerAddress.Address: Int]) {
        guard let count = counts[group] else { return }
        counts[group] = count > 1 ? count - 1 : nil
    }
}
