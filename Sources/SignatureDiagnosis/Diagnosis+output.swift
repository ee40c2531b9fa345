// SPDX-License-Identifier: Apache-2.0
package import JSON

extension Diagnosis {
    /// One JSON object, for programs.
    package var json: [UInt8] {
        var writer = JSONWriter()
        writer.beginObject()
        write(to: &writer)
        writer.endObject()
        return writer.bytes
    }

    /// Writes the members of the object, for an answer that has more of them.
    package func write(to writer: inout JSONWriter) {
        writer.member("verdict", plain: verdict.rawValue)
        writer.name("findings")
        writer.beginArray()
        for finding in findings {
            writer.beginObject()
            writer.member("code", plain: finding.fault.rawValue)
            writer.member("certainty", plain: finding.certainty.rawValue)
            writer.member("where", plain: finding.fault.place.rawValue)
            writer.name("because")
            writer.string(finding.fault.because)
            writer.name("fix")
            writer.string(finding.fault.fix)
            writer.endObject()
        }
        writer.endArray()
        writeTried(&writer)
    }

    private func writeTried(_ writer: inout JSONWriter) {
        writer.name("tried")
        writer.beginObject()
        writer.member("hypotheses", integer: Int64(triedPayloads))
        writer.member("keys", integer: Int64(triedKeys))
        writer.name("recovered")
        writer.boolean(recoveredKey != nil)
        writer.endObject()
        if let recoveredKey { writer.member("recoveredKeySha256", plain: recoveredKey) }
        if isKeyOfBothReports {
            writer.name("unknownKeySameInBoth")
            writer.boolean(true)
        }
        if let signedBy {
            writer.name("signedBy")
            writer.string(signedBy)
        }
        writer.name("notDecidable")
        writer.beginArray()
        for code in notDecidable { writer.string(plain: code) }
        writer.endArray()
        if !lacking.isEmpty {
            writer.name("lacking")
            writer.beginArray()
            for name in lacking { writer.string(plain: name) }
            writer.endArray()
        }
        if !reportedErrors.isEmpty { writeErrors(&writer) }
    }

    private func writeErrors(_ writer: inout JSONWriter) {
        writer.name("errors")
        writer.beginArray()
        for level in reportedErrors {
            writer.beginObject()
            writer.name("domain")
            writer.string(level.domain)
            writer.member("code", integer: level.code)
            writer.endObject()
        }
        writer.endArray()
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
        case .payloadDiffers: "payload-differs: the signature was made over something else than the App Store expects."
        case .formatWrong: "format-wrong: the signature is not written as the App Store expects it."
        case .signedCorrectly:
            "signed-correctly: the signature is right. Look at the account, the offer and the client."
        case .unknownKey: "unknown-key: the signature is judged by another key than the one that made it."
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
