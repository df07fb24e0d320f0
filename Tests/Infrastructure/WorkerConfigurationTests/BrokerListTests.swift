import Testing
import WorkerConfiguration

@Suite("The brokers' addresses")
struct BrokerListTests {
    @Test(arguments: [
        ("127.0.0.1:9092", "127.0.0.1:9092"), ("kafka:1", "kafka:1"), ("kafka:65535", "kafka:65535"),
        ("a:1,b:2", "a:1,b:2"), (" a:1 ,  b:2 ", "a:1,b:2"), ("[::1]:9092", "[::1]:9092"),
        ("[2001:db8::2]:9092,[::1]:9093", "[2001:db8::2]:9092,[::1]:9093"),
        ("PLAINTEXT://kafka:9092", "PLAINTEXT://kafka:9092"), ("sasl_ssl://kafka:9093", "SASL_SSL://kafka:9093"),
        ("broker_1.my-net.example:9092", "broker_1.my-net.example:9092"), ("kafka:09092", "kafka:9092"),
        ("embedded:9092", "embedded:9092"),
    ])
    func `lists of addresses are accepted`(_ text: String, _ normal: String) throws {
        let list = try BrokerList(text)
        #expect(list.text == normal)
        #expect(try BrokerList(list.text) == list)
    }

    private static let noPort = "the address has no port; add :9092, or the port of the brokers' listener"
    private static let badPort = "the address has no port from 1 to 65535 behind its colon"
    private static let badHost =
        "the address names no host; a host's name is of letters, digits, hyphens, underscores and single dots, and no part begins or ends with a hyphen or has more than 63 characters"
    private static let noHost = "the address names no host before its colon; write host:port"
    private static let badIPv4 =
        "the address is no IPv4 address; write four numbers from 0 to 255, as in 127.0.0.1:9092"
    private static let badIPv6 = "the address is no IPv6 address in brackets; write one as [::1]:9092"
    private static let behindBrackets =
        "the address has something behind its brackets that is no port; write it as [::1]:9092"
    private static let colons = "the address has several colons; write host:port, and commas between brokers"
    private static let unbracketed =
        "the address has several colons; write an IPv6 address in brackets, as in [::1]:9092"
    private static let spaceAtColon = "the address has a space beside its colon; remove it"
    private static let space = "the address has a space; separate brokers with commas"
    private static let path = "the address has a path; write host:port alone"
    private static let scheme =
        "the address has a protocol that is none of Kafka's; write PLAINTEXT, SSL, SASL_PLAINTEXT, SASL_SSL, or host:port alone"
    private static let empty = "is empty; write host:port, with one comma between two brokers"
    private static let credentials =
        "an address must not hold a user name or a password; write them as sasl.username and sasl.password_file under kafka.properties"
    private static let semicolon = "separate the brokers with commas, not with \";\""
    private static let small = "write embedded in small letters, or the brokers as host:port"

    static let refused: [(String, String)] = [
        ("127.0.0.1", noPort), ("kafka", noPort), ("[::1]", noPort), ("SSL://kafka", noPort), ("localhost", noPort),
        ("a:1,b", "address 2 has no port; add :9092, or the port of the brokers' listener"),
        ("127.0.0.1:99999", badPort), ("127.0.0.1:65536", badPort), ("127.0.0.1:0", badPort),
        ("127.0.0.1:abc", badPort),
        ("127.0.0.1:", badPort), ("127.0.0.1:+1", badPort), ("kafka:９０９２", badPort), ("kafka:9092?x", badPort),
        ("127.0.0.1:9092;127.0.0.2:9092", semicolon), ("a:1;", semicolon),
        ("localhost:9092/x", path), ("/x", path), ("kafka/9092", path), ("SSL://kafka:9092/", path),
        (":", noHost), (":9092", noHost), ("PLAINTEXT://", noHost), ("SSL://:9092", noHost),
        ("", "the address \(empty)"), (" ", "the address \(empty)"), ("a:1,", "address 2 \(empty)"),
        (",a:1", "address 1 \(empty)"), ("a:1,,b:2", "address 2 \(empty)"),
        ("a b:1", space), ("a:9092 b:9093", space), ("a:9092\nb:9093", space), ("a b", space),
        ("127.0.0.1 :9092", spaceAtColon), ("a: 1", spaceAtColon), ("a : 1", spaceAtColon),
        ("::1:9092", unbracketed), ("2001:db8::2", unbracketed), ("kafka:9092:9093", colons),
        ("kafka-1:9092:kafka-2:9092", colons),
        ("[::1", badIPv6), ("[x]:1", badIPv6), ("[]:1", badIPv6), ("[::1%eth0]:1", badIPv6),
        ("[::1]9092", behindBrackets),
        ("127.1:9092", badIPv4), ("1.2.3:1", badIPv4), ("256.0.0.1:1", badIPv4), ("1:2", badIPv4), ("9092", badIPv4),
        ("-a:1", badHost), ("a..b:1", badHost), (".a:1", badHost), ("a.:1", badHost), ("käfka:1", badHost),
        ("\"a:1\"", badHost), (String(repeating: "a", count: 64) + ":1", badHost),
        ("http://kafka:9092", scheme), ("://a:1", scheme), ("kafka://a:1", scheme), ("SSL ://a:1", spaceAtColon),
        ("user:hunter2@kafka:9092", credentials), ("SASL_SSL://user:hunter2@kafka:9092", credentials),
        ("a:1,user:hunter2@kafka:9092", credentials), ("user:hunter2,;@kafka:9092", credentials),
        ("a@b:1", credentials),
        ("Embedded", small), ("EMBEDDED", small), (" eMbedded ", small),
        ("embedded", "embedded names no address here; write the one that the embedded broker's process logs"),
    ]

    @Test(arguments: refused)
    func `a bad list of addresses is refused with one line, which repeats nothing of it`(_ text: String, _ line: String)
    {
        let problem = #expect(throws: BrokerList.Problem.self) { try BrokerList(text) }
        #expect(problem?.description == line)
        #expect(problem?.description.contains("hunter2") == false)
    }

    @Test func `the embedded broker in capitals is no host beyond this machine`() {
        Mistake(
            "", SampleText.replacing("127.0.0.1:9092", "Embedded"),
            says: "2:22 kafka.bootstrap_servers: write embedded in small letters"
        ).check()
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
