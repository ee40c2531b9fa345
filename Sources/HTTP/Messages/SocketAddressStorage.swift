// SPDX-License-Identifier: Apache-2.0
import Glibc

/// Room for a socket address of any family, and the two families that are read out of it.
struct SocketAddressStorage {
    private var storage = sockaddr_storage()
    private(set) var length = socklen_t(MemoryLayout<sockaddr_storage>.size)

    /// Asks `getsockname` or `getpeername`; `nil` if they fail.
    init?(of socket: Int32, by ask: (Int32, UnsafeMutablePointer<sockaddr>, UnsafeMutablePointer<socklen_t>) -> Int32) {
        let result = unsafe withUnsafeMutablePointer(to: &storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe ask(socket, $0, &length) }
        }
        guard result == 0 else { return nil }
    }

    /// Copies what `accept` has filled in; `nil` if it is longer than any address.
    init?(_ address: UnsafePointer<sockaddr>, length count: Int) {
        guard 0...MemoryLayout<sockaddr_storage>.size ~= count else { return nil }
        length = socklen_t(count)
        unsafe withUnsafeMutableBytes(of: &storage) {
            unsafe $0.copyMemory(from: UnsafeRawBufferPointer(start: address, count: count))
        }
    }

    /// An address to bind to.
    init(_ address: PeerAddress) {
        switch address.address {
        case .ipv4(let bits):
            var four = sockaddr_in()
            four.sin_family = sa_family_t(AF_INET)
            four.sin_addr.s_addr = bits.bigEndian
            four.sin_port = address.port.bigEndian
            length = socklen_t(MemoryLayout<sockaddr_in>.size)
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: four, as: sockaddr_in.self) }
        case .ipv6(let upper, let lower):
            var six = sockaddr_in6()
            six.sin6_family = sa_family_t(AF_INET6)
            six.sin6_addr = in6_addr(upper: upper, lower: lower)
            six.sin6_port = address.port.bigEndian
            length = socklen_t(MemoryLayout<sockaddr_in6>.size)
            unsafe withUnsafeMutableBytes(of: &storage) { unsafe $0.storeBytes(of: six, as: sockaddr_in6.self) }
        }
    }

    var family: Int32 { Int32(storage.ss_family) }

    var ipv4: sockaddr_in? {
        family == AF_INET ? unsafe withUnsafeBytes(of: storage) { unsafe $0.load(as: sockaddr_in.self) } : nil
    }

    var ipv6: sockaddr_in6? {
        family == AF_INET6 ? unsafe withUnsafeBytes(of: storage) { unsafe $0.load(as: sockaddr_in6.self) } : nil
    }

    /// Calls `body` with the address in the form that `bind` takes.
    func withPointer<Result>(_ body: (UnsafePointer<sockaddr>) -> Result) -> Result {
        unsafe withUnsafePointer(to: storage) { storage in
            unsafe storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe body($0) }
        }
    }
}
