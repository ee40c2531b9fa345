// SPDX-License-Identifier: Apache-2.0
import Foundation
import OfferService
import TestSupport
import Testing

@testable import Ledger

/// The dashboard and the alert rules of `docs/operations`, held to the metrics that the service has and to the runbook.
struct MonitoringTests {
    private static let dashboard = "docs/operations/grafana-dashboard.json"
    private static let rules = "docs/operations/prometheus-rules.yaml"
    /// Metrics that are not the service's own: one of Prometheus, and one of its node exporter.
    private static let foreign: Set = ["up", "node_filesystem_avail_bytes"]

    /// A rule, or a query of a panel.
    private struct Query {
        let place: String
        let expression: String

        /// Names of metrics, each with the labels that it is filtered by.
        var selectors: [(metric: String, matchers: [(label: String, value: String)])] {
            expression.matches(
                of: #/\b((?:offer_signer|process)_[a-z_]+|up|node_filesystem_avail_bytes)\b(?:\{([^}]*)\})?/#
            )
            .map { found in
                let matchers = String(found.2 ?? "").matches(of: #/([a-z_]+)\s*(?:=~|!~|!=|=)\s*"([^"]*)"/#)
                return (String(found.1), matchers.map { (String($0.1), String($0.2)) })
            }
        }

        /// Labels that the expression groups or joins by.
        var groupings: [String] {
            expression.matches(of: #/\b(?:by|on|ignoring|without|group_left|group_right)\s*\(([^)]*)\)/#)
                .flatMap { $0.1.split(whereSeparator: { $0 == "," || $0 == " " }).map(String.init) }
        }
    }

    /// What Python reads out of a file.
    private static func read(_ path: String, _ module: String) async throws -> Tree {
        let script = """
            import json, sys, \(module)
            with open(sys.argv[1], encoding="utf-8") as file:
                print(json.dumps(\(module == "yaml" ? "yaml.safe_load" : "json.load")(file)))
            """
        let run = try await runProcess(["/usr/bin/env", "python3", "-c", script, Repository.path(path)])
        #expect(run.succeeded, "\(path): \(run)")
        return try Tree(run.output)
    }

    private static func alerts() async throws -> [Tree] {
        try await read(rules, "yaml")["groups"].elements.flatMap { $0["rules"].elements }
    }

    private static func panels() async throws -> [Tree] { try await read(dashboard, "json")["panels"].elements }

    private static func queries() async throws -> [Query] {
        let alerts = try await alerts().map { Query(place: $0["alert"].text ?? "", expression: $0["expr"].text ?? "") }
        let panels = try await panels().flatMap { panel in
            panel["targets"].elements.map {
                Query(place: panel["title"].text ?? "", expression: $0["expr"].text ?? "")
            }
        }
        return alerts + panels
    }

    // MARK: - Metrics

    /// The labels of each metric: those that docs/monitoring.md lists, and those that the page shows.
    private static func labels(_ page: MetricsPage) throws -> [String: Set<String>] {
        var labels: [String: Set<String>] = [:]
        for family in page.families.keys { labels[family] = [] }
        let text = try Repository.text("docs/monitoring.md")
        for row in text.matches(of: #/(?m)^\| (`[a-z_]+`(?:, `[a-z_]+`)*) \|([^|]*)\|/#) {
            let names = row.1.matches(of: #/`([a-z_]+)`/#).map { "offer_signer_\($0.1)" }
            let groups = row.2.split(separator: ";", omittingEmptySubsequences: false)
            for (index, name) in names.enumerated() {
                let own = groups.count == names.count ? groups[index] : groups[0]
                // “`witness`; and `state`” gives the second metric the labels of the first as well.
                let group = own.contains("and ") ? groups.joined() : String(own)
                labels[name]?.formUnion(group.matches(of: #/`([a-z0-9_]+)`/#).map { String($0.1) })
            }
        }
        for line in text.matches(of: #/`([a-z_]+)` \(((?:`[a-z0-9]+`(?:, )?)+)\)/#) {
            labels["offer_signer_\(line.1)"]?.formUnion(line.2.matches(of: #/`([a-z0-9]+)`/#).map { String($0.1) })
        }
        for sample in page.samples.keys {
            let name = String(sample.prefix { $0 != "{" })
            labels[name]?.formUnion(sample.matches(of: #/[{,]([a-z]+)="/#).map { String($0.1) })
        }
        return labels
    }

    private static func family(of metric: String, _ page: MetricsPage) -> String? {
        if page.families[metric] != nil { return page.families[metric] == "histogram" ? nil : metric }
        let suffix = ["_bucket", "_sum", "_count"].first { metric.hasSuffix($0) }
        let family = String(metric.dropLast(suffix?.count ?? 0))
        return page.families[family] == "histogram" ? family : nil
    }

    @Test func `ask for metrics and labels that a service has, and for no others`() async throws {
        let place = try RunningPlace()
        var page: MetricsPage?
        try await place.run { service async throws in
            page = try MetricsPage(try await place.send(.get("/metrics"), to: service))
        }
        let served = try #require(page)
        let labels = try Self.labels(served)
        let everywhere: Set = ["instance", "job"]
        let queries = try await Self.queries()
        #expect(queries.count > 50)
        for query in queries {
            var admitted = everywhere
            #expect(!query.selectors.isEmpty, "\(query.place) asks for nothing")
            for (metric, matchers) in query.selectors where !Self.foreign.contains(metric) {
                guard let family = Self.family(of: metric, served) else {
                    Issue.record("\(query.place): there is no metric \(metric)")
                    continue
                }
                let own = everywhere.union(labels[family] ?? []).union(metric.hasSuffix("_bucket") ? ["le"] : [])
                admitted.formUnion(own)
                for (label, value) in matchers {
                    #expect(own.contains(label), "\(query.place): \(metric) has no label \(label)")
                    guard label == "match" else { continue }
                    #expect(RedemptionMatch(rawValue: value) != nil, "\(query.place): match=\(value)")
                }
            }
            for label in query.groupings where query.selectors.contains(where: { !Self.foreign.contains($0.metric) }) {
                #expect(admitted.contains(label), "\(query.place): nothing has the label \(label)")
            }
        }
    }

    // MARK: - Alerts

    @Test func `each alert says for how long, how bad, what, and what to do`() async throws {
        let text = try Repository.text("docs/runbook.md")
        let headings = Set(text.matches(of: #/(?m)^#+ (.+)$/#).map { Self.anchor(String($0.1)) })
        let alerts = try await Self.alerts()
        for alert in alerts {
            let name = try #require(alert["alert"].text)
            #expect(alert["for"].text?.wholeMatch(of: #/[0-9]+[smh]/#) != nil, "\(name)")
            #expect(["critical", "warning", "info"].contains(alert["labels"]["severity"].text), "\(name)")
            #expect((alert["annotations"]["summary"].text ?? "").count > 20, "\(name)")
            let link = alert["annotations"]["runbook_url"].text?.split(separator: "#").map(String.init) ?? []
            #expect(link.count == 2 && link[0] == "https://offer-signer.example/docs/runbook.md", "\(name)")
            #expect(headings.contains(link.last ?? ""), "\(name): the runbook has no heading for \(link)")
        }
        let names = alerts.compactMap(\.["alert"].text)
        #expect(Set(names).count == names.count)
        for needed in [
            "OfferRedeemedWithoutRecord", "OfferRedeemedByAnotherAccount", "OfferCheckpointOld", "OfferWitnessRefuses",
            "OfferWitnessBehind", "OfferServiceSealed", "OfferSelfVerificationFailed", "OfferAuditUnavailable",
            "OfferKeyUsedUnexpectedly", "OfferCertificateRevoked", "OfferRevocationUnknown", "OfferCatalogUnread",
            "OfferDiskFull", "OfferDiskFilling", "OfferAPIKeyExpires", "OfferTLSCertificateExpires", "OfferAnswersSlow",
        ] { #expect(names.contains(needed), "\(needed)") }
    }

    /// As Markdown renderers name a heading: lowercase, hyphens for blanks, all else but letters and digits left out.
    private static func anchor(_ heading: String) -> String {
        String(
            heading.lowercased().replacing(" ", with: "-").filter { $0.isLetter || $0.isNumber || "-_".contains($0) }
        )
    }

    @Test func `the dashboard has every panel in its place, each with queries and a title`() async throws {
        let panels = try await Self.panels()
        var titles: Set<String> = []
        var ids: Set<Int64> = []
        for panel in panels {
            let title = try #require(panel["title"].text)
            #expect(ids.insert(try #require(panel["id"].integer)).inserted, "\(title)")
            let place = panel["gridPos"]
            let (x, width) = (try #require(place["x"].integer), try #require(place["w"].integer))
            #expect((0...24).contains(x) && x + width <= 24, "\(title)")
            if panel["type"].text == "row" { continue }
            titles.insert(title)
            #expect(!panel["targets"].elements.isEmpty, "\(title)")
            #expect(panel["targets"].elements.allSatisfy { $0["expr"].text?.contains("$instance") == true }, "\(title)")
        }
        #expect(titles.count > 25)
    }

    private static let promtool = ["/usr/bin/promtool", "/usr/local/bin/promtool"].first {
        FileManager.default.isExecutableFile(atPath: $0)
    }

    @Test(.enabled(if: promtool != nil))
    func `Prometheus accepts the rules`() async throws {
        let run = try await runProcess([try #require(Self.promtool), "check", "rules", Repository.path(Self.rules)])
        #expect(run.succeeded, "\(run)")
    }

    @Test(.enabled(if: promtool != nil))
    func `the alerts ring when they should, and not for nothing`() async throws {
        let cases = Repository.path("Tests/PrometheusRules/alerts.yaml")
        let run = try await runProcess([try #require(Self.promtool), "test", "rules", cases])
        #expect(run.succeeded, "\(run)")
    }
}
