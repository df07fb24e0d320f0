import Formats
import Testing

@Suite("Addresses")
struct AddressTests {
    @Test(arguments: [
        ("192.0.2.1", "192.0.2.1"), ("::ffff:192.0.2.1", "192.0.2.1"), ("::FFFF:c000:201", "192.0.2.1"),
        ("::1", "0:0:0:0:0:0:0:1"), ("::", "0:0:0:0:0:0:0:0"), ("2001:db8::1", "2001:db8:0:0:0:0:0:1"),
        ("2001:DB8:0:0:8:800:200C:417A", "2001:db8:0:0:8:800:200c:417a"), ("fe80::1%eth0", "fe80:0:0:0:0:0:0:1"),
        ("64:ff9b::192.0.2.33", "64:ff9b:0:0:0:0:c000:221"),
    ])
    func `an address has one form, however it is written`(text: String, form: String) {
        #expect(IPAddress(text)?.description == form)
    }

    @Test(arguments: [
        "", "1", "1.2.3", "1.2.3.4.5", "256.0.0.1", "01.2.3.4", "1.2.3.4 ", "1.2.3.-4", "a.b.c.d", "::1::", ":", ":::",
        "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "12345::", "g::", "1:2:3:4:5:6:7::8", "[::1]", "::1.2.3", "::1.2.3.4:5",
        "127.0.0.1:80", "\u{0}", "١.٢.٣.٤", "0x7f.0.0.1",
    ])
    func `a string that is no IP address is refused`(text: String) { #expect(IPAddress(text) == nil, "\(text)") }

    @Test func `an IPv6 address is known by its network of 64 bits, an IPv4 address by itself`() throws {
        let (one, two) = (try #require(IPAddress("2001:db8:1:2::1")), try #require(IPAddress("2001:db8:1:2:ffff::9")))
        #expect(one != two && one.network == two.network)
        #expect(one.network != IPAddress("2001:db8:1:3::1")?.network)
        #expect(IPAddress("192.0.2.1")?.network == IPAddress("192.0.2.1"))
    }

    @Test(arguments: [
        ("10.0.0.0/8", "10.255.0.1", true), ("10.0.0.0/8", "11.0.0.1", false), ("10.0.0.0/8", "::ffff:10.0.0.1", true),
        ("192.0.2.7", "192.0.2.7", true), ("192.0.2.7", "192.0.2.8", false), ("0.0.0.0/0", "203.0.113.9", true),
        ("0.0.0.0/0", "::1", false), ("fd00::/8", "fdff::1", true), ("fd00::/8", "fe00::1", false),
        ("192.0.2.8/29", "192.0.2.15", true), ("192.0.2.8/29", "192.0.2.16", false), ("::/0", "10.0.0.1", false),
    ])
    func `a range contains the addresses that share its first bits`(range: String, address: String, isIn: Bool) throws {
        let range = try #require(AddressRange(range))
        #expect(range.contains(try #require(IPAddress(address))) == isIn)
    }

    @Test(arguments: [
        "", "10.0.0.1/8", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/", "/8", "10.0.0.0/8/8", "::/129", "x/8",
    ])
    func `a string that is no address range is refused`(text: String) { #expect(AddressRange(text) == nil) }
}
