// SPDX-License-Identifier: Apache-2.0
import Configuration
import OfferDomain
import Storage

/// What auditors see of one receiver of events: no secret, and no URL beyond its host.
struct EndpointReport: Sendable {
    /// What it receives, and how.
    enum Kind: String, CaseIterable, Sendable {
        case webhook, relay, syslog, file
    }

    enum State: String, CaseIterable, Sendable {
        /// The service has not begun with it yet.
        case starting
        /// It has taken everything that was sent.
        case delivering
        /// It has not taken some messages, which are sent again; it gets others meanwhile.
        case waiting
        /// It gets nothing until a time that its failures or its own answer have set.
        case paused
        /// It gets nothing until an administrator enables it.
        case disabled
    }

    /// The maximum number of listed deliveries; the counts include all.
    static let mostListed = 50

    let id: String
    let kind: Kind
    let target: String
    let format: WebhookFormat?
    fileprivate(set) var state = State.starting
    /// Why it is waiting, paused or disabled.
    fileprivate(set) var reason: String?
    fileprivate(set) var row: EndpointTable.Row?
    /// Entries of the log that were not examined yet, or that have waiting events.
    fileprivate(set) var backlog: Int64 = 0
    /// Deliveries that failed or wait behind a failed one.
    fileprivate(set) var open: Int64 = 0
    fileprivate(set) var givenUp: Int64 = 0
    /// The open ones first, in order, then the given up ones, the newest first.
    fileprivate(set) var deliveries: [EndpointTable.HeldUp] = []
}

extension EventEndpoint {
    var kind: EndpointReport.Kind { isRelay ? .relay : .webhook }
}

extension LogStream {
    var kind: EndpointReport.Kind { file == nil ? .syslog : .file }
}

extension EndpointReport {
    fileprivate init(_ endpoint: EventEndpoint) {
        var format: WebhookFormat?
        if case .events(_, let chosen) = endpoint.source { format = chosen }
        self.init(id: endpoint.id, kind: endpoint.kind, target: endpoint.shownURL, format: format)
    }

    fileprivate init(_ stream: LogStream) {
        self.init(id: stream.id, kind: stream.kind, target: stream.shownPlace, format: nil)
    }

    /// Reads all receivers; `deliveryStatuses` are what this instance knows of those that it delivers to.
    static func all(
        of settings: EventSettings?,
        _ deliveryStatuses: [String: EndpointThread.Status],
        connection: any DatabaseConnection
    ) throws(StorageError) -> (logSize: Int64, reports: [EndpointReport]) {
        let size = try connection.first(SQL("SELECT size FROM log_head")) { $0.integer(0) } ?? 0
        guard let settings else { return (size, []) }
        let table = EndpointTable(connection: connection)
        var reports = settings.endpoints.map { EndpointReport($0) } + settings.streams.map { EndpointReport($0) }
        for index in reports.indices {
            try reports[index].read(table, deliveryStatuses[reports[index].id], logSize: size)
        }
        return (size, reports)
    }

    private mutating func read(
        _ table: EndpointTable,
        _ deliveryStatus: EndpointThread.Status?,
        logSize: Int64
    ) throws(StorageError) {
        guard let row = try table.row(id) else { return }
        self.row = row
        backlog = max(0, logSize - EventPosition(number: row.nextPosition).index)
        (open, givenUp) = try table.heldUpCounts(id)
        deliveries = try table.heldUp(id, atMost: Self.mostListed)
        let failure = deliveries.first { $0.givenUpAt == nil && $0.failure != nil }?.failure
        // A stream keeps the order, so all of it waits.
        let isPaused = deliveryStatus?.isCircuitOpen ?? false || (open > 0 && (kind == .syslog || kind == .file))
        if row.disabledAt != nil {
            (state, reason) = (.disabled, row.disabledReason)
        } else if isPaused {
            (state, reason) = (.paused, deliveryStatus?.failure ?? failure)
        } else {
            (state, reason) = (open > 0 ? .waiting : .delivering, failure)
        }
    }
}
