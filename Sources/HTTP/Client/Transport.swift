// SPDX-License-Identifier: Apache-2.0

/// Sends requests; ``Client`` does it over the network, and tests do it as they like.
package protocol Transport: Sendable {
    /// The whole answer, whatever its status.
    ///
    /// Cancelling the task ends the transfer with ``ClientError/cancelled``.
    func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse
}
