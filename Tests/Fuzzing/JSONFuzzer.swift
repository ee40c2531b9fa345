// SPDX-License-Identifier: Apache-2.0

// Feeds the JSON reader whatever libFuzzer makes up, and checks what must hold for any text at all:
// no crash, no endless loop, places within the text, and a value that is written and read again is the same.
//
// Built and run by `Tests/Fuzzing/fuzz-json SECONDS`, from the sources of the target JSON and this file.

@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzJSON(_ start: UnsafePointer<UInt8>, _ count: Int) -> CInt {
    let text = Array(UnsafeBufferPointer(start: start, count: count))
    let strict = read(text, .strict)
    let relaxed = read(text, .configuration)
    if let strict {
        guard let relaxed else { fatalError("configuration refuses what is strict") }
        guard rewritten(strict) == rewritten(relaxed) else { fatalError("the dialects differ") }
    }
    if let relaxed {
        let written = rewritten(relaxed)
        guard let again = read(written, .strict) else { fatalError("what was written is refused") }
        guard rewritten(again) == written else { fatalError("what was written reads otherwise") }
    }
    return 0
}

private func read(_ text: [UInt8], _ dialect: JSONDialect) -> JSONDocument? {
    do {
        return try JSONDocument(text, dialect: dialect, limits: JSONLimits(maximumDepth: 60, maximumNodes: 4000))
    } catch {
        guard 0...text.count ~= error.offset, error.position(in: text).line > 0 else { fatalError("no such place") }
        guard error.description.count < 500 else { fatalError("too long a sentence") }
        guard !error.description.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            fatalError("control character")
        }
        return nil
    }
}

private func rewritten(_ document: JSONDocument) -> [UInt8] {
    var writer = JSONWriter()
    write(document.root, to: &writer)
    return writer.bytes
}

private func write(_ value: JSONValue, to writer: inout JSONWriter) {
    if let object = value.object {
        writer.beginObject()
        for member in object {
            guard object[member.name]?.offset == member.value.offset else { fatalError("a name is not found") }
            writer.name(text: member.name)
            write(member.value, to: &writer)
        }
        writer.endObject()
    } else if let array = value.array {
        writer.beginArray()
        for element in array { write(element, to: &writer) }
        writer.endArray()
    } else if let text = value.stringBytes {
        writer.string(utf8: text)
    } else if let integer = value.integer {
        writer.integer(integer)
    } else if let double = value.double {
        writer.number(double)
    } else if let bool = value.bool {
        writer.boolean(bool)
    } else {
        writer.null()
    }
}
