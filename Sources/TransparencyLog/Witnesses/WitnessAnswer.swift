// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP

/// What a witness said to a checkpoint.
enum WitnessAnswer: Hashable, Sendable {
    /// It signed.
    case cosigned(VerifiedSignature)
    /// The witness holds a checkpoint of another size than the request says.
    case holds(Int64)
    /// The witness will not sign this, even if it is asked again.
    case refused(String)
    /// It holds a log of this name that is not the beginning of this one.
    case contradicts(String)
    /// It could not be asked, or could not answer; later it may.
    case unreachable(String)

    /// Reads an answer to `add-checkpoint`.
    ///
    /// Source: [C2SP tlog-witness](https://c2sp.org/tlog-witness).
    init(_ response: ClientResponse, to note: SignedNote, from key: NoteVerifierKey) {
        switch response.status {
        case 200: self = Self.cosigned(response.body, of: note, by: key)
        case 409: self = Self.holds(response.body)
        case 400: self = .refused("it finds the request malformed (400)")
        case 403: self = .refused("it does not trust the log's key (403)")
        case 404: self = .refused("it does not know the log (404)")
        case 422: self = .contradicts("it finds that the log does not continue the one it holds (422)")
        default: self = .unreachable("it answered with status \(response.status)")
        }
    }

    private static func cosigned(_ body: [UInt8], of note: SignedNote, by key: NoteVerifierKey) -> WitnessAnswer {
        guard body.count <= 65_536, body.last == UInt8(ascii: "\n") else {
            return .unreachable("its answer is not a list of signatures")
        }
        let lines = body.dropLast().split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        let signatures = lines.prefix(SignedNote.maximumSignatures).map(NoteSignature.init(line:))
        let known = signatures.compactMap { $0 }
        guard known.count == lines.count else { return .unreachable("its answer is not a list of signatures") }
        do throws(NoteError) {
            return .cosigned(try SignedNote(text: note.text, signatures: known).verified(by: key))
        } catch {
            return .unreachable("its signature is not good: \(error)")
        }
    }

    private static func holds(_ body: [UInt8]) -> WitnessAnswer {
        guard body.last == UInt8(ascii: "\n"), let size = Checkpoint.size(body.dropLast()) else {
            return .unreachable("it answered with status 409 and no size")
        }
        return .holds(size)
    }
}
