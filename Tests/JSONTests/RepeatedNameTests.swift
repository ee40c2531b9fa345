// SPDX-License-Identifier: Apache-2.0
import JSON
import TestSupport
import Testing

/// Two members of one name would let two readers of a text see two different things.
struct RepeatedNameTests {
    /// Names in order are not compared with all others, and few not in the way of many.
    @Test(arguments: UInt64(0)..<40)
    func `an object is refused where a name comes for the second time, and nowhere else`(seed: UInt64) throws {
        var random = SplitMix(seed: seed)
        for _ in 0..<100 {
            var names = (0..<Int.random(in: 2...20, using: &random)).map { _ in randomName(&random) }
            // As in canonical JSON; otherwise hardly any object with many names has each once.
            if random.chance(in: 2) { names.sort { Array($0.utf8).lexicographicallyPrecedes(Array($1.utf8)) } }
            if random.chance(in: 2) { names = names.reduce(into: []) { if $0.last != $1 { $0.append($1) } } }
            let (text, repeated) = object(of: names, &random)
            let error = refusal(Array(text.utf8))
            #expect(error?.offset == repeated, "\(text)")
            #expect(error == nil || error?.kind == .repeatedName, "\(text)")
        }
    }

    /// Few enough letters that names begin alike, and that names and values are alike.
    private func randomName(_ random: inout SplitMix) -> String {
        let count = Int.random(in: 0...4, using: &random)
        return (0..<count).map { _ in random.pick(["a", "b"]) }.joined()
    }

    /// Its text, and where a name is written that was there before.
    private func object(of names: [String], _ random: inout SplitMix) -> (text: String, repeated: Int?) {
        var (text, repeated, seen): (String, Int?, Set<String>) = ("", nil, [])
        for name in names {
            text += text.isEmpty ? "{" : ","
            if !seen.insert(name).inserted { repeated = repeated ?? text.utf8.count }
            let value = random.pick(["1", "[]", #""\#(randomName(&random))""#, #"{"\#(name)":["a"],"\#(name)x":2}"#])
            text += #""\#(name)":\#(value)"#
        }
        return (text + "}", repeated)
    }
}
