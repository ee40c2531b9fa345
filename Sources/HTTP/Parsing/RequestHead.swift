// SPDX-License-Identifier: Apache-2.0

/// A request without its body, found good.
struct RequestHead: Sendable {
    var method: Method
    var path: [UInt8]
    var query: [UInt8]?
    var headers: HeaderFields
    var contentLength: Int
    /// Whether `Connection` names `close`.
    var asksToClose: Bool
}
