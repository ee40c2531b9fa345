// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    private struct IntegrityToken: Encodable {
        let token: String
        let payload: FakeMembers
        let packageName: String
        let goodFor: Int?
    }

    /// Sets what is answered about a token of Play Integrity, so many times; then its verdicts are cleared.
    package func setIntegrityToken(
        _ token: String,
        payload: FakeMembers,
        of packageName: String = firstApp,
        goodFor: Int? = nil
    ) throws {
        let known = IntegrityToken(token: token, payload: payload, packageName: packageName, goodFor: goodFor)
        try perform("setIntegrityToken", known)
    }
}
