// SPDX-License-Identifier: Apache-2.0
import JSON
import Testing

/// Thousands of texts, most of them damaged, read by us and by Python.
@Suite struct DifferentialTests {
    /// Sound texts, which damage is done to.
    static let samples = [
        #"{"bundleId":"com.example.app","n":[1,-2.5e3,0.1],"ok":true,"none":null}"#,
        #"[[],{},"",0,-0,1e5,1E-5,123456789012345678901,true,false,null]"#,
        #"{"a\u0062":"\ud83d\ude00","\"\\\/":"\b\f\n\r\t","é€😀":"\u00e9","ab ":{}}"#,
        "[\"\u{7F}\u{80}\u{7FF}\u{800}\u{FFFD}\u{10000}\u{10FFFF}\", \t\r\n 1 ]",
        #"{"a":{"b":{"c":[{"d":[1,2,3]},{"d":[]}]}},"b":1,"c":2}"#,
        #"{"a":1,"b":2,"c":3,"d":4,"e":5,"f":6,"g":7,"h":8,"i":9,"j":0,"k":1,"l":2,"m":3,"n":4,"o":5,"p":6,"q":7,"r":8}"#,
        "9007199254740993", "-1.7976931348623157e308", "2.2250738585072011e-308", "[1e400,-1e400,1e-400]",
    ]

    /// What damage is made of: the bytes that mean something, and sequences that look as if they did.
    static let pieces: [[UInt8]] =
        [
            [0x00], [0x1F], [0x7F], [0x80], [0xBF], [0xC0], [0xC3], [0xED, 0xA0, 0x80], [0xF4, 0x90, 0x80, 0x80],
            [0xFF],
            [0xEF, 0xBB, 0xBF], [0xC2, 0xA0], [0xE2, 0x80, 0xA8],
        ]
        + [
            "\"", "\\", "/", "{", "}", "[", "]", ",", ":", "-", "+", ".", "0", "1", "9", "e", "E", " ", "\n", "'", "//",
            "/**/", "\\u0061", "\\ud800", "\\udc00", "\\u12", "\\x", "NaN", "Infinity", "true", "nul", "\"a\":1", "0x1",
            "1e9",
        ].map { Array($0.utf8) }

    private static func damaged(_ sample: [UInt8], _ generator: inout RepeatableGenerator) -> [UInt8] {
        var text = sample
        for _ in 0..<Int.random(in: 1...3, using: &generator) {
            let at = Int.random(in: 0...text.count, using: &generator)
            let end = min(text.count, at + Int.random(in: 0...3, using: &generator))
            switch Int.random(in: 0..<5, using: &generator) {
            case 0: text.removeSubrange(at..<end)
            case 1: text.insert(contentsOf: pieces.randomElement(using: &generator) ?? [], at: at)
            case 2: text.replaceSubrange(at..<end, with: pieces.randomElement(using: &generator) ?? [])
            case 3: text.insert(contentsOf: text[at..<min(text.count, at + 8)], at: at)
            default: if at < text.count { text[at] ^= 1 << UInt8.random(in: 0..<8, using: &generator) }
            }
        }
        return text
    }

    private static func texts(count: Int) -> [[UInt8]] {
        var generator = RepeatableGenerator(seed: 19)
        let samples = samples.map { Array($0.utf8) }
        return samples + (0..<count).map { damaged(samples[$0 % samples.count], &generator) }
    }

    @Test(.enabled(if: PythonOracle.isAvailable, "needs /usr/bin/python3"))
    func `what we accept Python accepts with the same meaning, and what we refuse it refuses`() throws {
        let texts = Self.texts(count: 6000)
        let answers = try PythonOracle.answers(to: texts)
        try #require(answers.count == texts.count)
        var accepted = 0
        for (text, answer) in zip(texts, answers) {
            let ours = (try? JSONDocument(text, limits: generous)).map { Tree($0.root).shown } ?? "refused"
            #expect(ours == answer, "\(String(decoding: text, as: UTF8.self).debugDescription)")
            if ours != "refused" { accepted += 1 }
        }
        #expect(accepted > 500 && accepted < 5500, "the mixture of sound and damaged texts is poor: \(accepted)")
    }

    @Test func `the configuration dialect reads strict texts alike, and survives any damage`() {
        for text in Self.texts(count: 6000) {
            let strict = (try? JSONDocument(text, limits: generous)).map { Tree($0.root) }
            let relaxed = (try? JSONDocument(text, dialect: .configuration, limits: generous)).map { Tree($0.root) }
            if strict != nil { #expect(strict == relaxed) }
        }
    }
}
