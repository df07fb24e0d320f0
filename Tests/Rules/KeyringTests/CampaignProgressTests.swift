import JOSE
import Testing

@testable import Keyring

/// Tests of a campaign's pause and progress, as an onlooker reads them.
@Suite struct CampaignProgressTests {
    private static let time = UnixTime(seconds: 1_763_640_000)
    private static let later = time.advanced(bySeconds: 600)

    private static func rotation() -> Rotation { Rotation(id: "c-1", from: "a", to: "b", at: time) }

    @Test func `a pause keeps its start in the file, and a resumed campaign has none`() throws {
        var rotation = Self.rotation()
        try rotation.pause(because: "OPS-7")
        rotation.datePause(Self.later)
        #expect(rotation.pausedSince == Self.later)
        #expect(Rotation(rotation.json) == rotation)
        rotation.resume()
        rotation.datePause(Self.later)
        #expect(rotation.pausedSince == nil)
        #expect(Rotation(rotation.json) == rotation)
    }

    @Test func `a pause that was not dated has no start`() throws {
        var rotation = Self.rotation()
        try rotation.pause(because: "OPS-7")
        let read = try #require(Rotation(rotation.json))
        #expect(read.pause == "OPS-7" && read.pausedSince == nil)
    }

    @Test(
        arguments: [
            (#"{"campaign":"c-1","rows":12,"total":30,"finished":false}"#, 12, 18),
            (#"{"campaign":"c-1","rows":12,"finished":false}"#, 12, nil),
            (#"{"campaign":"c-1","rows":30,"total":30,"finished":true}"#, 30, 0),
            (#"{"campaign":"c-1","rows":31,"total":30}"#, 31, 0),
            (#"{"campaign":"c-1","rows":31,"finished":true}"#, 31, 0),
            (#"{"campaign":"c-1","rows":1,"total":-9223372036854775808}"#, 1, 0),
            (#"{"campaign":"c-1","rows":9223372036854775807,"total":-1}"#, Int.max, 0),
        ] as [(String, Int, Int?)])
    func `a checkpoint has the numbers of users who are done and left`(_ text: String, _ done: Int, _ left: Int?) throws
    {
        let progress = try #require(CampaignProgress(Array(text.utf8), of: "c-1"))
        #expect(progress.done == done)
        #expect(progress.left == left)
    }

    @Test(arguments: [
        "", "[]", #"{"rows":1}"#, #"{"campaign":"c-2","rows":1}"#, #"{"campaign":"c-1"}"#,
        #"{"campaign":"c-1","rows":-1}"#, #"{"campaign":"c-1","rows":"1"}"#,
    ])
    func `contents that are no checkpoint of the campaign give no progress`(_ text: String) {
        #expect(CampaignProgress(Array(text.utf8), of: "c-1") == nil)
    }

    @Test func `an onlooker sees the progress of the open campaign as it changes`() throws {
        let ring = try RingFolder()
        var editor = try KeyRingEditor(ring.directory)
        try editor.add(SigningKey.generate(.hs256), id: "a", at: Self.time)
        let rings = RingReader { [.init(name: "shop", path: ring.directory.path)] }
        #expect(rings.read().first?.progress == nil)
        var rotation = Self.rotation()
        let file = RotationFile(ring.directory)
        try file.save(rotation)
        #expect(rings.read().first?.progress == nil)
        let path = ring.directory.checkpoint(of: "c-1")
        for rows in [3, 10] {
            let text = Array(#"{"campaign":"c-1","rows":\#(rows),"total":10}"#.utf8)
            try KeyFile.write(SecretBytes(copying: text), to: path)
            let progress = rings.read().first?.progress
            #expect(progress?.done == rows && progress?.left == 10 - rows)
        }
        try rotation.pause(because: "OPS-7")
        try file.save(rotation)
        #expect(rings.read().first?.campaign?.pause == "OPS-7")
    }
}
