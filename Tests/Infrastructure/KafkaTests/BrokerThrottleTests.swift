import Testing

@testable import Kafka

/// The brokers' quotas in librdkafka's statistics.
@Suite struct BrokerThrottleTests {
    private static func broker(_ longest: Int) -> String {
        #""host:9092/1": { "int_latency": { "min":1, "max":900 }, "throttle": { "min":0, "max":\#(longest), "avg":0, "sum":0, "cnt":0}, "req": { "Produce": 3 } }"#
    }

    @Test(arguments: [([0, 0], 0), ([0, 1250], 1250), ([7, 3], 7)] as [([Int], Int64)])
    func `the longest throttle of any broker counts`(brokers: [Int], longest: Int64) {
        let text = #"{ "brokers":{ "# + brokers.map(Self.broker).joined(separator: ", ") + " } }"
        #expect(BrokerThrottle.longest(in: text) == longest)
    }

    @Test(arguments: ["", "{}", #"{"throttle"#, #"{"throttle": { "max"#, #"{"throttle": { "max":x } }"#])
    func `statistics without a throttle have none`(text: String) { #expect(BrokerThrottle.longest(in: text) == 0) }

    @Test(.timeLimit(.minutes(5)))
    func `a producer's statistics reach it, and a broker without a quota makes it wait for nothing`()
        async throws
    {
        try await withProducer(["statistics.interval.ms": "100"]) { _, producer in
            #expect(await producer.deliver(numbered(10)).allSatisfy { $0 == nil })
            #expect(producer.throttle == .zero)
        }
    }
}
