// SPDX-License-Identifier: Apache-2.0

/// What a file must be like for a secret to be read from it.
package struct SecretFilePolicy: Hashable, Sendable {
    /// The largest size, in bytes: 16 KiB, many times what any key needs.
    package static let maximumByteCount = 16_384

    /// Whether the file's group may read it, as with mode 0440 or 0640.
    ///
    /// Only the owner may ever have write permission.
    package let allowsGroupRead: Bool

    /// The owner alone may read the file, unless said otherwise.
    package init(allowsGroupRead: Bool = false) {
        self.allowsGroupRead = allowsGroupRead
    }

    /// The permission bits that no secret file may have.
    var forbiddenMode: UInt32 { allowsGroupRead ? 0o037 : 0o077 }
}
