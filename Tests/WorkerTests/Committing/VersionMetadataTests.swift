import Testing

@testable import Worker

@Suite struct VersionMetadataTests {
    @Test func `is read as it was written`() {
        #expect(VersionMetadata.version(VersionMetadata.text(1_763_640_000_123_456)) == 1_763_640_000_123_456)
    }

    @Test(arguments: [
        "", "remint-version", "remint-version=", "remint-version=x", "remint-version=-7", "remint-version=0", "7",
    ])
    func `somebody else's is none`(_ metadata: String) { #expect(VersionMetadata.version(metadata) == nil) }
}
