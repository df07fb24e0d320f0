import AdapterKit
import Pipeline
import Testing

@testable import Worker

@Suite struct VersionMetadataTests {
    private static let now = UnixTime(microseconds: 1_763_640_000_123_456)

    @Test func `a version is read as it was written, up to a day ahead`() throws {
        for version in [1, 1_763_640_000_123_456, 1_763_640_000_123_456 + 86_400_000_000] as [Int64] {
            #expect(try VersionMetadata.version(VersionMetadata.text(version), at: Self.now) == version)
        }
    }

    @Test(arguments: ["", "remint-version", "7", "version=7"])
    func `the metadata of another program has no version`(_ metadata: String) throws {
        #expect(try VersionMetadata.version(metadata, at: Self.now) == nil)
    }

    @Test(arguments: [
        "remint-version=", "remint-version=x", "remint-version=-7", "remint-version=0",
        "remint-version=9223372036854775807", "remint-version=9223372036854775808",
        "remint-version=-9223372036854775808",
        "remint-version=1763726400123457",
    ])
    func `a version that no clock gives is refused`(_ metadata: String) {
        #expect(throws: RecordFault.version) { try VersionMetadata.version(metadata, at: Self.now) }
    }
}
