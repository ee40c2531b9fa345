// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

extension EndToEnd {
    /// The fake Google Play, as curl and PyJWT see it: service accounts and access tokens.
    @Suite(.ring(.check)) struct FakeGooglePlayTokenTests {
        private let play: FakeGooglePlay
        private let client: FakeGooglePlayClient

        init() async throws {
            client = try await FakeGooglePlayClient.fresh()
            play = client.play
        }

        @Test func `the file of a key is its owner's alone and as Google makes it`() throws {
            let attributes = try FileManager.default.attributesOfItem(atPath: client.key.path)
            #expect(attributes[.posixPermissions] as? Int == 0o600)
            let file = textOfFile(client.key.path)
            #expect(jsonValue("/type", in: file) == "service_account")
            #expect(jsonValue("/client_email", in: file) == FakeGooglePlay.accountEmail)
            #expect(jsonValue("/private_key_id", in: file) == client.key.keyID)
            #expect(jsonValue("/private_key", in: file)?.hasPrefix("-----BEGIN PRIVATE KEY-----\n") == true)
            #expect(jsonValue("/token_uri", in: file) == "https://oauth2.googleapis.com/token")
            let other = try play.addKey(changing: ["client_email": .null, "type": "authorized_user"])
            #expect(jsonValue("/type", in: textOfFile(other.path)) == "authorized_user")
            #expect(jsonValue("/client_email", in: textOfFile(other.path)) == nil)
        }

        @Test(arguments: [["--http2"], ["--http1.1"]])
        func `a good assertion opens the API, in both versions of HTTP`(option: [String]) async throws {
            let answer = try await client.askForToken()
            #expect(answer.status == 200 && answer.value("/token_type") == "Bearer")
            #expect(answer.value("/expires_in") == "3599")
            let token = try #require(answer.value("/access_token"))
            #expect(try await client.get("/subscriptions", token: token, option).status == 200)
            #expect(try await client.get("/subscriptions", scheme: .http, token: token).status == 200)
            #expect(try play.requests().dropLast().last?.protocol == (option == ["--http2"] ? "h2" : "http/1.1"))
            #expect(try play.counts().tokensIssued == 1)
            try play.setTokens(lifeSeconds: 60, writesLifeAsText: true)
            #expect(try await client.askForToken().body.contains(#""expires_in":"60""#))
        }

        @Test(arguments: BadAssertion.rows)
        func `a bad assertion gets no token, and the answer says why`(row: BadAssertion) async throws {
            let answer = try await client.askForToken(row.changes)
            #expect((400...401).contains(answer.status))
            #expect(answer.value("/error") == row.code)
            #expect(answer.value("/error_description")?.contains(row.description) == true, "\(answer)")
            let counts = try play.counts()
            #expect(counts.tokensIssued == 0 && counts.tokenRefusals.count == 1)
        }

        @Test func `a request for a token has to be a right form`() async throws {
            let none = try await client.postForm(["assertion": "a.b.c"])
            #expect(none.status == 400 && none.value("/error") == "unsupported_grant_type")
            let grant = "urn:ietf:params:oauth:grant-type:jwt-bearer"
            #expect(try await client.postForm(["grant_type": grant]).value("/error") == "invalid_request")
            let text = try await client.postForm(["grant_type": grant, "assertion": "abc"])
            #expect(text.value("/error") == "invalid_grant")
            let json = try await client.ask(play.tokenURL(), ["-H", "Content-Type: application/json", "-d", "{}"])
            #expect(json.value("/error") == "invalid_request")
        }

        @Test func `keys end, accounts are disabled, tokens expire and are revoked`() async throws {
            // Its own, because tokens that were revoked stay so.
            let play = try FakeGooglePlay()
            let client = try await FakeGooglePlayClient(play)
            let key = try play.addKey()
            let token = try await client.newToken(key: key)
            try play.deleteKey(key.keyID)
            #expect(try await client.askForToken(key: key).value("/error_description") == "Invalid JWT Signature.")
            #expect(try await client.get("/subscriptions", token: token).status == 200)
            try play.advance(seconds: 3598)
            #expect(try await client.get("/subscriptions", token: token).status == 200)
            try play.advance(seconds: 2)
            let expired = try await client.get("/subscriptions", token: token)
            expectMembers(["/error/errors/0/reason": "authError", "/error/status": "UNAUTHENTICATED"], in: expired)
            #expect(expired.status == 401)
            try play.setRealTime()
            let revoked = try await client.newToken()
            try play.revokeTokens()
            #expect(try await client.get("/subscriptions", token: revoked).value("/error/code") == "401")
            #expect(try play.counts().apiRefusals == ["authError: expired", "authError: revoked"])
            try play.setServiceAccount(isDisabled: true)
            #expect(try await client.askForToken().value("/error") == "disabled_client")
        }

        @Test func `an account sees the apps that it has rights for, with the right scope`() async throws {
            let token = try await client.newToken()
            try play.setApp("com.example.other")
            let other = play.origin() + "/androidpublisher/v3/applications/com.example.other/subscriptions"
            let denied = try await client.ask(other, token: token)
            #expect(denied.status == 401 && denied.value("/error/errors/0/reason") == "permissionDenied")
            try play.setServiceAccount(packageNames: [FakeGooglePlay.firstApp, "com.example.other"])
            #expect(try await client.ask(other, token: token).status == 200)
            let nobody = play.origin() + "/androidpublisher/v3/applications/com.example.nobody/subscriptions"
            let unknown = try await client.ask(nobody, token: token)
            #expect(unknown.status == 404 && unknown.value("/error/errors/0/reason") == "applicationNotFound")
            let scope = #"{"claims":{"scope":"https://www.googleapis.com/auth/drive"}}"#
            let narrow = try await client.get("/subscriptions", token: client.newToken(scope))
            #expect(narrow.status == 403 && narrow.value("/error/errors/0/reason") == "insufficientPermissions")
        }
    }
}
