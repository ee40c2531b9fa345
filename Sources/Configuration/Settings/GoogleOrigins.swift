// SPDX-License-Identifier: Apache-2.0
package import HTTP

/// Where Google is asked.
package struct GoogleOrigins: Hashable, Sendable {
    /// The Google Play Developer API.
    package let play: Origin
    /// Tokens for service accounts; the path is `/token`.
    package let oauth: Origin
    /// The public keys of Google's own tokens; the path is `/oauth2/v3/certs`.
    package let certs: Origin
    /// The Play Integrity API.
    package let integrity: Origin

    /// Other servers than Google's: for tests, by an explicit setting.
    package init(play: Origin, oauth: Origin, certs: Origin, integrity: Origin) {
        self.play = play
        self.oauth = oauth
        self.certs = certs
        self.integrity = integrity
    }

    /// Google's own.
    package static let google = GoogleOrigins(
        play: Origin(https: "androidpublisher.googleapis.com"),
        oauth: Origin(https: "oauth2.googleapis.com"),
        certs: Origin(https: "www.googleapis.com"),
        integrity: Origin(https: "playintegrity.googleapis.com")
    )

    /// All of them.
    package var all: [Origin] { [play, oauth, certs, integrity] }
}
