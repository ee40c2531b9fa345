// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

/// Opens the sockets of one handle, to addresses that may be connected to; lives as long as the handle.
@safe
final class SocketOpener {
    private let filter: AddressFilter?
    /// Whether an address was not connected to because of the filter.
    private(set) var hasRefusedAddress = false

    init(_ filter: AddressFilter?) {
        self.filter = filter
    }

    /// Has libcurl ask before it connects to an address, which is known only once the name was looked up.
    func attach(to handle: EasyHandle) {
        guard filter != nil else { return }
        unsafe handle.setSocketOpener(
            { context, _, target in
                guard let context = unsafe context, let target = unsafe target else { return -1 }
                return unsafe Unmanaged<SocketOpener>.fromOpaque(context).takeUnretainedValue().socket(for: target)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A socket for the address, or -1 if it must not be connected to.
    private func socket(for target: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
        let (family, kind, number) = unsafe (target.pointee.family, target.pointee.socktype, target.pointee.protocol)
        guard let address = unsafe Self.address(target), filter?.admits(address) ?? true else {
            hasRefusedAddress = true
            return -1
        }
        return shim_open_socket(family, kind, number)
    }

    private static func address(_ target: UnsafeMutablePointer<curl_sockaddr>) -> PeerAddress.Address? {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return nil }
        let start = unsafe UnsafeRawPointer(target).advanced(by: offset)
        switch unsafe target.pointee.family {
        case AF_INET:
            let four = unsafe start.loadUnaligned(as: sockaddr_in.self)
            return .ipv4(UInt32(bigEndian: four.sin_addr.s_addr))
        case AF_INET6:
            let six = unsafe start.loadUnaligned(as: sockaddr_in6.self)
            return PeerAddress.Address(upper: six.sin6_addr.upper, lower: six.sin6_addr.lower)
        default: return nil
        }
    }
}
