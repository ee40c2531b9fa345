// SPDX-License-Identifier: Apache-2.0
import CLibPQ
import Glibc

/// The functions of libpq, which is loaded when the first PostgreSQL database is opened.
@safe
struct LibPQ: @unchecked Sendable {
    /// Filled once, never changed, never freed.
    let call: UnsafePointer<shim_libpq>

    /// Loads the library; the second time it is there already, or missing for the same reason.
    static func load() throws(StorageError) -> LibPQ { try loaded.get() }

    private static let loaded = Result { () throws(StorageError) in try LibPQ(library: "libpq.so.5") }

    /// Loads a library of that name and looks up every function that is used.
    init(library name: String) throws(StorageError) {
        guard let library = unsafe dlopen(name, RTLD_NOW | RTLD_LOCAL) else {
            let reason = unsafe dlerror().map { unsafe String(cString: $0) } ?? name
            throw .cannotOpen(EngineReport("PostgreSQL needs the library of the package libpq5: \(reason)"))
        }
        let table = UnsafeMutablePointer<shim_libpq>.allocate(capacity: 1)
        if let missing = unsafe shim_libpq_find(library, table) {
            let function = unsafe String(cString: missing)
            unsafe table.deallocate()
            unsafe dlclose(library)
            throw .cannotOpen(EngineReport("\(name) has no \(function): version 14 or later is needed"))
        }
        unsafe call = UnsafePointer(table)
    }
}
