// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    /// A key of a service account, in a JSON file as Google hands it out, mode 0600.
    package struct AccountKey: Decodable, Hashable, Sendable {
        package let keyID: String
        package let path: String

        enum CodingKeys: String, CodingKey {
            case keyID = "keyId"
            case path
        }
    }

    /// The service account that ``addServiceAccount(_:packageNames:)`` makes by default.
    package static let accountEmail = "offer-signer@example-project.iam.gserviceaccount.com"

    private struct Account: Encodable {
        let email: String
        let packageNames: [String]
        let isDisabled: Bool
    }

    private struct NewKey: Encodable {
        let email: String
        let members: FakeMembers
    }

    /// Lets there be an app besides ``firstApp``, which is empty at first.
    package func setApp(_ packageName: String) throws {
        try perform("setApp", ["packageName": packageName])
    }

    /// Makes a service account with rights for the apps, and a key of it.
    @discardableResult
    package func addServiceAccount(
        _ email: String = accountEmail,
        packageNames: [String] = [firstApp]
    ) throws -> AccountKey {
        try setServiceAccount(email, packageNames: packageNames)
        return try addKey(to: email)
    }

    /// Gives an account rights for other apps, or disables it, or makes one without keys.
    package func setServiceAccount(
        _ email: String = accountEmail,
        packageNames: [String] = [firstApp],
        isDisabled: Bool = false
    ) throws {
        let account = Account(email: email, packageNames: packageNames, isDisabled: isDisabled)
        try perform("setServiceAccount", account)
    }

    /// A further key of an account, with what differs in its file.
    package func addKey(to email: String = accountEmail, changing members: FakeMembers = [:]) throws -> AccountKey {
        try call("addAccountKey", NewKey(email: email, members: members))
    }

    /// Lets no assertion of the key in any more; tokens that were given stay good.
    package func deleteKey(_ keyID: String) throws {
        try perform("deleteAccountKey", ["keyId": keyID])
    }

    /// How long tokens given from now on live, and whether the answer has that as text.
    package func setTokens(lifeSeconds: Int = 3599, writesLifeAsText: Bool = false) throws {
        try perform(
            "setTokens",
            ["lifeSeconds": .integer(lifeSeconds), "writesLifeAsText": .boolean(writesLifeAsText)] as FakeMembers
        )
    }

    /// No token that was given opens anything any more: 401 authError.
    package func revokeTokens() throws {
        try perform("revokeTokens", Nothing())
    }
}
