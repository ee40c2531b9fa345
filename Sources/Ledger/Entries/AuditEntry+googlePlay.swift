// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain

extension AuditEntry {
    static func details(
        of message: GooglePlayMessage,
        _ app: GooglePlayApp
    ) -> [Member] {
        [
            ("bundle", .text(app.name.text)), ("notification", .text(message.id)),
            ("package", .text(app.packageName.text)),
            ("store", .text("google-play")), ("ts", .integer(message.sentAt.milliseconds)),
            ("type", .text(message.type)),
        ] + (message.environment.map { [("env", .text($0.rawValue))] } ?? [])
    }
}
