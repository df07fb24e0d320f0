import AdapterKit
import Pipeline
import Testing

@testable import Wiring
@testable import Worker

@Suite struct CommitMetadataTests {
    private static let time = UnixTime(milliseconds: 1_763_640_000_123)

    @Test(arguments: [nil, LogMark(offset: 0, timestamp: 1_763_640_000_123), LogMark(offset: .max, timestamp: nil)])
    func `metadata is read as it was written`(_ mark: LogMark?) throws {
        for version in [1, 1_763_640_000_123_456] as [Int64] {
            let metadata = CommitMetadata(version: version, mark: mark, committedAt: Self.time)
            #expect(try CommitMetadata(metadata.text, at: Self.time) == metadata)
            #expect(metadata.text.utf8.count < 128)
        }
    }

    @Test func `a worker without tokens still marks the log`() throws {
        let mark = LogMark(offset: 7, timestamp: 8)
        let text = CommitMetadata(version: nil, mark: mark, committedAt: Self.time).text
        let read = try CommitMetadata(text, at: Self.time)
        #expect(read == CommitMetadata(version: nil, mark: mark, committedAt: Self.time))
    }

    @Test func `the metadata of an older worker has the version alone`() throws {
        let read = try CommitMetadata(VersionMetadata.text(7), at: Self.time)
        #expect(read == CommitMetadata(version: 7, mark: nil, committedAt: nil))
    }

    @Test(arguments: [
        "", "first=1@2", "x;first=1@2;at=3", "remint-version=0;first=1", "remint-version=0;first=1@;at=",
        "remint-version=0;first=1@2@3;at=1.5", "remint-version=0;first=+1@2;at=+3",
        "remint-version=0;first=99999999999999999999@1;at=99999999999999999999",
    ])
    func `foreign or damaged metadata is ignored`(_ text: String) throws {
        let read = try CommitMetadata(text, at: Self.time)
        #expect(read == CommitMetadata(version: nil, mark: nil, committedAt: nil))
    }

    @Test(arguments: [
        "remint-version=x;first=", "remint-version=-1;first=1@2;at=3", "remint-version=;first=1@2",
        "remint-version=9223372036854775807;first=1@2",
    ])
    func `metadata with a version that no worker gives is refused`(_ text: String) {
        #expect(throws: RecordFault.version) { try CommitMetadata(text, at: Self.time) }
    }
}

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
