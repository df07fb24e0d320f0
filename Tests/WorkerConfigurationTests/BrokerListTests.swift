import Testing
import WorkerConfiguration

@Suite("The brokers' addresses")
struct BrokerListTests {
    @Test(arguments: [
        ("127.0.0.1:9092", "127.0.0.1:9092"), ("kafka", "kafka"), ("kafka:1", "kafka:1"),
        ("kafka:65535", "kafka:65535"),
        ("a:1,b:2", "a:1,b:2"), (" a:1 ,  b:2 ", "a:1,b:2"), ("[::1]:9092", "[::1]:9092"), ("[::1]", "[::1]"),
        ("[2001:db8::2]:9092,[::1]:9093", "[2001:db8::2]:9092,[::1]:9093"),
        ("PLAINTEXT://kafka:9092", "PLAINTEXT://kafka:9092"), ("sasl_ssl://kafka:9093", "SASL_SSL://kafka:9093"),
        ("broker_1.my-net.example:9092", "broker_1.my-net.example:9092"), ("kafka:09092", "kafka:9092"),
    ])
    func `lists of addresses are accepted`(_ text: String, _ normal: String) throws {
        let list = try BrokerList(text)
        #expect(list.text == normal)
        #expect(try BrokerList(list.text) == list)
    }

    static let refused: [(String, String)] = [
        ("127.0.0.1:99999", "no port from 1 to 65535"), ("127.0.0.1:65536", "no port"), ("127.0.0.1:0", "no port"),
        ("127.0.0.1:abc", "no port"), ("127.0.0.1:", "no port"), ("127.0.0.1:+1", "no port"), ("a: 1", "no port"),
        ("127.0.0.1:9092;127.0.0.2:9092", "commas"), ("localhost:9092/x", "has a path"), ("/x", "has a path"),
        (":", "names no host"), (":9092", "names no host"), ("", "is empty"), ("a:1,", "is empty"),
        ("a:1,,b:2", "is empty"), (" ", "is empty"), ("a b:1", "names no host"), ("a:1 b:2", "colons"),
        ("::1:9092", "brackets"), ("[::1", "brackets"), ("[::1]9092", "behind its brackets"), ("[x]:1", "brackets"),
        ("[]:1", "brackets"), ("1.2.3:1", "names no host"), ("256.0.0.1:1", "names no host"), ("1:2", "names no host"),
        ("-a:1", "names no host"), ("a..b:1", "names no host"), ("käfka:1", "names no host"),
        ("a@b:1", "names no host"),
        ("http://kafka:9092", "none of Kafka's"), ("PLAINTEXT://", "names no host"), ("://a:1", "none of Kafka's"),
        (String(repeating: "a", count: 64) + ":1", "names no host"),
    ]

    @Test(arguments: refused) func `anything else is refused, with what would be right`(_ text: String, _ part: String)
    {
        let problem = #expect(throws: BrokerList.Problem.self) { try BrokerList(text) }
        #expect(problem?.description.contains(part) == true, "\(problem?.description ?? "")")
        #expect(problem?.description.contains("\n") == false)
    }

    @Test(arguments: [
        "127.0.0.1:99999", "127.0.0.1:abc", "'127.0.0.1:'", "127.0.0.1:9092;127.0.0.2:9092", "localhost:9092/x",
    ])
    func `a wrong list is an error at its value`(_ text: String) {
        let errors = SampleText.replacing("127.0.0.1:9092", text).errors()
        #expect(errors.count == 1)
        #expect(
            errors.first?.contains("2:22") == true && errors.first?.contains("kafka.bootstrap_servers") == true,
            "\(errors)")
    }

    @Test func `a protocol in an address is the clients'`() {
        Mistake(
            "", SampleText.replacing("127.0.0.1:9092", "SSL://127.0.0.1:9092"),
            says:
                "2:22 kafka.bootstrap_servers names the protocol SSL, and kafka.properties has security.protocol: plaintext"
        ).check()
        #expect(SampleText.replacing("127.0.0.1:9092", "PLAINTEXT://127.0.0.1:9092").errors().isEmpty)
        #expect(
            SampleText.replacing(
                "127.0.0.1:9092", "SSL://kafka.example:9092\n  properties: { security.protocol: ssl }"
            ).errors().isEmpty)
    }
}
