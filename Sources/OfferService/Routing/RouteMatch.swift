// SPDX-License-Identifier: Apache-2.0

/// The call that a path names, with what the path says for each of its parameters.
package struct RouteMatch: Sendable {
    /// The call; ``Route/unknown`` if no call has this path.
    package let route: Route
    /// The parameters in the order of the route's path, as sent: they are not decoded, and never empty.
    package let parameters: [ArraySlice<UInt8>]

    /// Finds the call; ``Route/unknown`` if no call has this path.
    package init(path: [UInt8]) {
        if let route = Self.plain.first(where: { $0.path == path })?.route {
            self.init(route, [])
            return
        }
        for (route, pattern) in Self.patterns {
            if let parameters = pattern.parameters(in: path) {
                self.init(route, parameters)
                return
            }
        }
        self.init(.unknown, [])
    }

    private init(_ route: Route, _ parameters: [ArraySlice<UInt8>]) {
        self.route = route
        self.parameters = parameters
    }

    /// The calls without parameters; the most frequent one first.
    private static let plain = Route.all.filter { !$0.path.contains("{") }
        .map { (path: Array($0.path.utf8), route: $0) }

    private static let patterns = Route.all.filter { $0.path.contains("{") }
        .map { (route: $0, pattern: PathPattern($0.path)) }
}

/// A path in which some segments are parameters, written like a URI template (RFC 6570).
///
/// `{name}` matches one segment. `{+name}`, which may only come last, matches all remaining segments, at least one.
private struct PathPattern: Sendable {
    private enum Segment {
        case literal([UInt8]), parameter, rest
    }

    private let segments: [Segment]

    init(_ template: String) {
        segments = template.split(separator: "/", omittingEmptySubsequences: false).map { text in
            if text.hasPrefix("{+") { return .rest }
            return text.hasPrefix("{") ? .parameter : .literal(Array(text.utf8))
        }
    }

    func parameters(in path: [UInt8]) -> [ArraySlice<UInt8>]? {
        let slash = UInt8(ascii: "/")
        var parts = path.split(separator: slash, omittingEmptySubsequences: false)[...]
        var parameters: [ArraySlice<UInt8>] = []
        for segment in segments {
            guard let part = parts.popFirst() else { return nil }
            switch segment {
            case .literal(let text): if !part.elementsEqual(text) { return nil }
            case .parameter:
                if part.isEmpty { return nil }
                parameters.append(part)
            case .rest:
                if part.isEmpty { return nil }
                parameters.append(path[part.startIndex...])
                return parameters
            }
        }
        return parts.isEmpty ? parameters : nil
    }
}
