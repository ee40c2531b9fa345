// SPDX-License-Identifier: Apache-2.0
import HTTP
import JSON
import OfferDomain
import ServiceRuntime

/// Which witnesses are to sign the log's checkpoints, and how many of them are enough.
///
/// Lines of words: `log VKEY [URL]`, `witness NAME VKEY [URL]`, `group NAME any|all|NUMBER MEMBER…`, and once
/// `quorum NAME|none`. A name is known from its line on. Empty lines and lines that begin with `#` mean nothing.
///
/// Source: [C2SP tlog-policy](https://c2sp.org/tlog-policy).
package struct LogPolicy: Hashable, Sendable {
    /// A witness: it signs a log that it has seen grow.
    package struct Witness: Hashable, Sendable {
        /// The name that the policy's other lines use.
        package let name: String
        /// The key that its cosignatures must verify with.
        package let key: NoteVerifierKey
        /// Where checkpoints are submitted: https, or http on this very machine; without a slash at its end.
        package let url: String
    }

    /// The members of a group, and how many of them are needed; a group may be a member of another.
    struct Group: Hashable, Sendable {
        let needed: Int
        let members: [String]
    }

    /// The logs that the policy is for; empty if it is for any.
    package private(set) var logs: [NoteVerifierKey] = []
    /// In the order of the lines; every witness is asked, even one that no group names.
    package private(set) var witnesses: [Witness] = []
    private var groups: [String: Group] = [:]
    /// The witness or group that is enough; `nil` for none.
    private var quorum: String?

    /// The most witnesses of one policy; each is asked by a thread of its own.
    package static let maximumWitnesses = 32

    /// Reads the text of a policy; everything that is wrong is thrown at once, with the number of its line.
    package init(parsing text: String) throws(LogPolicyError) {
        var reader = Reader()
        for (index, line) in text.split(
            omittingEmptySubsequences: false,
            // CR and LF together are one character.
            whereSeparator: { $0 == "\n" || $0 == "\r\n" }
        ).enumerated() {
            let words = line.split(whereSeparator: { $0 == " " || $0 == "\t" || $0 == "\r" })
                .map(String.init)
            guard let first = words.first, !first.hasPrefix("#") else { continue }
            reader.read(first, Array(words.dropFirst()), line: index + 1)
        }
        if !reader.hasQuorum { reader.note(nil, "has no quorum line; “quorum none” demands no witness") }
        guard reader.faults.isEmpty else { throw LogPolicyError(faults: reader.faults) }
        self = reader.policy
    }

    private init() {}

    /// Whether the signatures of these witnesses, by name, are enough.
    package func isMet(by signers: Set<String>) -> Bool {
        quorum.map { isMet($0, by: signers) } ?? true
    }

    private func isMet(_ name: String, by signers: Set<String>) -> Bool {
        guard let group = groups[name] else { return signers.contains(name) }
        return group.members.count { isMet($0, by: signers) } >= group.needed
    }
}

/// Everything that is wrong with a policy.
package struct LogPolicyError: Error, Hashable, Sendable {
    /// One thing; without a line it is about the whole.
    package struct Fault: Hashable, Sendable {
        /// Counted from 1.
        package let line: Int?
        /// What is wrong, without the number of the line.
        package let message: String
    }

    /// In the order of the lines.
    package let faults: [Fault]
}

extension LogPolicy {
    /// Takes line after line, and notes what does not fit.
    private struct Reader {
        var policy = LogPolicy()
        var hasQuorum = false
        private(set) var faults: [LogPolicyError.Fault] = []

        mutating func note(_ line: Int?, _ message: String) {
            faults.append(LogPolicyError.Fault(line: line, message: message))
        }

        mutating func read(_ keyword: String, _ words: [String], line: Int) {
            switch keyword {
            case "log": readLog(words, line)
            case "witness": readWitness(words, line)
            case "group": readGroup(words, line)
            case "quorum": readQuorum(words, line)
            default: note(line, "\(printable(keyword)) is not one of log, witness, group, quorum")
            }
        }

        private mutating func readLog(_ words: [String], _ line: Int) {
            guard (1...2).contains(words.count) else { return note(line, "expected log VKEY [URL]") }
            if let key = key(words[0], algorithm: .ed25519, line) { policy.logs.append(key) }
        }

        private mutating func readWitness(_ words: [String], _ line: Int) {
            guard (2...3).contains(words.count) else { return note(line, "expected witness NAME VKEY [URL]") }
            let isNew = isNewName(words[0], line)
            guard let key = key(words[1], algorithm: .cosignature, line) else { return }
            guard !policy.witnesses.contains(where: { $0.key == key }) else {
                return note(line, "the key of \(words[0]) is another witness's already")
            }
            guard words.count == 3 else {
                return note(line, "\(words[0]) has no URL, so nothing could be submitted to it")
            }
            guard let url = Self.url(words[2]) else {
                return note(
                    line,
                    "expected a URL with https, or http on 127.0.0.1 or [::1], found \(printable(words[2]))"
                )
            }
            guard policy.witnesses.count < maximumWitnesses else {
                return note(line, "there are more than \(maximumWitnesses) witnesses")
            }
            if isNew { policy.witnesses.append(Witness(name: words[0], key: key, url: url)) }
        }

        private mutating func readGroup(_ words: [String], _ line: Int) {
            guard words.count >= 3 else { return note(line, "expected group NAME any|all|NUMBER MEMBER…") }
            let isNew = isNewName(words[0], line)
            let members = Array(words.dropFirst(2))
            for member in members where !isKnown(member) {
                note(line, "\(printable(member)) is not a witness or group of a line above")
            }
            guard Set(members).count == members.count else { return note(line, "a member is named twice") }
            guard let needed = Self.needed(words[1], of: members.count) else {
                return note(line, "expected any, all or 1 to \(members.count), found \(printable(words[1]))")
            }
            if isNew { policy.groups[words[0]] = Group(needed: needed, members: members) }
        }

        private mutating func readQuorum(_ words: [String], _ line: Int) {
            guard words.count == 1 else { return note(line, "expected quorum NAME or quorum none") }
            guard !hasQuorum else { return note(line, "there is a quorum line already") }
            hasQuorum = true
            guard words[0] != "none" else { return }
            guard isKnown(words[0]) else {
                return note(line, "\(printable(words[0])) is not a witness or group of a line above")
            }
            policy.quorum = words[0]
        }

        private mutating func key(
            _ text: String,
            algorithm: NoteVerifierKey.Algorithm,
            _ line: Int
        ) -> NoteVerifierKey? {
            do throws(NoteKeyError) {
                let key = try NoteVerifierKey(text)
                if key.algorithm == algorithm { return key }
                let expected = algorithm == .cosignature ? "a witness's (cosignature/v1)" : "a log's (Ed25519)"
                note(line, "the key \(key.name) is not \(expected)")
            } catch {
                note(line, "the key \(printable(text)) \(error)")
            }
            return nil
        }

        private mutating func isNewName(_ name: String, _ line: Int) -> Bool {
            if name == "none" {
                note(line, "“none” can't be a name")
            } else if isKnown(name) {
                note(line, "\(printable(name)) is named already")
            } else {
                return true
            }
            return false
        }

        private func isKnown(_ name: String) -> Bool {
            policy.groups[name] != nil || policy.witnesses.contains { $0.name == name }
        }

        private static func needed(_ word: String, of count: Int) -> Int? {
            switch word {
            case "any": 1
            case "all": count
            default: Checkpoint.size(ArraySlice(word.utf8)).flatMap { (1...Int64(count)).contains($0) ? Int($0) : nil }
            }
        }

        /// The URL without its final slash; submissions are public, but an attacker must not decide what is signed.
        private static func url(_ text: String) -> String? {
            let url = text.hasSuffix("/") ? String(text.dropLast()) : text
            guard let request = try? ClientRequest(.post, url: url + "/add-checkpoint") else { return nil }
            let isOurs = ["127.0.0.1", "[::1]"].contains(request.origin.host)
            return request.origin.scheme == .https || isOurs ? url : nil
        }
    }
}
