import Foundation
import JOSE
import Testing

@testable import Keyring

@Suite struct KeyEndTests {
    private static let end = UnixTime(seconds: 1_800_000_000)
    private let end = KeyEnd(ring: "shop", version: "a", isSigning: true, end: Self.end)

    @Test(
        arguments: [
            (-30 * 86_400, nil), (-30 * 86_400 + 1, .month), (-7 * 86_400, .month), (-7 * 86_400 + 1, .week),
            (-86_400 + 1, .day), (-1, .day), (0, .over), (1, .over),
        ] as [(Int64, KeyEnd.Stage?)])
    func `an end is near from 30, 7 and 1 days on`(_ seconds: Int64, _ stage: KeyEnd.Stage?) {
        let now = Self.end.advanced(bySeconds: seconds)
        #expect(end.stage(at: now) == stage)
        #expect((end.warning(at: now) == nil) == (stage == nil))
    }

    @Test func `a warning names the version, the ring, the time left and the command`() {
        let warning = end.warning(at: Self.end.advanced(bySeconds: -5 * 86_400))
        #expect(
            warning
                == "the active version a of the key ring shop retires at 2027-01-15T08:00:00Z, in 5 days; replace it: remint rotate prepare --key shop"
        )
        #expect(
            end.warning(at: Self.end)
                == "the active version a of the key ring shop retired at 2027-01-15T08:00:00Z, and signs no token; replace it: remint rotate prepare --key shop"
        )
    }

    @Test func `the active version and the one of an open campaign have ends, and no other`() throws {
        func version(_ id: String, _ state: KeyVersion.State, end: Bool = true) -> ListedVersion {
            ListedVersion(
                id: id, keyID: nil, state: state, algorithm: .hs256, file: id, encoding: .hex, passphraseFile: nil,
                created: nil, activated: nil, retireAfter: end ? Self.end : nil)
        }
        var report = RingReport(name: "shop")
        report.versions = [
            version("a", .passive), version("b", .active), version("c", .prepared), version("d", .retired),
        ]
        #expect(report.ends.map(\.version) == ["b"])
        report.campaign = Rotation(
            id: "1", from: "b", to: "c", at: Self.end, by: "root", why: nil, isOfOwnKey: false)
        #expect(report.ends.map(\.version) == ["b", "c"])
        #expect(report.ends.map(\.isSigning) == [true, false])
        #expect(report.ends.last?.warning(at: Self.end)?.contains("remint rotate abort --key shop") == true)
        report.versions = [version("b", .active, end: false)]
        #expect(report.ends.isEmpty)
    }
}
