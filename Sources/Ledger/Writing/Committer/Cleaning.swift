// SPDX-License-Identifier: Apache-2.0
import OfferDomain

/// When idempotency keys past their time are to be forgotten, and how many at once: more than come in.
struct Cleaning {
    private var last = Timestamp(milliseconds: 0)
    private var requests = 0

    mutating func due(at now: Timestamp, after newRequests: Int) -> Int? {
        requests += newRequests
        // A clock that was set back must not stop the cleaning.
        guard now < last || now.seconds - last.seconds >= 10 else { return nil }
        defer { (last, requests) = (now, 0) }
        return 256 + 2 * requests
    }
}
