// SPDX-License-Identifier: Apache-2.0
import Cryptography
// The standard library has the normal forms of Unicode, but exposes them only to its own libraries.
@_spi(_Unicode) import Swift

/// The mistakes about the customer whose purchase was signed.
extension Variations {
    mutating func addAccounts() {
        if let token = fields.appAccountToken {
            addForms(ofToken: token)
        } else if let name = fields.applicationUsername {
            addForms(ofName: name)
        }
        addOthers(than: fields[.account])
        let names =
            [fields[.account], fields.applicationUsername, report.received.appAccountToken]
            + [report.received.applicationUsername] + report.customerNames
        for name in names.compactMap(\.self) { add(.account, .tokenObfuscated, texts: Self.uuid(byMD5Of: name)) }
    }

    private mutating func addForms(ofToken token: String) {
        add(.account, .tokenCase, texts: token.uppercased(), token)
        add(.account, .tokenForm, texts: token.lowercased().replacing("-", with: ""))
        add(.account, .tokenForm, isFrequent: false, texts: token.uppercased().replacing("-", with: ""))
        add(.account, .tokenNotSigned, texts: "")
        for name in [fields.applicationUsername, report.received.applicationUsername].compactMap(\.self)
        where !Self.isObfuscated(token, of: name) {
            add(.account, .usernameSigned, texts: name, name.lowercased(), Self.trimmed(name))
        }
    }

    private mutating func addForms(ofName name: String) {
        let trimmed = Self.trimmed(name)
        add(.account, .usernameForm, texts: name.lowercased(), trimmed, name.uppercased(), name + " ")
        add(.account, .usernameForm, isFrequent: false, texts: " " + name, name + "\n", trimmed.lowercased())
        for form in [name, trimmed, name.lowercased()] {
            add(.account, .usernameForm, isFrequent: form == name, texts: Self.text(form._nfc), Self.text(form._nfd))
        }
        add(.account, .tokenNotSigned, texts: "")
    }

    /// The names of the customer that the app did not attach.
    private mutating func addOthers(than attached: String?) {
        let others = [report.received.appAccountToken, report.received.applicationUsername] + report.customerNames
        for other in others.compactMap(\.self) {
            guard let attached else {
                add(.account, .tokenNotAttached, texts: other, other.lowercased())
                continue
            }
            guard Self.folded(other) != Self.folded(attached) else { continue }
            let isID = report.customerNames.contains(other) && fields.appAccountToken != nil
            let fault: SignatureFault = isID ? .customerIDSigned : .otherTokenSigned
            let isObfuscated = Self.isObfuscated(attached, of: other)
            add(.account, isObfuscated ? .tokenObfuscated : fault, texts: other, other.lowercased())
        }
    }

    /// Whether a token is what client libraries make of a name.
    private static func isObfuscated(_ token: String, of name: String) -> Bool {
        [name, name.lowercased()].contains { uuid(byMD5Of: $0) == token.lowercased() }
    }

    /// In lower case, trimmed: what is but another form of a name is the same here, also in another normal form.
    private static func folded(_ name: String) -> String { trimmed(name).lowercased() }

    private static func trimmed(_ name: String) -> String {
        String(name.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
    }

    private static func text(_ scalars: some Sequence<Unicode.Scalar>) -> String {
        var text = String.UnicodeScalarView()
        text.append(contentsOf: scalars)
        return String(text)
    }

    /// A UUID of version 3 in form, made of a name's MD5 as client libraries do it.
    private static func uuid(byMD5Of name: String) -> String? {
        guard let digest = MD5.digest(of: Array(name.utf8)) else { return nil }
        let digits = Array(digest.flatMap { [$0 >> 4, $0 & 15] }.map { String($0, radix: 16) })
        let parts = [digits[0..<8], digits[8..<12], ["3"] + digits[13..<16], ["8"] + digits[17..<20], digits[20...]]
        return parts.map { $0.joined() }.joined(separator: "-")
    }
}
