import Formats
import Telemetry

/// The metrics of a process at one moment: `ExportMetricsServiceRequest`. All of them are cumulative, so that a lost
/// request loses nothing.
struct MetricsRequest {
    /// The moment from which counters and distributions count.
    let start: UnixTime
    /// The moment.
    let time: UnixTime

    /// Returns the request for `metrics`. A family without a value yet is left out.
    func json(of metrics: [MetricReading], in request: ExportRequest) -> [UInt8] {
        request.envelope("resourceMetrics", "scopeMetrics", "metrics") { json in
            for metric in metrics where !metric.values.isEmpty { write(metric, to: &json) }
        }
    }

    /// `AGGREGATION_TEMPORALITY_CUMULATIVE`.
    private static let cumulative: Int64 = 2

    private func write(_ metric: MetricReading, to json: inout JSONWriter) {
        json.object { json in
            json.member("name", metric.name)
            json.member("description", metric.help)
            switch metric.values {
            case .counter(let points):
                json.name("sum")
                json.object { json in
                    json.array("dataPoints") { json in
                        for point in points { write(point, of: metric, isCumulative: true, to: &json) }
                    }
                    json.member("aggregationTemporality", Self.cumulative)
                    json.name("isMonotonic")
                    json.bool(true)
                }
            case .gauge(let points):
                json.name("gauge")
                json.object { json in
                    json.array("dataPoints") { json in
                        for point in points { write(point, of: metric, isCumulative: false, to: &json) }
                    }
                }
            case .histogram(let bounds, let distributions):
                json.name("histogram")
                json.object { json in
                    json.array("dataPoints") { json in
                        for distribution in distributions { write(distribution, bounds, of: metric, to: &json) }
                    }
                    json.member("aggregationTemporality", Self.cumulative)
                }
            }
        }
    }

    private func write(
        _ point: MetricReading.Point, of metric: MetricReading, isCumulative: Bool, to json: inout JSONWriter
    ) {
        json.object { json in
            begin(metric.labels, point.labels, isCumulative: isCumulative, &json)
            json.name("asDouble")
            json.double(point.value)
        }
    }

    private func write(
        _ distribution: MetricReading.Distribution, _ bounds: [Double], of metric: MetricReading,
        to json: inout JSONWriter
    ) {
        json.object { json in
            begin(metric.labels, distribution.labels, isCumulative: true, &json)
            json.member("count", wide: Int64(distribution.counts.reduce(0, +)))
            json.name("sum")
            json.double(distribution.sum)
            json.array("bucketCounts") { json in for count in distribution.counts { json.string(String(count)) } }
            json.array("explicitBounds") { json in for bound in bounds { json.double(bound) } }
        }
    }

    private func begin(_ names: [String], _ values: [String], isCumulative: Bool, _ json: inout JSONWriter) {
        json.array("attributes") { json in
            for (name, value) in zip(names, values) { json.write(name) { $0.member("stringValue", value) } }
        }
        if isCumulative { json.member("startTimeUnixNano", nanoseconds: start) }
        json.member("timeUnixNano", nanoseconds: time)
    }
}

extension MetricReading.Values {
    fileprivate var isEmpty: Bool {
        switch self {
        case .counter(let points), .gauge(let points): points.isEmpty
        case .histogram(_, let distributions): distributions.isEmpty
        }
    }
}
