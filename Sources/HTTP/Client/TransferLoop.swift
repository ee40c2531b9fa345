// SPDX-License-Identifier: Apache-2.0
import CCurl
import Glibc
import Synchronization

/// One accepted request, and the continuation that waits for its response.
struct Order: Sendable {
    let number: UInt
    let request: ClientRequest
    /// A reading of the monotonic clock.
    let deadlineMilliseconds: Int64
    let continuation: CheckedContinuation<Result<ClientResponse, ClientError>, Never>
}

/// A client's thread: libcurl's multi handle, and the transfers in it.
///
/// `@unchecked Sendable`: only the thread in ``run()`` touches the transfers. Other threads call only
/// `curl_multi_wakeup` on the multi handle, which allows that. The handle is valid while this object is referenced.
@safe
final class TransferLoop: @unchecked Sendable {
    let mailbox: Mailbox
    private let configuration: ClientConfiguration
    private let multi: UnsafeMutableRawPointer
    private var transfers: [UInt: Transfer] = [:]
    /// How many idle connections are kept open, for all hosts together.
    private static let mostIdleConnections = 32

    init(_ configuration: ClientConfiguration) throws(ClientError) {
        try CurlLibrary.start()
        self.configuration = configuration
        mailbox = Mailbox(limitPerOrigin: configuration.maximumWaiting)
        guard let multi = unsafe curl_multi_init() else {
            throw .library(code: Int(CURLE_OUT_OF_MEMORY.rawValue), "no memory for transfers")
        }
        unsafe self.multi = multi
        unsafe shim_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        unsafe shim_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.connectionsPerHost)
        unsafe shim_multi_set_long(multi, CURLMOPT_MAXCONNECTS, Self.mostIdleConnections)
    }

    deinit {
        unsafe curl_multi_cleanup(multi)
    }

    /// Makes ``run()`` look into the mailbox.
    func wakeUp() {
        unsafe curl_multi_wakeup(multi)
    }

    /// Carries out orders on the calling thread until the mailbox is closed, and ends all that are left.
    func run() {
        // They are for the thread that waits for them.
        Self.blockSignals()
        while let delivery = mailbox.collect() {
            for order in delivery.orders { begin(order) }
            for number in delivery.cancelled { end(number, with: .failure(.cancelled)) }
            var running: Int32 = 0
            unsafe curl_multi_perform(multi, &running)
            endFinished()
            let wait = endOverdue()
            unsafe curl_multi_poll(multi, nil, 0, Int32(wait), nil)
        }
        for number in Array(transfers.keys) { end(number, with: .failure(.stopped)) }
    }

    private func begin(_ order: Order) {
        do throws(ClientError) {
            let left = order.deadlineMilliseconds - MonotonicClock.milliseconds
            guard left > 0 else { throw .timeout }
            let transfer = try Transfer(order, configuration, millisecondsLeft: Int(left))
            let code = unsafe curl_multi_add_handle(multi, transfer.handle.pointer)
            guard code == CURLM_OK else { throw .library(code: Int(code.rawValue), "a transfer could not be added") }
            transfers[order.number] = transfer
        } catch {
            mailbox.close(order, with: .failure(error), connectionsOpened: 0)
        }
    }

    /// Takes a transfer out of libcurl's hands, which closes its connection or its stream if it has not ended.
    private func end(_ number: UInt, with outcome: Result<ClientResponse, ClientError>) {
        guard let transfer = transfers.removeValue(forKey: number) else { return }
        let connections = transfer.connectionsOpened
        unsafe curl_multi_remove_handle(multi, transfer.handle.pointer)
        mailbox.close(transfer.order, with: outcome, connectionsOpened: connections)
    }

    private func endFinished() {
        var easy: UnsafeMutableRawPointer?
        var code = CURLE_OK
        while unsafe shim_multi_next_end(multi, &easy, &code) != 0 {
            let number = unsafe UInt(shim_easy_number(easy))
            guard let transfer = transfers[number] else { continue }
            end(number, with: transfer.outcome(code))
        }
    }

    /// Ends what has no time left, in libcurl's queue too, where its own timeouts do not count.
    ///
    /// - Returns: Milliseconds until the next deadline.
    private func endOverdue() -> Int64 {
        let now = MonotonicClock.milliseconds
        var wait: Int64 = 1000
        for (number, transfer) in transfers {
            let left = transfer.order.deadlineMilliseconds - now
            if left > 0 {
                wait = min(wait, left)
            } else {
                end(number, with: .failure(hasWaited(transfer) ? .waitedTooLong : .timeout))
            }
        }
        return wait
    }

    /// Whether a transfer stood in libcurl's queue, because its server has as many connections as it may: that says nothing of
    /// the server.
    private func hasWaited(_ transfer: Transfer) -> Bool {
        let origin = transfer.order.request.origin
        return transfer.isUntried
            && transfers.values.count { $0.order.request.origin == origin } > configuration.connectionsPerHost
    }

    private static func blockSignals() {
        var all = sigset_t()
        unsafe sigfillset(&all)
        unsafe pthread_sigmask(SIG_BLOCK, &all, nil)
    }
}

/// The time that does not jump when the time of day is set.
enum MonotonicClock {
    static var milliseconds: Int64 {
        var time = timespec()
        unsafe clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000
    }
}
