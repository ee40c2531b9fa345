// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import JSON
import Ledger
import OfferDomain
import ServiceRuntime
import TransparencyLog

/// `GET /v1/audit/entries`: which entries of the log meet all conditions, a page at a time, or all of them as one file.
struct AuditEntriesCall: Sendable {
    let searches: LogSearches

    /// Answers auditors and administrators.
    func respond(
        to request: Request,
        under snapshot: Snapshot,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try snapshot.callers.authenticate(request, at: now).requireReading()
        let asked = try AuditEntriesRequest(request.query, at: now)
        let found = try await page(asked)
        await note(found.count, asked.query, by: caller)
        switch asked.format {
        case .json: return .json(found.body)
        case .csv, .ndjson: return file(startingWith: found, asked, query: request.query ?? [], for: caller)
        }
    }

    /// A page as it is sent; it was written by the thread that read it, which may take its time.
    private struct Found: Sendable {
        let count: Int
        let body: [UInt8]
        /// Where the next page begins, as an index and as a cursor.
        let next: (index: Int64, cursor: String)?
        let size: Int64
    }

    private func note(_ count: Int, _ query: AuditQuery, by caller: Caller) async {
        await searches.note(AuditQueryUse(caller: caller.id, call: .entries, query: query, count: count))
    }

    private func page(_ asked: AuditEntriesRequest) async throws(Refusal) -> Found {
        let outcome = try await searches.search { search throws(AuditReadError) -> Found? in
            var position: Int64?
            if let cursor = asked.cursor {
                position = AuditCursor.position(cursor, of: asked.cursorQuery, search.cursorKey)
                guard position != nil else { return nil }
            }
            let page = try search.page(asked.query, from: position)
            let next = page.next.map { ($0, AuditCursor.text($0, of: asked.cursorQuery, search.cursorKey)) }
            let body =
                asked.format == .json
                ? Self.json(page, next: next?.1, unknown: try search.unknownConditions(of: asked.query, after: page))
                : asked.format.head + Self.rows(page, asked.format)
            return Found(count: page.entries.count, body: body, next: next, size: page.size)
        }
        guard let outcome else {
            throw .request(
                .invalidParameters([ParameterFault("cursor", "is not one that this query was answered with")])
            )
        }
        return outcome
    }

    private static func json(_ page: AuditPage, next: String?, unknown: [AuditQuery.Field]) -> [UInt8] {
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
        writer.name("unknown")
        writer.beginArray()
        for field in unknown { writer.string(plain: field.rawValue) }
        writer.endArray()
        writer.endObject()
        return writer.bytes
    }

    private static func rows(_ page: AuditPage, _ format: AuditFormat) -> [UInt8] {
        var rows: [UInt8] = []
        for (index, entry) in page.entries { format.append(index, entry, to: &rows) }
        return rows
    }
}

// MARK: - Files

extension AuditEntriesCall {
    /// A file of one page, which says where the next is (RFC 8288); or of everything, which is read while it is sent.
    private func file(
        startingWith found: Found,
        _ asked: AuditEntriesRequest,
        query: [UInt8],
        for caller: Caller
    ) -> Response {
        let format = asked.format
        var headers = [
            ("Content-Type", format.mediaType), ("Cache-Control", "no-store"), ("X-Content-Type-Options", "nosniff"),
            ("Content-Disposition", "attachment; filename=\"audit-entries.\(format.rawValue)\""),
        ]
        if let next = found.next, !asked.isWhole {
            let others = query.split(separator: UInt8(ascii: "&")).filter { !$0.starts(with: Array("cursor=".utf8)) }
            let target = (others.map { String(decoding: $0, as: UTF8.self) } + ["cursor=\(next.cursor)"]).joined(
                separator: "&"
            )
            headers.append(("Link", "</v1/audit/entries?\(target)>; rel=\"next\""))
        }
        var response = Response(status: 200, headers: headers, body: found.body)
        if asked.isWhole { response.rest = rest(after: found, asked, for: caller) }
        return response
    }

    /// What comes after the first page, up to what the log had when that was read; each page is recorded before it is sent.
    private func rest(after found: Found, _ asked: AuditEntriesRequest, for caller: Caller) -> BodyPieces? {
        guard let next = found.next else { return nil }
        let position = Guarded<Int64?>(next.index)
        return BodyPieces { () async throws(BodyPieces.Interruption) in
            guard let start = position.withLock({ $0 }) else { return nil }
            let page: (count: Int, rows: [UInt8], next: Int64?)
            do {
                page = try await searches.search { search throws(AuditReadError) in
                    let page = try search.page(asked.query, from: start).upTo(found.size)
                    return (page.entries.count, Self.rows(page, asked.format), page.next)
                }
            } catch {
                throw BodyPieces.Interruption()
            }
            await note(page.count, asked.query, by: caller)
            position.withLock { $0 = page.next }
            return page.rows
        }
    }
}

extension AuditPage {
    /// The same without what came into the log after it had that size, such as the records of this very reading.
    fileprivate func upTo(_ size: Int64) -> AuditPage {
        var page = self
        page.entries.removeAll { $0.index >= size }
        if let next, next >= size { page.next = nil }
        return page
    }
}
