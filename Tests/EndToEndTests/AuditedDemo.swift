// SPDX-License-Identifier: Apache-2.0
import Foundation
import TestSupport
import Testing

/// An example with a caller of the role `auditor`, and what verifiers need to know of its log.
struct AuditedDemo {
    let demo: DemoFolder
    /// The file with the auditor's API key.
    let apiKeyPath: String

    init() async throws {
        demo = try await DemoFolder()
        let outcome = try await Program.run(
            ["callers", "add", "auditor", "--role", "auditor", "--database", demo.location]
        )
        guard outcome.succeeded else { throw ChildProcess.Failure("callers: \(outcome)") }
        try demo.write(String(outcome.output.dropLast()), to: "auditor-key")
        apiKeyPath = demo.path(of: "auditor-key")
    }

    var apiKey: String { textOfFile(apiKeyPath) }

    /// The verifier key of the log, as the example has it.
    var verifierKey: String { String(demo.text(of: "audit-log.vkey").dropLast()) }

    /// Runs the Go verifier on the log that a service serves.
    func verify(_ service: RunningService, _ options: String...) async throws -> ProcessOutcome {
        try await runProcess(try await verification(of: service, options))
    }

    /// The command that does so.
    func verification(of service: RunningService, _ options: [String] = []) async throws -> [String] {
        [try await LogVerifier.path, "log", "--vkey", verifierKey, "--api-key", apiKeyPath] + options
            + ["\(service.url)/audit"]
    }

    /// Runs the Go verifier on a log in a folder.
    func verify(folder: String, _ options: String...) async throws -> ProcessOutcome {
        try await LogVerifier.run(["log", "--vkey", verifierKey] + options + [folder])
    }

    /// The newest checkpoint that a service has; empty before the first.
    func checkpoint(_ service: RunningService) throws -> String {
        let answer = try service.ask("/audit/checkpoint", apiKey: apiKey)
        switch answer.status {
        case 200: return answer.body
        case 409: return ""
        default: throw ChildProcess.Failure("/audit/checkpoint: \(answer)")
        }
    }

    /// What the service says of its log.
    func logState(_ service: RunningService) throws -> LogState {
        let answer = try service.ask("/v1/audit/log", apiKey: apiKey)
        guard answer.status == 200 else { throw ChildProcess.Failure("/v1/audit/log: \(answer)") }
        return try JSONDecoder().decode(LogState.self, from: Data(answer.body.utf8))
    }

    /// Waits until a checkpoint covers every entry that there is.
    ///
    /// It asks for the metrics, because asking for the state of the log is itself an entry.
    func settle(_ service: RunningService) async throws {
        try await eventually("a checkpoint covers every entry") {
            let page = try service.ask("/metrics").body
            let covered = page.firstMatch(of: /(?m)^offer_signer_checkpoint_size (\S+)$/)?.1
            return try covered == #require(page.firstMatch(of: /(?m)^offer_signer_log_size (\S+)$/)).1
        }
    }

    /// Writes a policy that demands the signature of a witness; the options that have the service follow it.
    func policy(demanding witness: FakeWitness, at url: String? = nil) throws -> [String] {
        let name = url == nil ? "log-policy" : "log-policy-far"
        try demo.write("witness w1 \(witness.verifierKey) \(url ?? witness.url)\nquorum w1\n", to: name)
        return ["--log-policy", demo.path(of: name)]
    }

    /// Runs one of the service's own commands on its database.
    func audit(_ words: String...) async throws -> ProcessOutcome {
        try await Program.run(["audit"] + words + demo.options())
    }
}

/// The answer of `/v1/audit/log`, as far as tests look at it.
struct LogState: Decodable {
    struct Signed: Decodable {
        let size: Int64
        let rootHash: String
    }

    struct Witness: Decodable {
        let name, state: String
        let size: Int64?
        let detail: String?
    }

    struct Quorum: Decodable { let isMet: Bool }

    let origin, verifierKey: String
    let size: Int64
    let checkpoint: Signed?
    let witnesses: [Witness]
    let quorum: Quorum
}
