// SPDX-License-Identifier: Apache-2.0

/// Variables that Kubernetes sets in each container for each Service of the namespace.
///
/// If a Service's name begins with `offer-signer`, its variables look like settings but are not.
/// Source: [Kubernetes, Discovering services](https://kubernetes.io/docs/concepts/services-networking/service/#environment-variables).
enum KubernetesServiceLink {
    /// Whether a variable is one of `NAME_SERVICE_HOST`, `NAME_SERVICE_PORT`, `NAME_SERVICE_PORT_PORTNAME`, `NAME_PORT`,
    /// `NAME_PORT_8080_TCP` and this followed by `_PROTO`, `_PORT` or `_ADDR`.
    static func isOne(_ name: String, value: String) -> Bool {
        if name.hasSuffix("_SERVICE_HOST") || name.hasSuffix("_SERVICE_PORT") { return true }
        let protocols = ["TCP", "UDP", "SCTP"]
        // If the value is no address, the variable may be the operator's guess at a setting.
        if name.hasSuffix("_PORT") && protocols.contains(where: { value.hasPrefix("\($0.lowercased())://") }) {
            return true
        }
        if name.contains("_SERVICE_PORT_") { return !value.isEmpty && value.utf8.allSatisfy(isDigit) }
        var words = name.split(separator: "_", omittingEmptySubsequences: false)
        if ["PROTO", "PORT", "ADDR"].contains(words.last) { words.removeLast() }
        guard let kind = words.popLast(), protocols.contains(String(kind)), let number = words.popLast() else {
            return false
        }
        return !number.isEmpty && number.utf8.allSatisfy(isDigit) && words.last == "PORT"
    }

    private static func isDigit(_ byte: UInt8) -> Bool { (0x30...0x39).contains(byte) }
}
