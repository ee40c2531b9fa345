// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON

extension Response {
    /// A JSON response that must not be stored.
    static func json(_ body: [UInt8], status: Int = 200) -> Response {
        Response(status: status, headers: unstoredJSON, body: body)
    }

    /// The same of a value that was put together.
    static func json(_ tree: JSONTree, status: Int = 200) -> Response { json(tree.bytes, status: status) }

    /// One list for all of them, which the server knows again without a look into it.
    private static let unstoredJSON: [(name: String, value: String)] = [
        ("Content-Type", "application/json"), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
    ]
}
