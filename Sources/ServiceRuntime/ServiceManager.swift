// SPDX-License-Identifier: Apache-2.0
import Glibc
import JSON

/// Notifies the service manager of the service's state: a datagram to the socket that it names, as in sd_notify(3).
package struct ServiceManager: Sendable {
    /// The states that a unit of `Type=notify` reports to systemd.
    package enum State: String, Sendable {
        /// Everything is loaded and requests are answered.
        case ready = "READY=1"
        case stopping = "STOPPING=1"
        /// All of it gets on.
        case alive = "WATCHDOG=1"
    }

    /// The socket: an absolute path, or `@` and a name in no file system; `nil` if no notifications are wanted.
    private let socketName: String?
    /// Whether it restarts the service if it hears nothing for some time.
    package let watches: Bool

    /// - Parameters:
    ///   - socketName: The value of `NOTIFY_SOCKET`.
    ///   - watches: Whether there is a `WATCHDOG_USEC`.
    package init(socketName: String?, watches: Bool = false) {
        self.socketName = socketName
        self.watches = watches
    }

    /// The service manager that the environment names.
    package static var ofEnvironment: ServiceManager {
        ServiceManager(
            socketName: unsafe getenv("NOTIFY_SOCKET").map { unsafe String(cString: $0) },
            watches: unsafe getenv("WATCHDOG_USEC") != nil
        )
    }

    /// Sends the state; does nothing if no notifications are wanted.
    package func notify(_ state: State) throws(ServiceManagerError) {
        guard let socketName else { return }
        guard var address = sockaddr_un(socketName) else { throw .notAnAddress(socketName) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw .notSent(code: errno) }
        defer { close(descriptor) }
        // A name that begins with NUL has no end but the length.
        let length = socklen_t(MemoryLayout<sa_family_t>.size + socketName.utf8.count)
        let message = Array(state.rawValue.utf8)
        let sent = unsafe withUnsafePointer(to: &address) { address in
            unsafe address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                unsafe sendto(descriptor, message, message.count, Int32(MSG_NOSIGNAL), address, length)
            }
        }
        guard sent == message.count else { throw .notSent(code: errno) }
    }
}

/// Why the service manager could not be notified.
package enum ServiceManagerError: Error, Hashable, Sendable, CustomStringConvertible {
    case notAnAddress(String)
    /// `code` is an `errno`.
    case notSent(code: Int32)

    /// A sentence for the log, with what was expected.
    package var description: String {
        switch self {
        case .notAnAddress(let name):
            "NOTIFY_SOCKET is \(printable(name)); an absolute path, or @ and a name, of at most 107 bytes was expected"
        case .notSent(let code):
            "The service could not notify the service manager through NOTIFY_SOCKET: \(systemMessage(code))"
        }
    }
}

extension sockaddr_un {
    /// The address that `NOTIFY_SOCKET` names; `nil` if it can't be one.
    fileprivate init?(_ name: String) {
        self.init()
        var bytes = Array(name.utf8)
        // One byte of the field stays for the end of a path.
        guard bytes.count > 1, bytes.count < MemoryLayout.size(ofValue: sun_path) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): break
        case UInt8(ascii: "@"): bytes[0] = 0
        default: return nil
        }
        sun_family = sa_family_t(AF_UNIX)
        unsafe withUnsafeMutableBytes(of: &sun_path) { unsafe $0.copyBytes(from: bytes) }
    }
}
