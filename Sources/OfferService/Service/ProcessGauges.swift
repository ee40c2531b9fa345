// SPDX-License-Identifier: Apache-2.0
import Configuration
import Cryptography
import OfferDomain
import ServiceRuntime

/// The process metrics of Prometheus' client libraries, under the same names, and the build.
///
/// Source: Prometheus, [Process metrics](https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics).
struct ProcessGauges: Sendable {
    let startedAt: Timestamp

    var gauges: [Gauge] {
        let memory = ProcessUsage.memory
        return [
            Gauge(
                "offer_signer_build_info",
                help: "The version of the program; always 1",
                [.init(1, labels: [("version", Program.version), ("architecture", Self.architecture)])]
            ),
            Gauge(
                "process_cpu_seconds_total",
                help: "Processor time that the process has used, in seconds",
                type: "counter",
                [.init(ProcessUsage.processorSeconds)]
            ),
            Gauge("process_resident_memory_bytes", help: "Memory of the process", [.init(Double(memory.resident))]),
            Gauge(
                "process_virtual_memory_bytes",
                help: "Addresses that the process uses",
                [.init(Double(memory.virtual))]
            ),
            Gauge(
                "process_start_time_seconds",
                help: "When the process started, in seconds since 1970 UTC",
                [.init(Double(startedAt.milliseconds) / 1000)]
            ),
            Gauge("process_open_fds", help: "Open files and connections", [.init(Double(ProcessUsage.openFiles))]),
            Gauge(
                "process_max_fds",
                help: "The most files and connections that may be open",
                [.init(Double(ProcessUsage.mostOpenFiles))]
            ),
        ]
    }

    private static var architecture: String {
        #if arch(x86_64)
        "amd64"
        #elseif arch(arm64)
        "arm64"
        #else
        "other"
        #endif
    }
}
