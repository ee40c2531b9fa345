// SPDX-License-Identifier: Apache-2.0

/// An item of ``LogUsage`` that was counted lately, by its bytes.
struct LatestUsage: Sendable {
    /// What is counted, but for the code of a refusal.
    enum Subject: Hashable, Sendable {
        case key, refusal
        case decision(LogUsage.Decision)

        /// Tells subjects apart.
        var number: UInt64 {
            switch self {
            case .key: 1
            case .refusal: 2
            case .decision(.granted): 3
            case .decision(.refused): 4
            case .decision(.undecided): 5
            }
        }
    }

    private let hour: Int64
    private let subject: Subject
    private let name: [UInt8]
    private let code: [UInt8]
    fileprivate var tally: LogUsage.Tally

    init(_ subject: Subject, name: Span<UInt8>, code: Span<UInt8>, at time: Int64) {
        hour = OfferService.hour(of: time)
        self.subject = subject
        self.name = name.indices.map { name[$0] }
        self.code = code.indices.map { code[$0] }
        tally = LogUsage.Tally(count: 1, lastAt: time)
    }

    /// Counts one more; false, and nothing is counted, if it is another item.
    mutating func addIfSame(_ subject: Subject, name: Span<UInt8>, code: Span<UInt8>, at time: Int64) -> Bool {
        guard self.subject == subject, hour == OfferService.hour(of: time), self.name.span.equals(name),
            self.code.span.equals(code)
        else { return false }
        tally.add(LogUsage.Tally(count: 1, lastAt: time))
        return true
    }

    fileprivate var item: LogUsage.Item {
        let (kind, detail): (LogUsage.Kind, String) =
            switch subject {
            case .key: (.key, "")
            case .refusal: (.refusal, String(decoding: code, as: UTF8.self))
            case .decision(let decision): (.decision, decision.rawValue)
            }
        return LogUsage.Item(hour: hour, kind: kind, name: String(decoding: name, as: UTF8.self), detail: detail)
    }
}

extension LogUsage {
    mutating func add(_ latest: LatestUsage) { add(latest.tally, to: latest.item) }
}
