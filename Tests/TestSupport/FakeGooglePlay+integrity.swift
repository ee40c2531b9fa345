// SPDX-License-Identifier: Apache-2.0

extension FakeGooglePlay {
    private struct IntegrityToken: Encodable {
        let token: String
        let payload: FakeMembers
        let packageName: String
        let goodFor: Int?
    }

    /// Sets the answer about a Play Integrity token, for that many requests; then its verdicts are cleared.
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
