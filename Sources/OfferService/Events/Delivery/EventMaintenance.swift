// SPDX-License-Identifier: Apache-2.0
package import Configuration
import Cryptography
import Dispatch
import HTTP
import Ledger
import OfferDomain
import ServiceRuntime
package import Storage

/// What commands see and steer of the receivers of events.
package struct EventMaintenance {
    private let settings: EventSettings
    private let ledger: LedgerAccess
    private let clock = WallClock.system

    /// Reads the events file; the database is opened when it is needed.
    package init(_ settings: Settings) throws(EventMaintenanceError) {
        guard let path = settings.eventsPath else { throw .notConfigured }
        do throws(ConfigurationError) {
            let policy = SecretFilePolicy(allowsGroupRead: settings.admitsGroupReadableSecrets)
            self.settings = try EventsFile(path: path, policy: policy).load()
        } catch {
            throw .configuration(error)
        }
        ledger = LedgerAccess(location: settings.database, clock: clock)
    }

    /// All receivers of the events file, endpoints and streams.
    package var endpointIDs: [String] { settings.receiverIDs }

    /// One line for each receiver, and one for each of its public keys.
    package func endpointLines() throws(EventMaintenanceError) -> [String] {
        let rows = try read { table throws(StorageError) in try table.all() }
        let endpoints = settings.endpoints.flatMap { endpoint in
            let row = rows.first { $0.id == endpoint.id }
            return [Self.line(endpoint.id, to: endpoint.shownURL, row)]
                + endpoint.publicKeys.map { "  public key \($0)" }
        }
        return endpoints
            + settings.streams.map { stream in
                let kind = stream.file == nil ? "syslog" : "file"
                return Self.line(stream.id, to: "\(kind) \(stream.shownPlace)", rows.first { $0.id == stream.id })
            }
    }

    private static func line(_ id: String, to target: String, _ row: EndpointTable.Row?) -> String {
        guard let row else { return "\(id)\t\(target)\tnot known yet" }
        let next = EventPosition(number: row.nextPosition).index
        var line = "\(id)\t\(target)\t\(row.delivered) delivered, next entry \(next)"
        if let time = row.deliveredAt { line += ", last \(time.rfc3339)" }
        if let time = row.disabledAt {
            line += ", disabled since \(time.rfc3339): \(row.disabledReason ?? "")"
        }
        return line
    }

    /// One line for each message that was not taken.
    package func deliveryLines(of id: String?) throws(EventMaintenanceError) -> [String] {
        var lines: [String] = []
        for endpoint in endpointIDs where id == nil || id == endpoint {
            for item in try read({ table throws(StorageError) in try table.heldUp(endpoint) }) {
                let index = EventPosition(number: item.position).index
                let state =
                    item.givenUpAt.map { "given up \($0.rfc3339)" }
                    ?? (item.attempts == 0 ? "waits" : "next attempt \(item.nextAttemptAt.rfc3339)")
                lines.append(
                    "\(endpoint)\tentry \(index)\t\(item.attempts) attempts\t\(state)\t\(item.failure ?? "")"
                )
            }
        }
        return lines
    }

    /// Has events or relayed notifications sent again from an entry on; false if the database lacks the endpoint.
    ///
    /// Notifications that every relay got are gone after a quarter of an hour, and given-up ones after seven days.
    package func replay(_ id: String, from index: Int64) throws(EventMaintenanceError) -> Bool {
        try write { table throws(StorageError) in
            try table.askToRewind(id, to: EventPosition(index: index).number)
        }
    }

    /// Has events delivered again to a receiver that answered 410; false if the database does not know it.
    package func enable(_ id: String) throws(EventMaintenanceError) -> Bool {
        try write { table throws(StorageError) in try table.enable(id) }
    }

    /// Sends a test message, and waits for the answer; blocks the thread.
    package func test(_ id: String) throws(EventMaintenanceError) -> (isTaken: Bool, text: String) {
        if let stream = settings.streams.first(where: { $0.id == id }) { return stream.test(at: clock.now()) }
        let endpoint = settings.endpoints.first { $0.id == id }
        guard let endpoint, case .events(_, let format) = endpoint.source else { throw .notEndpointOfEvents }
        let message = WebhookMessage.test(at: clock.now(), as: format)
        do {
            let headers = try message.headers(
                at: clock.now(),
                secrets: endpoint.secrets,
                signingKeys: endpoint.signingKeys
            )
            let request = try ClientRequest(.post, url: endpoint.url, headers: headers, body: message.body)
            let client = try Client(EventDeliverer.clientConfiguration(settings))
            try client.start()
            defer { client.stop() }
            let response = try Self.send(request, client).get()
            let isTaken = (200..<300).contains(response.status)
            return (isTaken, "\(id) answered with status \(response.status)")
        } catch {
            return (false, "\(id): \(error)")
        }
    }

    private static func send(_ request: ClientRequest, _ client: Client) -> Result<ClientResponse, ClientError> {
        let outcome = Guarded<Result<ClientResponse, ClientError>?>(nil)
        Task {
            let result: Result<ClientResponse, ClientError>
            do throws(ClientError) { result = .success(try await client.send(request)) } catch {
                result = .failure(error)
            }
            outcome.withLock { $0 = result }
            outcome.wakeOne()
        }
        return outcome.wait { $0 }
    }

    private func read<Value>(
        _ body: (EndpointTable) throws(StorageError) -> Value
    ) throws(EventMaintenanceError) -> Value {
        do throws(StorageError) {
            return try body(EndpointTable(connection: try ledger.openForReading()))
        } catch {
            throw .database(error)
        }
    }

    private func write<Value>(
        _ body: (EndpointTable) throws(StorageError) -> Value
    ) throws(EventMaintenanceError) -> Value {
        do throws(StorageError) {
            return try body(EndpointTable(connection: try ledger.open()))
        } catch {
            throw .database(error)
        }
    }
}

/// Why a command about events ended early.
package enum EventMaintenanceError: Error, Sendable {
    case notConfigured
    case configuration(ConfigurationError)
    case database(StorageError)
    case notEndpointOfEvents
}
