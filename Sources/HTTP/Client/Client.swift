// SPDX-License-Identifier: Apache-2.0
import Glibc
import Synchronization

/// An HTTP client over libcurl that runs all its transfers on one thread of its own.
///
/// The client uses HTTP/2 if the server offers it by ALPN, otherwise HTTP/1.1, over TLS 1.2 or later. It reuses
/// connections. If a kept connection turns out to be closed, the client sends the request once more on a new one. It
/// follows no redirects, uses no proxy, keeps no cookies, and reads no files except the trusted certificates. A task
/// that waits for a response blocks no thread and resumes where it ran.
package final class Client: Transport {
    private let configuration: ClientConfiguration
    private let loop: TransferLoop
    private let thread = Mutex<pthread_t?>(nil)

    /// Prepares everything, and has the process ignore SIGPIPE, which a server that closes early would send to us.
    ///
    /// The first one prepares libcurl and with it OpenSSL: `SecureMemory.start` must have come before.
    package init(_ configuration: ClientConfiguration = ClientConfiguration()) throws(ClientError) {
        signal(SIGPIPE, SIG_IGN)
        self.configuration = configuration
        loop = try TransferLoop(configuration)
    }

    deinit {
        stop()
    }

    /// Starts the thread.
    ///
    /// Before it, each request fails with ``ClientError/stopped``. Does nothing if it was called before.
    package func start() throws(ClientError) {
        guard loop.mailbox.open() else { return }
        var started = pthread_t()
        let argument = unsafe Unmanaged.passRetained(loop)
        let result = unsafe pthread_create(
            &started,
            nil,
            { argument in
                guard let argument = unsafe argument else { return nil }
                unsafe Unmanaged<TransferLoop>.fromOpaque(argument).takeRetainedValue().run()
                return nil
            },
            argument.toOpaque()
        )
        guard result == 0 else {
            unsafe argument.release()
            loop.mailbox.close()
            throw .library(code: Int(result), "a thread could not be started")
        }
        thread.withLock { $0 = started }
    }

    /// Ends all that is in flight with ``ClientError/stopped``, and the thread; blocks for the moment that this takes.
    ///
    /// A client that was stopped cannot be started again. Does nothing if it does not run.
    package func stop() {
        loop.mailbox.close()
        loop.wakeUp()
        let ended = thread.withLock { thread in
            defer { thread = nil }
            return thread
        }
        if let ended { pthread_join(ended, nil) }
    }

    /// Sends a request, and suspends until its answer is whole, its time is up, or the task is canceled.
    ///
    /// - Throws: ``ClientError/plainHTTPNotAllowed`` for an `http` origin where the configuration does not allow it.
    package func send(_ request: ClientRequest) async throws(ClientError) -> ClientResponse {
        guard request.origin.scheme == .https || configuration.allowsPlainHTTP else { throw .plainHTTPNotAllowed }
        let timeout = request.timeoutMilliseconds ?? configuration.timeoutMilliseconds
        let deadline = MonotonicClock.milliseconds + Int64(max(0, timeout))
        let (loop, number) = (loop, loop.mailbox.reserveNumber())
        let outcome = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                loop.mailbox.put(
                    Order(
                        number: number,
                        request: request,
                        deadlineMilliseconds: deadline,
                        continuation: continuation
                    )
                )
                loop.wakeUp()
            }
        } onCancel: {
            loop.mailbox.cancel(number)
            loop.wakeUp()
        }
        return try outcome.get()
    }

    /// What has happened so far.
    package var statistics: ClientStatistics { loop.mailbox.statistics }
}
