// SPDX-License-Identifier: Apache-2.0
package import HTTP
import Ledger
package import OfferDomain
import ServiceRuntime

extension ClientResponse {
    /// `Retry-After` as in RFC 9110 section 10.2.3, in seconds or as a date; ignored unless it is within the next
    /// `hours` hours.
    package func retryAfter(at now: Timestamp, withinHours hours: Int = 1) -> Timestamp? {
        guard let text = headers.only("retry-after"), (1...40).contains(text.count) else { return nil }
        let time: Timestamp?
        if text.allSatisfy({ (0x30...0x39).contains($0) }) {
            time = Int(String(decoding: text.prefix(9), as: UTF8.self)).map { now.adding(seconds: $0) }
        } else {
            time = httpDate(String(decoding: text, as: UTF8.self))
        }
        guard let time, time > now, time <= now.adding(hours: hours) else { return nil }
        return time
    }

    /// The store limits our requests: until the time that it names, otherwise for as long as a retry waits.
    func rateLimit<Answer>(at now: Timestamp) -> StoreReading<Answer> {
        if let time = retryAfter(at: now) { return .limited(until: time) }
        return .retry(.rateLimited(retryAfter: nil), server: .succeeded)
    }
}
