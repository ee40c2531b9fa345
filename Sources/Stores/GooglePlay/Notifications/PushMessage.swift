// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import OfferDomain

/// A message as Pub/Sub posts it, wrapped.
///
/// Source: Google, [Create push subscriptions, message format](https://cloud.google.com/pubsub/docs/push#receive_push).
struct PushMessage: Hashable, Sendable {
    /// 1 to 255 bytes of visible ASCII; the same however often the message is delivered.
    let id: String
    /// What was published.
    let data: [UInt8]

    /// `nil` if this is no such message; unknown members are ignored.
    init?(_ body: [UInt8]) {
        guard let document = try? JSONDocument(body, limits: Self.limits),
            let message = document.root.object?["message"]?.object,
            let id = (message["messageId"] ?? message["message_id"])?.string,
            (1...255).contains(id.utf8.count), id.utf8.allSatisfy({ (0x21...0x7E).contains($0) }),
            let data = message["data"]?.stringBytes.flatMap(Base64.decode)
        else { return nil }
        self.id = id
        self.data = data
    }

    private static let limits = JSONLimits(maximumBytes: 65_536, maximumStringBytes: 65_536)
}
