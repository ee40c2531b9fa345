// SPDX-License-Identifier: Apache-2.0
package import JSON

extension Diagnosis {
    /// One JSON object, for programs.
    package var json: [UInt8] { JSONTree.object(members).bytes }

    /// The members of the object, for an answer that has more of them.
    package var members: [(name: String, value: JSONTree)] {
        let tried: JSONTree = [
            "hypotheses": .integer(triedPayloads), "keys": .integer(triedKeys),
            "recovered": .boolean(recoveredKey != nil),
        ]
        let members: [(name: String, value: JSONTree?)] = [
            ("verdict", .text(verdict.rawValue)),
            ("findings", .array(findings.map(Self.tree))),
            ("tried", tried),
            ("recoveredKeySha256", recoveredKey.map { .text($0) }),
            ("unknownKeySameInBoth", isKeyOfBothReports ? .boolean(true) : nil),
            ("signedBy", signedBy.map { .text($0) }),
            ("notDecidable", .texts(notDecidable)),
            ("lacking", lacking.isEmpty ? nil : .texts(lacking)),
            (
                "errors",
                reportedErrors.isEmpty
                    ? nil : .array(reportedErrors.map { ["domain": .text($0.domain), "code": .integer($0.code)] })
            ),
        ]
        return members.compactMap { name, value in value.map { (name, $0) } }
    }

    private static func tree(_ finding: Finding) -> JSONTree {
        [
            "code": .text(finding.fault.rawValue),
            "certainty": .text(finding.certainty.rawValue),
            "where": .text(finding.fault.place.rawValue),
            "because": .text(finding.fault.because),
            "fix": .text(finding.fault.fix),
        ]
    }

    /// Lines for people: the verdict, what proves it, and what to do.
    package var lines: [String] {
        var lines = [headline]
        if let signedBy { lines.append("It was made with the key \(signedBy).") }
        if let recoveredKey {
            let key = isKeyOfBothReports ? "an unknown key, same in both reports," : "the key"
            lines.append("It was made with \(key) whose public half has the SHA-256 \(recoveredKey).")
        }
        for finding in findings {
            lines += [
                "",
                "\(finding.fault.rawValue) (\(finding.certainty.rawValue), to be put right: \(finding.fault.place.rawValue))",
                "  Because \(finding.fault.because).", "  \(finding.fault.fix)",
            ]
        }
        if !notDecidable.isEmpty {
            lines += ["", "This report cannot tell:"]
            lines += notDecidable.map { "  \($0): \(Self.words(for: $0))" }
            if !lacking.isEmpty { lines.append("  The report lacks: \(lacking.joined(separator: ", ")).") }
        }
        if !reportedErrors.isEmpty {
            let chain = reportedErrors.map { "\($0.domain) \($0.code)" }.joined(separator: ", ")
            lines += ["", "Reported errors: \(chain). Codes of underlying errors are documented nowhere."]
        }
        lines += ["", "Tried: \(counted(triedPayloads, "payload")) under \(counted(triedKeys, "known key"))."]
        return lines
    }

    private func counted(_ count: Int, _ noun: String) -> String { "\(count) \(noun)\(count == 1 ? "" : "s")" }

    private var headline: String {
        switch verdict {
        case .payloadDiffers: "payload-differs: the signature was made over something other than the App Store expects."
        case .formatWrong: "format-wrong: the signature is not written as the App Store expects it."
        case .signedCorrectly:
            "signed-correctly: the signature is right. Look at the account, the offer and the client."
        case .unknownKey: "unknown-key: the signature is judged by a different key than the one that made it."
        case .expired: "expired: the signature was right, and too old when it was used."
        case .reused: "reused: the signature was used before."
        case .notEligibleAtStore:
            "not-eligible-at-store: the signature is right, and the Apple account may not have the offer."
        case .offerNotApplied: "offer-not-applied: the signature is right, and the purchase was made without the offer."
        case .undecided where signedBy != nil || recoveredKey != nil:
            "undecided: the signature is right for values that the report does not have."
        case .undecided: "undecided: no known mistake explains this signature."
        }
    }
}
