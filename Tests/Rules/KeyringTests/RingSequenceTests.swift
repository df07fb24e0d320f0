import AsyncTestSupport
import Foundation
import JOSE
import Testing

@testable import Keyring

/// Random commands of two operators, with a crash or a full disk at any step: no key is lost, no change goes unlogged, and
/// nothing that is left blocks the next command.
///
/// `REMINT_TEST_SEQUENCES` is the number of sequences, `REMINT_TEST_SEED` the first one's seed.
@Suite struct RingSequenceTests {
    private static func number(_ name: String) -> Int? {
        ProcessInfo.processInfo.environment[name].flatMap { Int($0) }
    }

    @Test func `no sequence of commands loses a key, a log line or the next command`() throws {
        let first = Self.number("REMINT_TEST_SEED") ?? 1
        var reached = 0
        for seed in first..<first + (Self.number("REMINT_TEST_SEQUENCES") ?? Scale.rounds(300)) {
            var sequence = try RingSequence(seed: UInt64(seed))
            defer { sequence.remove() }
            do { try sequence.run() } catch {
                Issue.record("REMINT_TEST_SEED=\(seed): \(error); commands: \(sequence.trace)")
                return
            }
            reached += sequence.faultsReached
        }
        #expect(reached > 0, "some command met its fault")
    }
}

/// One ring and the commands on it.
struct RingSequence {
    private enum Command: CaseIterable {
        case generate, generateNamed, importKey, promote, retire, revoke, remove, prepare, checkpoint, blocked
    }

    private struct Violation: Error, CustomStringConvertible {
        let description: String
    }

    private static let time = UnixTime(seconds: 1_763_640_000)
    private static let ids = ["a", "b", "2025-11", "vendor-prod-1"]
    /// The memory of the machine where there is such a file system: a sync costs nothing there.
    private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()

    private(set) var trace: [String] = []
    private(set) var faultsReached = 0
    private let directory: KeyRingDirectory
    private var random: SeededGenerator
    private var keys: [SigningKey] = []
    private let pair: SigningKey
    /// The version that the last command was to remove.
    private var removed: String?

    init(seed: UInt64) throws {
        random = SeededGenerator(seed: seed)
        directory = KeyRingDirectory(path: "\(Self.parent)/remint-sequence-\(UUID().uuidString)")
        try directory.makeFolder()
        pair = try SigningKey.generate(.eddsa)
        for byte in 1...3 as ClosedRange<UInt8> {
            keys.append(
                try SigningKey(secret: SecretBytes(copying: [UInt8](repeating: byte, count: 32)), algorithm: .hs256))
        }
        // Half of the rings were made by hand, with a file whose name a generated version would like to have.
        guard Bool.random(using: &random) else { return }
        let listing =
            #"{"versions":[{"id":"vendor-prod-1","state":"active","algorithm":"HS256","#
            + #""file":"2025-11.secret","encoding":"utf8"}]}"#
        try write("a secret that was made by hand", to: "2025-11.secret")
        try write(listing, to: "keyring.json")
    }

    func remove() { try? FileManager.default.removeItem(atPath: directory.path) }

    mutating func run() throws {
        for _ in 0..<Int.random(in: 2...7, using: &random) {
            let before = try state()
            let log = try log()
            let fault = nextFault()
            let command = Command.allCases.randomElement(using: &random) ?? .generate
            var failure: KeyRingError?
            removed = nil
            do { try make(command, fault.faults?.disk ?? .real) } catch let error as KeyRingError { failure = error }
            trace.append("\(command), \(fault.name): \(failure.map { "\($0.message)" } ?? "done")")
            if fault.faults?.wereReached == true { faultsReached += 1 }
            try check(before, log, failure)
            try checkNext()
        }
    }

    // MARK: Commands

    private mutating func nextFault() -> (name: String, faults: Faults?) {
        let step = Int.random(in: 0..<24, using: &random)
        return switch Int.random(in: 0..<4, using: &random) {
        case 0: ("crash at \(step)", Faults(.crash, from: step, through: .max))
        case 1: ("full disk at \(step)", Faults(.failure(ENOSPC), from: step, through: step))
        case 2: ("full disk from \(step)", Faults(.failure(ENOSPC), from: step, through: .max))
        default: ("no fault", nil)
        }
    }

    private mutating func make(_ command: Command, _ disk: Disk) throws {
        let id = Self.ids.randomElement(using: &random) ?? "a"
        switch command {
        case .generate: try add(.generate(.hs256), id: nil, disk)
        case .generateNamed: try add(.generate(.hs256), id: id, disk)
        case .importKey:
            let key = keys[Int.random(in: 0..<keys.count, using: &random)]
            // A key pair, whose private key goes once it is retired.
            try add(Bool.random(using: &random) ? key : pair, id: id, disk)
        case .promote:
            try change("promote", id, disk) { (listing) throws(KeyRingError) in
                try listing.promote(id, at: Self.time)
            }
        case .retire:
            try change("retire", id, disk) { (listing) throws(KeyRingError) in
                try listing.retire(id)
            }
        case .revoke:
            try change("revoke", id, disk) { (listing) throws(KeyRingError) in
                try listing.revoke(id)
            }
        case .remove:
            removed = id
            var editor = try KeyRingEditor(directory, disk, now: { Self.time })
            _ = try editor.remove(id)
            try AuditLog(directory, disk).append("remove", version: id, at: Self.time)
        case .prepare:
            try add(.generate(.hs256), id: nil, disk)
            try checkpoint("rotation.json", disk)
        case .checkpoint: try checkpoint("rotation-1.json", disk)
        case .blocked:
            let first = try KeyRingEditor(directory)
            try withExtendedLifetime(first.listing) { try add(.generate(.hs256), id: id, disk) }
            throw Violation(description: "the second operator was let in")
        }
    }

    private func add(_ key: SigningKey, id: String?, _ disk: Disk) throws {
        var editor = try KeyRingEditor(directory, disk, now: { Self.time })
        var fresh = "2025-11"
        var number = 2
        while editor.listing.isTaken(fresh) {
            fresh = "2025-11.\(number)"
            number += 1
        }
        try editor.add(key, id: id ?? fresh, encoding: .hex, at: Self.time)
        try AuditLog(directory, disk).append("generate", version: id ?? fresh, at: Self.time)
    }

    private func change(
        _ action: String, _ id: String, _ disk: Disk,
        _ transition: (inout KeyRingListing) throws(KeyRingError) -> Bool
    ) throws {
        var editor = try KeyRingEditor(directory, disk, now: { Self.time })
        guard try editor.change(transition) else { return }
        try AuditLog(directory, disk).append(action, version: id, at: Self.time)
    }

    private func checkpoint(_ name: String, _ disk: Disk) throws {
        try DurableWrite(path: directory.file(name), mode: 0o600, .replacing, disk)
            .write(SecretBytes(copying: [UInt8](repeating: 7, count: 700)))
    }

    private func write(_ text: String, to name: String) throws {
        try DurableWrite(path: directory.file(name), mode: 0o600, .new, .real).write(SecretBytes(text: text))
    }

    // MARK: Checks

    private struct State {
        var listing: String
        var keys: [(id: String, key: VerificationKey)]
    }

    private func state() throws -> State {
        guard KeyFile.exists(directory.listing) else { return State(listing: "", keys: []) }
        _ = try directory.load(name: "shop")
        return State(
            listing: String(decoding: try KeyFile.readListing(directory.listing), as: UTF8.self),
            keys: try directory.storedKeys().map { ($0.version.id, $0.key) })
    }

    private func log() throws -> [String] {
        guard KeyFile.exists(directory.file("audit.log")) else { return [] }
        return try String(contentsOfFile: directory.file("audit.log"), encoding: .utf8)
            .split(separator: "\n").map(String.init)
    }

    private func check(_ before: State, _ log: [String], _ failure: KeyRingError?) throws {
        let after = try state()
        for (id, key) in before.keys where id != removed {
            guard let found = after.keys.first(where: { $0.id == id }), found.key.hasSameMaterial(as: key) else {
                throw Violation(description: "the key of \(id) was lost")
            }
        }
        let lines = try self.log()
        guard lines.starts(with: log) else { throw Violation(description: "a line of the log was lost") }
        let new = lines.dropFirst(log.count)
        guard new.allSatisfy({ (try? JSONDocument(parsing: Array($0.utf8))) != nil }) else {
            throw Violation(description: "a line of the log is cut")
        }
        guard failure != nil || removed == nil || !after.keys.contains(where: { $0.id == removed }) else {
            throw Violation(description: "a removed version is in the ring")
        }
        guard after.listing != before.listing else { return }
        guard new.contains(where: { $0.contains(#""stage":"intent""#) }) else {
            throw Violation(description: "a change has no line in the log")
        }
        guard failure != nil || new.contains(where: { $0.contains(#""stage":"done""#) }) else {
            throw Violation(description: "a finished change has no result in the log")
        }
        guard !new.contains(where: { $0.contains(#""stage":"failed""#) }) else {
            throw Violation(description: "a change that took effect is logged as failed")
        }
    }

    /// The other operator's next command finds a ring that can be changed, and clears up.
    private func checkNext() throws {
        do {
            let editor = try KeyRingEditor(directory)
            guard !editor.listing.neighbors.contains(where: ScratchFile.isName) else {
                throw Violation(description: "a scratch file was left")
            }
        }
        try checkpoint("rotation.json", .real)
        try checkpoint("rotation-1.json", .real)
    }
}
