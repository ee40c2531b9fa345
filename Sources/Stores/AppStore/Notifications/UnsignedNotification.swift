// SPDX-License-Identifier: Apache-2.0
package import JSON

/// A body that should be a notification of version 2, and holds no signed payload.
package enum UnsignedNotification {
    case versionOne(VersionOneNotification)
    case withoutPayload
    case notJSON

    /// What metrics and the log call it.
    var label: String {
        switch self {
        case .versionOne: "version-1"
        case .withoutPayload: "no-signed-payload"
        case .notJSON: "body-not-json"
        }
    }
}

/// A notification of version 1, which is not signed; Apple sends them where App Store Connect says so.
///
/// Source: Apple, [App Store Server Notifications V1](https://developer.apple.com/documentation/appstoreservernotifications/app-store-server-notifications-v1).
package struct VersionOneNotification {
    let type: String
    let bundleID: String
    let environment: String

    /// Nil for anything else.
    package init?(_ root: JSONValue) {
        guard let object = root.object, let type = object["notification_type"]?.string,
            Self.members.contains(where: { object[$0] != nil })
        else { return nil }
        self.type = Self.isWord(type) ? type : "unknown"
        bundleID = object["bid"]?.string ?? ""
        environment = ["PROD", "Sandbox"].first { object["environment"]?.string == $0 } ?? "unknown"
    }

    private static let members = ["unified_receipt", "latest_receipt", "password", "bid", "environment"]

    /// Any sender may post such a body, so only a type of this form gets into the log.
    private static func isWord(_ text: String) -> Bool {
        text.utf8.count <= 64
            && text.utf8.allSatisfy { (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains($0) || $0 == UInt8(ascii: "_") }
    }
}
