// SPDX-License-Identifier: Apache-2.0
import Cryptography
import HTTP
import JSON
import OfferDomain

/// `GET /v1/audit/entries`: which entries of the log meet all conditions, a page at a time.
struct AuditEntriesCall: Sendable {
    let desk: AuditDesk

    /// Answers auditors and administrators.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request.headers, at: now).requireReading()
        let asked = try AuditEntriesRequest(request.query)
        let found = try await page(asked)
        let count = found.page.entries.count
        await desk.note(AuditReading(caller: caller.id, route: .auditEntries, query: asked.query, count: count))
        return switch asked.format {
        case .json: Self.response(found.page, next: found.next)
        case .csv, .ndjson: Self.file(found, asked.format, request.query ?? [])
        }
    }

    private struct Found: Sendable {
        let page: AuditPage
        let next: String?
    }

    private func page(_ asked: AuditEntriesRequest) async throws(Refusal) -> Found {
        let outcome = try await desk.search { search throws(AuditReadError) -> Found? in
            var position: Int64?
            if let cursor = asked.cursor {
                position = AuditCursor.position(cursor, of: asked.query, search.cursorKey)
                guard position != nil else { return nil }
            }
            let page = try search.page(asked.query, from: position)
            return Found(
                page: page,
                next: page.next.map { AuditCursor.text($0, of: asked.query, search.cursorKey) }
            )
        }
        guard let outcome else {
            throw .request(
                .invalidParameters([ParameterFault("cursor", "is not one that this query was answered with")])
            )
        }
        return outcome
    }

    private static func response(_ page: AuditPage, next: String?) -> Response {
        var writer = JSONWriter(reserving: 1024 * page.entries.count + 128)
        writer.beginObject()
        writer.name("entries")
        writer.beginArray()
        for (index, entry) in page.entries {
            writer.beginObject()
            writer.name("index")
            writer.integer(index)
            writer.name("entry")
            writer.value(json: entry)
            writer.endObject()
        }
        writer.endArray()
        writer.name("next")
        if let next { writer.string(plain: next) } else { writer.null() }
        writer.name("size")
        writer.integer(page.size)
        writer.endObject()
        return .json(writer.bytes)
    }
}

extension AuditEntriesCall {
    /// A page as a file; what does not fit into one says where the next is (RFC 8288).
    private static func file(_ found: Found, _ format: AuditFormat, _ query: [UInt8]) -> Response {
        var headers = [
            ("Content-Type", format.mediaType), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Content-Disposition", "attachment; filename=\"audit-entries.\(format.rawValue)\""),
        ]
        if let next = found.next {
            let others = query.split(separator: UInt8(ascii: "&")).filter { !$0.starts(with: Array("cursor=".utf8)) }
            let target = (others.map { String(decoding: $0, as: UTF8.self) } + ["cursor=\(next)"]).joined(
                separator: "&"
            )
            headers.append(("Link", "</v1/audit/entries?\(target)>; rel=\"next\""))
        }
        var body = format.head
        for (index, entry) in found.page.entries { format.append(index, entry, to: &body) }
        return Response(status: 200, headers: headers, body: body)
    }
}
