// SPDX-License-Identifier: Apache-2.0
import Cryptography
import JSON
import SignatureDiagnosis

// Feeds the diagnosis whatever libFuzzer makes up, and checks what must hold for any text at all: no crash, no endless loop, an
// answer that is JSON, and no signature called right or proved that none of the known keys made.
//
// A first byte of 0 means that the rest is a report, of 1 that it is the text of a signature, of any other that it is a JWS: so the
// ladder of encodings is reached without the report around it.
//
// Built and run by `Tests/Fuzzing/fuzz-diagnosis SECONDS`, from the sources of the targets and this file.

private struct Stage {
    let knowledge: DiagnosisKnowledge

    init() throws {
        try SecureMemory.start(secureHeapBytes: 1 << 20, conceding: [.unwipedBlocks])
        var knowledge = DiagnosisKnowledge()
        let key = try PrivateKey.generate()
        knowledge.keys = [KnownKey(id: "ABC123DEFG", publicKey: key.publicKey)]
        knowledge.pins = [KnownPin(digest: try PrivateKey.generate().publicKey.spkiSHA256)]
        knowledge.bundleIDs = ["com.example.app"]
        knowledge.productIDs = ["pro"]
        knowledge.offerIDs = ["offer1"]
        self.knowledge = knowledge
    }
}

private let stage: Stage = {
    do { return try Stage() } catch { fatalError("\(error)") }
}()

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzDiagnosis(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    guard count > 0 else { return 0 }
    let input = Array(UnsafeBufferPointer(start: start, count: count))
    let rest = Array(input.dropFirst())
    switch input[0] {
    case 0: diagnose(rest)
    case 1: diagnose(report("signature", rest))
    default: diagnose(report("jws", rest))
    }
    return 0
}

private func report(_ name: StaticString, _ text: [UInt8]) -> [UInt8] {
    var writer = JSONWriter()
    writer.beginObject()
    writer.name(name)
    writer.string(String(decoding: text, as: UTF8.self))
    writer.name("nonce")
    writer.string("20fba8a0-2b80-4a7d-a17f-85c1854727f8")
    writer.name("timestamp")
    writer.integer(1_795_250_488_617)
    writer.endObject()
    return writer.bytes
}

private func diagnose(_ text: [UInt8]) {
    let report: SignatureReport
    do throws(ReportError) {
        report = try SignatureReport(json: text)
    } catch {
        guard error.description.utf8.count < 400 else { fatalError("too long a sentence") }
        return
    }
    let diagnosis = SignatureDiagnoser(stage.knowledge).diagnose(report)
    // The keys are generated at each start, and nothing is signed with them.
    guard diagnosis.verdict != .signedCorrectly, diagnosis.signedBy == nil, diagnosis.recoveredKey == nil else {
        fatalError("a signature that was not made")
    }
    guard diagnosis.triedPayloads <= 4096 else { fatalError("tries too much") }
    guard (try? JSONDocument(diagnosis.json)) != nil, !diagnosis.lines.isEmpty else { fatalError("no answer") }
}
