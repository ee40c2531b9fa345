// SPDX-License-Identifier: Apache-2.0
import Configuration
import HTTP
import OfferDomain

/// `POST /v1/eligibility`: the decisions about many offers at once; reserves and signs nothing.
package struct EligibilityCall: Sendable {
    let previewer: PreviewEligibility
    let admission: Admission
    let decisions: DecisionLog

    /// How long an answer may be kept, in seconds.
    private static let maximumAge = 300

    func respond(
        to request: Request,
        under snapshot: Snapshot,
        requestID: UniqueID,
        at now: Timestamp
    ) async throws(Refusal) -> Response {
        let caller = try await admission.asker(request, snapshot, at: now)
        let places = try admission.enter(caller)
        defer { places.leave() }
        try request.requireJSON()
        let asked = try EligibilityRequest(request.body, by: caller.user, receivedAt: now)
        var context = RequestContext(id: requestID, receivedAt: now, snapshot: snapshot, caller: caller)
        context = try await previewer.genuineApps.examined(context, request, about: asked.provableApps)
        let offerPreviews: [EligibilityPreview]
        do throws(Refusal) {
            offerPreviews = try await previewer.offerPreviews(asked, in: context)
        } catch {
            decisions.refused(error, "all", in: context)
            throw error
        }
        decisions.previewed(offerPreviews, in: context)
        let answer = EligibilityAnswer(
            offerPreviews,
            policyName: snapshot.catalog.policyName,
            showsFindings: previewer.showsFindings(to: caller)
        )
        let fields = [
            ("Cache-Control", "private, max-age=\(Self.age(offerPreviews, at: now))"), ("ETag", answer.entityTag),
            ("Vary", "Authorization, App-Attest-Assertion, Play-Integrity-Token"),
        ]
        if request.headers.names(answer.entityTag) { return Response(status: 412, headers: fields, body: []) }
        return Response(
            status: 200,
            headers: [("Content-Type", "application/json"), ("X-Content-Type-Options", "nosniff")] + fields,
            body: answer.bytes
        )
    }

    /// Until the first answer of a rule turns by itself; not at all if a store was silent, or the service is sealed.
    private static func age(_ offerPreviews: [EligibilityPreview], at now: Timestamp) -> Int64 {
        if offerPreviews.contains(where: { $0.obstacle?.isMomentary == true }) { return 0 }
        let turns = offerPreviews.compactMap { offerPreview in
            offerPreview.decision.firstTurn(after: now).map { ($0.milliseconds - now.milliseconds) / 1000 }
        }
        return turns.reduce(Int64(maximumAge), min)
    }
}

extension HeaderFields {
    /// Whether `If-None-Match` names this tag.
    fileprivate func names(_ entityTag: String) -> Bool {
        guard let value = first("If-None-Match") else { return false }
        return String(decoding: value, as: UTF8.self).split(separator: ",").contains { part in
            let tag = part.drop { $0 == " " }
            let strong = tag.hasPrefix("W/") ? tag.dropFirst(2) : tag
            return strong == entityTag[...] || strong == "*"
        }
    }
}
