// SPDX-License-Identifier: Apache-2.0

extension Tape {
    /// The RFC 6901 pointer of a value.
    ///
    /// The target is the value's index; the number of nodes means the innermost value still being read.
    func pointer(to target: Int) -> String {
        var pointer = ""
        var index = 0
        while index < target, let step = child(of: index, holding: target) {
            pointer += "/" + step.token
            guard let value = step.index else { break }
            index = value
        }
        return pointer
    }

    /// The child of a container that holds the target; its index is nil for a name whose value was never reached.
    private func child(of container: Int, holding target: Int) -> (token: String, index: Int?)? {
        guard container < nodes.count, [.object, .array].contains(nodes[container].kind) else { return nil }
        let isObject = nodes[container].kind == .object
        var index = container + 1
        var ordinal = 0
        while index < nodes.count {
            let name = index
            if isObject { index += 1 }
            guard index < nodes.count else { return (referenceToken(nodes[name]), nil) }
            if !nodes[index].isFinished || target < Int(nodes[index].next) {
                return (isObject ? referenceToken(nodes[name]) : String(ordinal), index)
            }
            index = Int(nodes[index].next)
            ordinal += 1
        }
        return nil
    }

    /// A name as RFC 6901 section 3 writes it: `~` as `~0` and `/` as `~1`.
    private func referenceToken(_ name: Node) -> String {
        var token: [UInt8] = []
        for byte in content(of: name) {
            switch byte {
            case UInt8(ascii: "~"): token += Array("~0".utf8)
            case .slash: token += Array("~1".utf8)
            default: token.append(byte)
            }
        }
        return String(decoding: token, as: UTF8.self)
    }
}
