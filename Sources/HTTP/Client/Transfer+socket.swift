// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc

extension Transfer {
    /// Has libcurl ask before it connects to an address, which is known only once the name was looked up.
    func restrict(to filter: AddressFilter?) {
        guard filter != nil else { return }
        unsafe handle.setSocketOpener(
            { context, _, target in
                guard let context = unsafe context, let target = unsafe target else { return -1 }
                return unsafe Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().socket(for: target)
            },
            Unmanaged.passUnretained(self).toOpaque()
        )
    }

    /// A socket for the address, or -1 if it must not be connected to.
    fileprivate func socket(for target: UnsafeMutablePointer<curl_sockaddr>) -> Int32 {
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
