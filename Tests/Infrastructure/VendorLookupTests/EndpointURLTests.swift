import AdapterKit
import Formats
import HTTPTransport
import Testing
import WorkerTestSupport

@testable import VendorLookup

@Suite struct EndpointURLTests {
    @Test(arguments: [
        ("https://rest.iad-01.braze.com", "https://rest.iad-01.braze.com", "rest.iad-01.braze.com"),
        ("HTTPS://host/", "https://host", "host"),
        ("http://127.0.0.1:8080/base/", "http://127.0.0.1:8080/base", "127.0.0.1:8080"),
        ("https://[::1]:8443/a/b", "https://[::1]:8443/a/b", "[::1]:8443"), ("https://[::1]", "https://[::1]", "[::1]"),
        ("https://host/a%20b/", "https://host/a%20b", "host"), ("https://Host:443", "https://host", "host"),
    ])
    func `an endpoint is parsed into its base and authority`(text: String, base: String, host: String) throws {
        let url = try EndpointURL(parsing: text)
        #expect(url.text == base)
        #expect(url.authority == host)
        #expect(url.appending("/x?y=1") == base + "/x?y=1")
    }

    @Test(arguments: [
        "", "host", "host/path", "ftp://host", "unix:///socket", "https:/host", "https://", "https:///path",
        "https://canary@host", "https://user:canary@host", "https://host:canary", "https://host:0",
        "https://host:65536",
        "https://host:", "https://host?key=canary", "https://host/?key=canary", "https://host#canary", "https://ho st",
        "https://host/canary path", "https://host/%zz", "https://höst", "https://[]", "https://[::1",
        "https://[canary]",
        "https://host\r\n", "https://host\\canary", "https://host/a//canary", "https://host/%2E%2e/canary",
    ])
    func `a string that is no endpoint is refused without repeating it`(text: String) {
        let endpoint = LookupEndpoint(
            account: "shop", url: text, authorization: .mintedToken, credentials: .none, timeout: .seconds(1))
        let error = #expect(throws: EndpointError.self) { try LookupDestination(endpoint) }
        #expect(error?.description.contains("canary") == false)
    }

    @Test func `two accounts of one name and a timeout of zero are refused`() {
        func endpoint(_ timeout: Duration) -> LookupEndpoint {
            LookupEndpoint(
                account: "shop", url: "https://host", authorization: .mintedToken, credentials: .none, timeout: timeout)
        }
        for endpoints in [[endpoint(.seconds(1)), endpoint(.seconds(2))], [endpoint(.zero)], [endpoint(.seconds(-1))]] {
            #expect(throws: EndpointError.self) {
                try LookupClient(endpoints, signer: StubSigner(), logger: LookupBench.silent, now: { LookupBench.time })
            }
        }
        #expect(
            LookupEndpoint(
                account: "a", url: "https://host", authorization: .mintedToken, credentials: .none,
                timeout: .seconds(1), concurrency: -3
            ).concurrency == 1)
    }
}
