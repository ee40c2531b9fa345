// SPDX-License-Identifier: Apache-2.0

/// A whole request, found good.
struct ScannedRequest: Sendable {
    var method: Method
    var path: [UInt8]
    var query: [UInt8]?
    var headers: HeaderFields
    var body: [UInt8]
    /// Whether `Connection` names `close`.
    var asksToClose: Bool
}
