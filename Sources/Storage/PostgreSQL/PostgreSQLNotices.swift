// SPDX-License-Identifier: Apache-2.0
import CLibPQ

/// The last warning of a server; by default, libpq would print it.
@safe
final class PostgreSQLNotices {
    private var warning: EngineReport?
    private var call: UnsafePointer<shim_libpq>?

    /// Has the notices of a connection brought here; this object must outlive it.
    func receive(from connection: OpaquePointer, _ call: UnsafePointer<shim_libpq>) {
        unsafe self.call = call
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe _ = call.pointee.PQsetNoticeReceiver(
            connection,
            { context, result in
                guard let context = unsafe context, let result = unsafe result else { return }
                unsafe Unmanaged<PostgreSQLNotices>.fromOpaque(context).takeUnretainedValue().note(result)
            },
            context
        )
    }

    func take() -> EngineReport? {
        defer { warning = nil }
        return warning
    }

    private func note(_ result: OpaquePointer) {
        guard let call = unsafe call else { return }
        let report = unsafe PostgreSQLResult.report(of: result, call)
        // PG_DIAG_SEVERITY_NONLOCALIZED
        let severity = unsafe PostgreSQLResult.field(UInt8(ascii: "V"), of: result, call)
        if severity == "WARNING" { warning = report }
    }
}
