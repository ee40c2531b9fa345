// SPDX-License-Identifier: Apache-2.0
package import HTTP
package import JSON
package import Ledger
package import OfferDomain

/// An error as callers see it, RFC 9457 (`application/problem+json`).
///
/// `type` is a path below the service's own documentation: each has its heading in docs/problems.md.
package struct Problem: Sendable {
    /// The last part of `type`, stable for ever.
    package let name: String
    /// `title`: the same for every problem of this name.
    package let title: String
    /// The HTTP status, which is also the member `status`.
    package let status: Int
    /// `detail`: what is wrong with this request, and what to send instead.
    package let detail: String
    /// What is wrong with the body; a part of `errors`.
    package var mismatches: [Mismatch] = []
    /// What is wrong with the query; a part of `errors`.
    package var parameters: [ParameterFault] = []
    /// The `decision` member, and whether its findings are included.
    package var decision: (json: DecisionJSON, showsFindings: Bool)?
    /// Fields of the response beside its type, as `Retry-After`.
    package var headers: [(name: String, value: String)] = []

    /// The maximum number of mismatches listed in `errors`.
    static let mostListed = 20

    package init(_ name: String, title: String, status: Int, detail: String) {
        self.name = name
        self.title = title
        self.status = status
        self.detail = detail
    }

    /// The response that carries it.
    ///
    /// The request's ID becomes `instance`, `urn:uuid:…`; the records have the same ID.
    package func response(requestID: UniqueID?) -> Response {
        var writer = JSONWriter(reserving: 512)
        write(requestID: requestID, to: &writer)
        return Response(
            status: status,
            headers: Self.fields + headers,
            body: writer.bytes
        )
    }

    private static let fields: [(name: String, value: String)] = [
        ("Content-Type", "application/problem+json"), ("Cache-Control", "no-store"),
        ("X-Content-Type-Options", "nosniff"),
    ]

    /// Writes the problem of the request with that id.
    func write(requestID: UniqueID?, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.name("type")
        writer.string("/problems/\(name)")
        writer.name("title")
        writer.string(title)
        writer.name("status")
        writer.integer(Int64(status))
        writer.name("detail")
        writer.string(detail)
        if let requestID {
            writer.name("instance")
            writer.string("urn:uuid:\(requestID)")
        }
        writeErrors(&writer)
        if let decision {
            writer.name("decision")
            decision.json.write(showsFindings: decision.showsFindings, to: &writer)
        }
        writer.endObject()
    }

    private func writeErrors(_ writer: inout JSONWriter) {
        guard !mismatches.isEmpty || !parameters.isEmpty else { return }
        writer.name("errors")
        writer.beginArray()
        for mismatch in mismatches.prefix(Self.mostListed) {
            writer.beginObject()
            writer.name("pointer")
            writer.string(mismatch.pointer)
            writer.name("detail")
            writer.string(mismatch.message)
            writer.endObject()
        }
        for fault in parameters.prefix(Self.mostListed) {
            writer.beginObject()
            writer.name("parameter")
            writer.string(fault.name)
            writer.name("detail")
            writer.string(fault.message)
            writer.endObject()
        }
        writer.endArray()
    }
}
