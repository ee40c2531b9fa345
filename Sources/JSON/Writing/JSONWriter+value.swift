// SPDX-License-Identifier: Apache-2.0

extension JSONWriter {
    /// Writes what was read of strict JSON: without spaces, and the members of each object in the order of their names.
    ///
    /// Numbers keep the digits in which they were written. It goes as deep as the reader's limits let the value be.
    package mutating func value(_ value: JSONValue) {
        if let object = value.object {
            beginObject()
            for member in object.sorted(by: { $0.nameBytes.lexicographicallyPrecedes($1.nameBytes) }) {
                name(text: member.name)
                self.value(member.value)
            }
            endObject()
        } else if let array = value.array {
            beginArray()
            for element in array { self.value(element) }
            endArray()
        } else if let text = value.stringBytes {
            string(utf8: text)
        } else {
            self.value(json: Array(value.text))
        }
    }
}
