// SPDX-License-Identifier: Apache-2.0

/// What iOS 27 and its siblings say of the app beside its key; all of it may be missing.
///
/// Source: Apple, [Attestation Object Validation Guide](https://developer.apple.com/documentation/devicecheck/attestation-object-validation-guide).
package struct AppExtensions: Hashable, Sendable {
    /// How the system decided that the app may run; `nil` where it does not say.
    package private(set) var category: ValidationCategory?
    /// `CFBundleVersion`.
    package private(set) var bundleVersion: String?

    /// An older system's.
    init() {}

    /// Reads a map; members that are not known here are left alone.
    init(_ value: CBORValue?) throws(AppAttestFault) {
        guard let value else { return }
        guard case .map(let members) = value else { throw .extensions }
        if let value = try Self.first(["apple_validation_category_01", "validationCategory"], in: members) {
            category = try ValidationCategory.read(value)
        }
        if let version = try Self.first(["apple_bundle_version_01", "bundleVersion"], in: members) {
            guard case .text(let text) = version, text.utf8.count <= 256 else { throw .extensions }
            bundleVersion = text
        }
    }

    /// The member of one of these names; both would be two answers to one question.
    private static func first(
        _ names: [String],
        in members: [CBORKey: CBORValue]
    ) throws(AppAttestFault) -> CBORValue? {
        let found = names.compactMap { members[.text($0)] }
        guard found.count <= 1 else { throw .extensions }
        return found.first
    }
}

/// How the system decided that an app may run.
package enum ValidationCategory: Int64, CaseIterable, Hashable, Sendable {
    case invalid, platform, testFlight, development, appStore, enterprise, developerID, local, rosetta, outOfProcessJIT
    case noCategory

    /// Four bytes, the lowest first, or a number; a later system may know more of them, which are ``noCategory`` here: none of them may pass for one of these.
    static func read(_ value: CBORValue) throws(AppAttestFault) -> ValidationCategory {
        let number: Int64
        switch value {
        case .integer(let integer): number = integer
        case .bytes(let bytes) where bytes.count == 4: number = bytes.reversed().reduce(0) { $0 << 8 | Int64($1) }
        case .bytes, .text, .array, .map: throw .extensions
        }
        return ValidationCategory(rawValue: number) ?? .noCategory
    }
}
