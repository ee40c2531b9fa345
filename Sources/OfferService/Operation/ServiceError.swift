// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import HTTP
package import Ledger
package import Storage
package import TransparencyLog

/// Why the service could not start.
package enum ServiceError: Error, Sendable {
    case configuration(ConfigurationError)
    case database(StorageError)
    case records(LedgerError)
    /// The audit log does not match what was signed of it.
    case log(LogMismatch)
    case server(ServerError)
    /// The client that asks the stores could not be started.
    case client(ClientError)
}

extension ServiceError {
    /// What helps, as the end of a message; empty where the message says it.
    package var advice: String {
        guard case .server(.cannotListen) = self else { return "" }
        return " Choose another address with \(Setting.listen.flag) or \(Setting.listen.variable)."
    }
}
