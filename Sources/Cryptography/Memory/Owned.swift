// SPDX-License-Identifier: Apache-2.0
import COpenSSL

/// A C object and the function that frees it, called once, when the owner goes away.
///
/// The owner keeps the pointer: read it in the call that needs it and keep no copy.
@safe
struct Owned: ~Copyable {
    let pointer: OpaquePointer
    private let free: (OpaquePointer) -> Void

    /// Takes ownership of what a C constructor returned, or throws OpenSSL's reason for returning nothing.
    init(
        _ made: OpaquePointer?,
        freedBy free: @escaping (OpaquePointer) -> Void,
        while operation: String
    ) throws(OpenSSLError) {
        guard let made = unsafe made else { throw .drain(operation) }
        unsafe self.init(made, freedBy: free)
    }

    /// Takes ownership of an object that is there.
    init(_ made: OpaquePointer, freedBy free: @escaping (OpaquePointer) -> Void) {
        unsafe self.pointer = made
        unsafe self.free = free
    }

    deinit {
        unsafe free(pointer)
    }
}
