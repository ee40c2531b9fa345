// SPDX-License-Identifier: Apache-2.0
import Glibc
import ServiceRuntime
import TestSupport
import Testing

struct ServiceManagerTests {
    @Test func `sends nothing if no socket is named`() throws {
        try ServiceManager(socketName: nil).notify(.ready)
    }

    @Test(arguments: Place.allCases)
    func `sends one datagram for each state to the named socket`(place: Place) throws {
        let folder = try TemporaryDirectory()
        let socket = try NotifySocket(place.name(in: folder))
        let manager = ServiceManager(socketName: socket.name)
        try manager.notify(.ready)
        try manager.notify(.alive)
        try manager.notify(.stopping)
        #expect(socket.next() == "READY=1")
        #expect(socket.next() == "WATCHDOG=1")
        #expect(socket.next() == "STOPPING=1")
        #expect(socket.next() == nil)
    }

    @Test(arguments: ["", "@", "/", "relative/path", "vsock:2:1", "/" + String(repeating: "a", count: 107)])
    func `refuses a name that is no address, and says what was expected`(name: String) {
        let error = #expect(throws: ServiceManagerError.self) { try ServiceManager(socketName: name).notify(.ready) }
        #expect(error == .notAnAddress(name))
        #expect(error?.description.contains("an absolute path, or @ and a name") == true)
    }

    @Test func `reports that no process listens`() throws {
        let path = try TemporaryDirectory().path(of: "nobody")
        let error = #expect(throws: ServiceManagerError.self) { try ServiceManager(socketName: path).notify(.ready) }
        #expect(error == .notSent(code: ENOENT))
    }

    enum Place: CaseIterable {
        case file
        case abstract

        func name(in folder: TemporaryDirectory) -> String {
            switch self {
            case .file: folder.path(of: "notify")
            // The folder's name is one that no other run of the tests has.
            case .abstract: "@" + folder.path(of: "notify").dropFirst()
            }
        }
    }
}

/// A socket as systemd has it, bound with what the address is by unix(7).
private final class NotifySocket {
    let name: String
    private let descriptor: Int32

    init(_ name: String) throws {
        self.name = name
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue | SOCK_NONBLOCK.rawValue), 0)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        var bytes = Array(name.utf8)
        if bytes[0] == UInt8(ascii: "@") { bytes[0] = 0 }
        unsafe withUnsafeMutableBytes(of: &address.sun_path) { unsafe $0.copyBytes(from: bytes) }
        let length = socklen_t(2 + bytes.count)
        let result = unsafe withUnsafePointer(to: &address) {
            unsafe $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { unsafe bind(descriptor, $0, length) }
        }
        try #require(result == 0)
    }

    deinit { close(descriptor) }

    /// The next datagram that has come; `nil` if none has.
    func next() -> String? {
        var buffer = [UInt8](repeating: 0, count: 256)
        let count = unsafe recv(descriptor, &buffer, buffer.count, 0)
        return count < 0 ? nil : String(decoding: buffer[..<count], as: UTF8.self)
    }
}
