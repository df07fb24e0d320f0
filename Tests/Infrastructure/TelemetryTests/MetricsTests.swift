import Telemetry
import Testing

@Suite struct MetricsTests {
    @Test func `metric families are written in the order they were made, each with its help and type`() throws {
        let registry = MetricsRegistry()
        _ = registry.counter("b_total", "Second letter first.")
        _ = registry.gauge("a", "A gauge.")
        _ = registry.histogram("c_seconds", "A distribution.", buckets: [1])
        #expect(
            registry.exposition() == """
                # HELP b_total Second letter first.
                # TYPE b_total counter
                # HELP a A gauge.
                # TYPE a gauge
                # HELP c_seconds A distribution.
                # TYPE c_seconds histogram

                """)
        #expect(MetricsRegistry().exposition().isEmpty)
    }

    @Test func `of very many apps, the first busy ones keep their series, and the others have a sum`() throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("c_total", "Help.", labels: ["result", "app"])
        let gauge = registry.gauge("g", "Help.", labels: ["app"])
        let histogram = registry.histogram("h", "Help.", labels: ["app"], buckets: [1])
        for number in 0..<10_000 {
            counter.add(0, "x", "app-\(number)")
            gauge.set(0, "app-\(number)")
            histogram.begin("app-\(number)")
        }
        func lines(_ start: String) -> [Substring] {
            registry.exposition().split(separator: "\n").filter { $0.hasPrefix(start) }
        }
        #expect(lines("c_total") == [#"c_total{result="x",app="other"} 0"#])
        counter.add(3, "x", "app-7")
        gauge.set(1, "app-8")
        histogram.observe(0.5, "app-9")
        #expect(lines("c_total").contains(#"c_total{result="x",app="app-7"} 3"#))
        #expect(
            lines("g") == [
                #"g{app="app-7"} 0"#, #"g{app="app-8"} 1"#, #"g{app="app-9"} 0"#, #"g{app="other"} 0"#,
            ])
        #expect(lines("h_count").contains(#"h_count{app="app-9"} 1"#))
        for number in 0..<1000 { counter.add(1, "x", "app-\(9000 + number)") }
        counter.add(1, "x", "unknown")
        let counts = lines("c_total")
        // 500 apps, the sum and the events of no configured app.
        #expect(counts.count == 502)
        #expect(counts.contains(#"c_total{result="x",app="app-7"} 3"#))
        #expect(counts.contains(#"c_total{result="x",app="unknown"} 1"#))
        #expect(counts.contains(#"c_total{result="x",app="other"} 503"#))
        // An app without a series of its own grows in the sum, and no series falls.
        for number in 0..<1000 { counter.add(1, "x", "app-\(9000 + number)") }
        #expect(lines("c_total").contains(#"c_total{result="x",app="other"} 1006"#))
    }

    @Test func `few apps keep their series, zeros too`() {
        let registry = MetricsRegistry()
        let gauge = registry.gauge("g", "Help.", labels: ["app"])
        for number in 0..<500 { gauge.set(0, "app-\(number)") }
        #expect(registry.exposition().split(separator: "\n").count == 502)
    }

    @Test func `series of a removed label value go, and those without the label stay`() throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("c_total", "Help.", labels: ["result", "app"])
        let gauge = registry.gauge("g", "Help.", labels: ["app"])
        let histogram = registry.histogram("h", "Help.", labels: ["app"], buckets: [1])
        let other = registry.counter("o_total", "Help.", labels: ["lane"])
        for app in ["a", "b"] {
            counter.add(1, "x", app)
            gauge.set(1, app)
            histogram.observe(0.5, app)
        }
        other.add(1, "b")
        registry.keep("app") { $0 == "a" }
        let text = registry.exposition()
        #expect(!text.contains(#"app="b""#))
        #expect(text.contains(#"lane="b""#))
        #expect(counter.all == [["x", "a"]: 1] && gauge.all == [["a"]: 1] && histogram.counts("a") == [1, 0])
    }

    @Test func `counters updated before a reading are in each reading`() throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("t_total", "Help.")
        registry.beforeReading { counter.add(2) }
        registry.beforeReading { counter.add(3) }
        for total in [5.0, 10, 15] { #expect(try Exposition(registry.exposition()).value("t_total") == total) }
    }

    @Test(arguments: [
        "", "plain", "\"", "\\", "\n", "\\n", "a\"b\\c\nd", "}", "{", ",", "=", " ", "é", "👩‍👩‍👧", "\u{0}",
        "\r", "\r\n", "x\u{301}",
        "\u{FEFF}",
    ])
    func `any label value comes back as it was`(_ value: String) throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("t_total", "Help.", labels: ["a", "b"])
        counter.add(3, value, "other")
        let text = registry.exposition()
        #expect(text.split(separator: "\n").count == 3)
        let sample = try #require(try Exposition(text).families["t_total"]?.samples.first)
        #expect(Array(sample.labels["a", default: "?"].unicodeScalars) == Array(value.unicodeScalars))
        #expect(sample.labels["b"] == "other")
        #expect(sample.value == 3)
    }

    @Test func `counters add up, and never fall`() throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("t_total", "Help.", labels: ["a"])
        counter.add(2, "x")
        counter.add([["x"]: 3, ["y"]: 1])
        counter.add(-10, "x")
        counter.add([["y"]: -1])
        counter.add(0, "z")
        #expect(counter.value("x") == 5)
        #expect(counter.value("never") == 0)
        let exposition = try Exposition(registry.exposition())
        #expect(exposition.value("t_total", ["a": "x"]) == 5)
        #expect(exposition.value("t_total", ["a": "y"]) == 1)
        #expect(exposition.value("t_total", ["a": "z"]) == 0)
        #expect(exposition.value("t_total", ["a": "never"]) == nil)
    }

    @Test func `gauges have the value set last, and are gone when they are replaced`() throws {
        let registry = MetricsRegistry()
        let gauge = registry.gauge("g", "Help.", labels: ["a"])
        gauge.set(1, "x")
        gauge.set(-2.5, "x")
        gauge.set(7, "y")
        #expect(try Exposition(registry.exposition()).value("g", ["a": "x"]) == -2.5)
        gauge.replace([["z"]: 1])
        let samples = try Exposition(registry.exposition()).families["g"]?.samples
        #expect(samples == [.init(name: "g", labels: ["a": "z"], value: 1)])
    }

    @Test func `buckets are cumulative, bounds included, and the last is everything`() throws {
        let registry = MetricsRegistry()
        let histogram = registry.histogram("h", "Help.", labels: ["a"], buckets: [0.1, 1, 10])
        histogram.observe([0.05, 0.1, 0.5, 1, 2, 10, 11, 1e9], ["x"])
        histogram.observe(0.05, "x")
        histogram.observe([], ["never"])
        let exposition = try Exposition(registry.exposition())
        let buckets = ["0.1", "1", "10", "+Inf"].map { exposition.value("h_bucket", ["a": "x", "le": $0]) }
        #expect(buckets == [3, 5, 7, 9])
        #expect(exposition.value("h_count", ["a": "x"]) == 9)
        let sum = try #require(exposition.value("h_sum", ["a": "x"]))
        #expect(abs(sum - (0.05 + 0.1 + 0.5 + 1 + 2 + 10 + 11 + 1e9 + 0.05)) < 1e-6)
        #expect(exposition.value("h_count", ["a": "never"]) == nil)
    }

    @Test(arguments: [
        (0, "0"), (-0.0, "0"), (1, "1"), (-3, "-3"), (0.5, "0.5"), (1e14, "100000000000000"),
        (1e15, "1000000000000000.0"),
        (1e300, "1e+300"), (1e-9, "1e-09"), (.infinity, "+Inf"), (-.infinity, "-Inf"), (.nan, "NaN"),
    ])
    func `numbers are written as the format has them`(number: Double, text: String) throws {
        let registry = MetricsRegistry()
        registry.gauge("g", "Help.").set(number)
        let line = try #require(registry.exposition().split(separator: "\n").last)
        #expect(line == "g \(text)")
        let value = try #require(try Exposition(registry.exposition()).value("g"))
        #expect(value == number || value.isNaN && number.isNaN)
    }

    @Test func `values that come from many threads are all counted`() async throws {
        let registry = MetricsRegistry()
        let counter = registry.counter("t_total", "Help.", labels: ["a"])
        let histogram = registry.histogram("h", "Help.", buckets: [1, 2])
        await withTaskGroup { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        counter.add(1, "\(number % 3)")
                        histogram.observe(Double(task % 3))
                        if number % 100 == 0 { #expect((try? Exposition(registry.exposition())) != nil) }
                    }
                }
            }
        }
        let exposition = try Exposition(registry.exposition())
        #expect((0..<3).reduce(0) { $0 + (exposition.value("t_total", ["a": "\($1)"]) ?? 0) } == 4000)
        #expect(exposition.value("h_count") == 4000)
        #expect(exposition.value("h_bucket", ["le": "+Inf"]) == 4000)
    }
}
