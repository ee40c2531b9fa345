// SPDX-License-Identifier: Apache-2.0
import Glibc

/// The parameters with which libpq connects.
///
/// The address can override every parameter before it.
struct PostgreSQLParameters {
    private var list: [(name: String, value: String)]

    init(_ address: PostgreSQLAddress) {
        list = [
            ("fallback_application_name", "offer-signer"),
            ("connect_timeout", "5"),
            // A server that is gone without a word is noticed within seconds.
            ("tcp_user_timeout", "5000"),
            ("keepalives_idle", "5"),
            ("keepalives_interval", "2"),
            ("keepalives_count", "3"),
        ]
        // Of several servers, the one that takes writes; for a single one, our own check says more than libpq's.
        if address.namesSeveralHosts { list.append(("target_session_attrs", "read-write")) }
        list.append(("dbname", address.uri))
        list.append(("client_encoding", "UTF8"))
    }

    /// Calls `body` with two lists, of names and of values, each with a null at its end.
    mutating func withPointers<Value>(
        _ body: (UnsafePointer<UnsafePointer<CChar>?>, UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let texts = unsafe list.map { unsafe (strdup($0.name), strdup($0.value)) }
        defer {
            for unsafe(name, value) in unsafe texts {
                unsafe free(name)
                unsafe free(value)
            }
        }
        let names = unsafe texts.map { unsafe UnsafePointer($0.0) } + [nil]
        let values = unsafe texts.map { unsafe UnsafePointer($0.1) } + [nil]
        return unsafe body(names, values)
    }
}
