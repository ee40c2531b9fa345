// SPDX-License-Identifier: Apache-2.0
import Glibc
import Ledger

extension Instance {
    /// The host's name and the process's number, as people know an instance.
    static var processName: String {
        hostName.map { "\($0):\(getpid())" } ?? "process \(getpid())"
    }

    /// This machine's name; `nil` if the system does not say it.
    package static var hostName: String? {
        var name = [CChar](repeating: 0, count: 65)
        guard unsafe gethostname(&name, name.count - 1) == 0 else { return nil }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension ServiceError {
    /// Why the service could not join the others.
    init(_ error: MembershipError) {
        switch error {
        case .database(let error): self = .database(error)
        case .ledger(let error): self = .records(error)
        }
    }
}
