// SPDX-License-Identifier: Apache-2.0
import CLibEvent
import Glibc

/// Sockets that listen on one address and port; the kernel spreads connections over them (`SO_REUSEPORT`).
///
/// Sockets that were not taken are closed when this value ends.
struct ListeningSockets: ~Copyable {
    private var sockets: [Int32] = []
    /// The port they listen on, chosen by the system if 0 was asked for.
    let port: UInt16

    /// - Throws: ``ServerError/cannotListen(address:port:reason:)`` if another socket listens there. With
    ///   `SO_REUSEPORT` alone, a second instance would quietly take half of the first one's connections.
    init(count: Int, address text: String, port: UInt16) throws(ServerError) {
        guard var address = PeerAddress(text, port: port) else { throw .addressInvalid(text) }
        if port != 0 { close(try Self.open(address, isShared: false)) }
        do throws(ServerError) {
            for _ in 0..<count {
                let socket = try Self.open(address, isShared: count > 1)
                sockets.append(socket)
                let bound = unsafe SocketAddressStorage(of: socket, by: getsockname).flatMap { PeerAddress($0) }
                address = PeerAddress(address: address.address, port: bound?.port ?? port)
                guard listen(socket, SOMAXCONN) == 0 else { throw Self.failure(address) }
            }
            self.port = address.port
        } catch {
            // `deinit` does not run for a value that was never whole.
            for socket in sockets { close(socket) }
            throw error
        }
    }

    deinit {
        for socket in sockets { close(socket) }
    }

    /// Gives one away, to be closed by who takes it.
    mutating func takeOne() -> Int32 { sockets.removeLast() }

    /// How many bytes of responses the kernel buffers for a connection whose client does not read.
    ///
    /// The kernel takes twice that for its own records. Without a limit, it would buffer megabytes for each connection.
    private static let sendBufferBytes: Int32 = 128 * 1024

    /// Opens a socket and binds it; fails if a socket that is not shared is bound there.
    private static func open(_ address: PeerAddress, isShared: Bool) throws(ServerError) -> Int32 {
        let storage = SocketAddressStorage(address)
        let descriptor = shim_open_listening_socket(Int32(storage.family))
        guard descriptor >= 0 else { throw failure(address) }
        // Connections have it from the socket that accepts them.
        setOption(SO_SNDBUF, at: SOL_SOCKET, of: descriptor, to: sendBufferBytes)
        guard setOption(SO_REUSEADDR, at: SOL_SOCKET, of: descriptor),
            !isShared || setOption(SO_REUSEPORT, at: SOL_SOCKET, of: descriptor),
            unsafe storage.withPointer({ unsafe bind(descriptor, $0, storage.length) }) == 0
        else {
            let error = failure(address)
            close(descriptor)
            throw error
        }
        return descriptor
    }

    private static func failure(_ address: PeerAddress) -> ServerError {
        .cannotListen(address: address.description, port: address.port, reason: systemErrorText())
    }
}

/// Turns a socket option on, or sets it; false if the system refuses.
@discardableResult
func setOption(_ option: Int32, at level: Int32, of socket: Int32, to value: Int32 = 1) -> Bool {
    var value = value
    return unsafe setsockopt(socket, level, option, &value, socklen_t(MemoryLayout<Int32>.size)) == 0
}
