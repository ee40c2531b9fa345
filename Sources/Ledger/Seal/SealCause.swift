// SPDX-License-Identifier: Apache-2.0
package import Configuration
package import OfferDomain

/// Why the service signs nothing; these are all the ways.
package enum SealCause: String, CaseIterable, Hashable, Sendable {
    /// An administrator sealed the service, by a call or a command.
    case administrator
    /// The file of the setting `--seal-file` is there.
    case file
    /// A fresh signature did not verify.
    case selfVerification = "self-verification"
    /// The time of day jumped, or is before that of the last record.
    case clockStepped = "clock-stepped"
    /// No time service keeps the system's clock right.
    case clockUnsynchronised = "clock-unsynchronised"
    /// Records can't be written, so that nothing may be signed.
    case logUnwritable = "log-unwritable"
    /// The log and its own checkpoint contradict each other.
    case checkpoint

    /// Whether it lasts across restarts until it is lifted; the others hold as long as what they name.
    package var isSticky: Bool {
        switch self {
        case .administrator, .selfVerification, .clockStepped, .checkpoint: true
        case .file, .clockUnsynchronised, .logUnwritable: false
        }
    }

    /// What ends it, for people: the command, the setting, or where it is explained.
    package var remedy: String {
        switch self {
        case .administrator: "to lift it: offer-signer unseal --reason TEXT, or POST /v1/unseal"
        case .file: "remove the file that --seal-file (OFFER_SIGNER_SEAL_FILE) names"
        case .selfVerification:
            "test the machine and the key's file, start the service again, then: offer-signer unseal --reason TEXT"
        case .clockStepped: "set the clock right, then: offer-signer unseal --reason TEXT"
        case .clockUnsynchronised:
            "run a time service (chrony, systemd-timesyncd), or to try things out: serve with --clock-check warn "
                + "(OFFER_SIGNER_CLOCK_CHECK)"
        case .logUnwritable: "make room for the database of --database, and make it writable for the service"
        case .checkpoint:
            "see docs/runbook.md, “Restore a backup”; offer-signer audit verify says what differs"
        }
    }

    /// Whether it may end without an administrator's action, so that asking again makes sense.
    package var endsByItself: Bool { self == .clockUnsynchronised || self == .logUnwritable }
}

/// One cause that holds.
package struct ActiveSeal: Hashable, Sendable {
    /// Why the service is sealed.
    package let cause: SealCause
    /// When it was sealed, by the clock of the program that sealed it.
    package let since: Timestamp
    /// A sentence, or the administrator's reason.
    package let detail: String
    /// Who sealed it.
    package let requester: Requester
    /// Whether its entry is durable.
    ///
    /// A seal without a durable entry holds too, and is recorded as soon as possible.
    package var isRecorded: Bool

    package init(cause: SealCause, since: Timestamp, detail: String, requester: Requester, isRecorded: Bool) {
        self.cause = cause
        self.since = since
        self.detail = detail
        self.requester = requester
        self.isRecorded = isRecorded
    }
}

/// Who seals, unseals, disables or enables, as the records name it.
package enum Requester: Hashable, Sendable {
    /// By a call of the API.
    case caller(CallerID)
    /// By a command on the machine itself.
    case command
    case file
    /// The service itself.
    case service

    /// What an entry's `by` says.
    package var kind: String {
        switch self {
        case .caller: "api"
        case .command: "command"
        case .file: "file"
        case .service: "service"
        }
    }

    /// The caller; `nil` if no call of the API did it.
    package var callerID: CallerID? {
        if case .caller(let id) = self { id } else { nil }
    }
}

/// The stated reason to seal or unseal: 1 to 200 printable ASCII characters.
package struct SealReason: Hashable, Sendable {
    /// The longest reason.
    package static let maximumBytes = 200

    /// The reason, which is recorded as it is.
    package let text: String

    /// Takes the bytes of a body or an argument.
    package init(_ bytes: some Collection<UInt8>) throws(SealReasonError) {
        guard (1...Self.maximumBytes).contains(bytes.count), bytes.allSatisfy({ (0x20...0x7E).contains($0) }) else {
            throw SealReasonError()
        }
        text = String(decoding: bytes, as: UTF8.self)
    }
}

/// A text that is no ``SealReason``.
package struct SealReasonError: Error, CustomStringConvertible {
    /// What is expected, without what was given.
    package var description: String { "expected 1 to \(SealReason.maximumBytes) printable ASCII characters" }
}
