// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import Ledger
import OfferDomain
import ServiceRuntime
import Storage
import Stores
import TransparencyLog

/// Begins, finds and ends the sessions of people in the console.
///
/// The database has them, so a session is good at every instance, and is over at every instance once it is ended.
final class ConsoleSessions: Sendable {
    private struct Known: Sendable {
        /// `nil` once it was ended here.
        let session: ConsoleSession?
        let readAt: Int64
    }

    private let committer: Committer
    private let uptime: Uptime
    private let random: any RandomSource
    /// Of its own, so that no search of the log keeps people waiting.
    private let readers: LogReaders
    private let recent = Guarded(RecentValues<SHA256Digest, Known>(capacity: 1024))

    init(committer: Committer, ledger: LedgerAccess, runtime: Runtime) {
        self.committer = committer
        uptime = Uptime(runtime.clock)
        random = runtime.random
        readers = LogReaders(threads: 1, maximumWaiting: 256, open: ledger.openForReading)
    }

    /// Starts the thread that reads.
    func start() { readers.start() }

    /// Ends it.
    func stop() { readers.stop() }

    /// Records that a person signed in, and begins the session.
    ///
    /// - Returns: What the browser's cookie is to hold.
    func begin(
        _ session: ConsoleSession,
        of signIn: [UInt8],
        under pseudonyms: Pseudonyms,
        at now: Timestamp
    ) async throws(SignInFault) -> String {
        let secret = SessionSecret(random, under: pseudonyms)
        let isFirst = Guarded(false)
        do throws(LedgerError) {
            try await committer.look { writer throws(LedgerError) in
                let isAdded = try database(
                    ConsoleSessionTable(connection: writer.connection)
                        .begin(session, digest: secret.digest, signIn: signIn, at: now)
                )
                isFirst.withLock { $0 = isAdded }
                guard isAdded else { return }
                let event = AuditEvent.caller(
                    .sessionBegun(session.caller, role: session.role, expiresAt: session.expiresAt)
                )
                try writer.append(event)
            }
        } catch {
            throw .ledger(error)
        }
        guard isFirst.withLock({ $0 }) else { throw .usedBefore }
        return secret.text
    }

    /// The session of that secret, as the database had it at most five seconds ago; `nil` if it was ended or never begun.
    func session(_ digest: SHA256Digest) async throws(Refusal) -> ConsoleSession? {
        let now = uptime.milliseconds
        if let known = recent.withLock({ $0[digest] }), known.readAt > now - Self.knownMilliseconds {
            return known.session
        }
        let found: ConsoleSession?
        do throws(LogReadersError) {
            found = try await readers.read { connection throws(AuditReadError) in
                try reading(ConsoleSessionTable(connection: connection).session(digest))
            }
        } catch {
            throw Refusal(error)
        }
        return recent.withLock { recent in
            // It may have been ended here while it was read.
            if let known = recent[digest], known.session == nil { return nil }
            recent[digest] = found.map { Known(session: $0, readAt: now) }
            return found
        }
    }

    /// Records that a person signed out, and ends the session: here at once, elsewhere within five seconds.
    func end(_ digest: SHA256Digest, of caller: CallerID, at now: Timestamp) async throws(Refusal) {
        do throws(LedgerError) {
            try await committer.look { writer throws(LedgerError) in
                let isFirst = try database(ConsoleSessionTable(connection: writer.connection).end(digest, at: now))
                if isFirst { try writer.append(.caller(.sessionEnded(caller))) }
            }
        } catch {
            throw .service(ServiceFault(error))
        }
        recent.withLock { $0[digest] = Known(session: nil, readAt: .max) }
    }

    private static let knownMilliseconds: Int64 = 5000
}

/// What a browser's cookie holds of a session: random bytes, and a code that only this service can make.
///
/// The code keeps made-up cookies from being looked up in the database.
struct SessionSecret: Sendable {
    let text: String
    /// What the database has of it.
    let digest: SHA256Digest

    private static let randomBytes = 32
    private static let codeBytes = 16

    /// A new one.
    init(_ random: some RandomSource, under pseudonyms: Pseudonyms) {
        let bytes = random.bytes(Self.randomBytes)
        text = String(decoding: Base64.encodeURL(bytes + Self.code(bytes, pseudonyms)), as: UTF8.self)
        digest = SHA256.digest(of: bytes)
    }

    /// Reads the session secret from a cookie; `nil` if this service did not make it.
    init?(_ cookie: ArraySlice<UInt8>, under pseudonyms: Pseudonyms) {
        guard let bytes = Base64.decodeURL(Array(cookie)), bytes.count == Self.randomBytes + Self.codeBytes else {
            return nil
        }
        let (random, code) = (Array(bytes.prefix(Self.randomBytes)), Array(bytes.suffix(Self.codeBytes)))
        guard constantTimeEqual(Self.code(random, pseudonyms), code) else { return nil }
        text = String(decoding: cookie, as: UTF8.self)
        digest = SHA256.digest(of: random)
    }

    private static func code(_ bytes: [UInt8], _ pseudonyms: Pseudonyms) -> [UInt8] {
        Array(pseudonyms.code(.consoleSignIn, Array("session~".utf8) + bytes).prefix(codeBytes))
    }
}
