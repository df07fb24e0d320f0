import AdapterKit
import Foundation
import Glibc
import JOSE
import Synchronization
import WorkerConfiguration
import WorkerTestSupport

@testable import Keyring
@testable import Operations

/// One ring, its campaigns and the commands of two operators on them.
final class CampaignSequence {
    /// A command.
    enum Command {
        case generate(String?)
        case importKey(Int, String)
        case promoteVersion(String, isForced: Bool)
        case retireVersion(String, isForced: Bool)
        case keysRemove(String, isForced: Bool)
        case prepare(String?)
        case promote(isForced: Bool)
        case reissue(ModelCluster.Mood, canary: Double)
        case pause
        case resume
        case abort
        case retire(isForced: Bool)
        case revoke(String?, promoting: String?)
        /// `remint reissue --ledger --key-id`, with its checkpoint in the ring's folder.
        case job(String)
    }

    /// The end of a command.
    struct End {
        var failure: (any Error)?
        /// Whether a fault came, in this command or in one that came in between.
        var wasFaulty = false
        /// Whether another command came in between.
        var wasInterrupted = false
    }

    /// The memory of the machine where there is such a file system: a sync costs nothing there.
    private static let parent = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : NSTemporaryDirectory()
    static let users = (0..<5).map { Array("push/registered=u\($0)".utf8) }

    private(set) var trace: [String] = []
    private(set) var faults = 0
    private(set) var finished = 0
    /// Whether the last re-issue finished its campaign.
    var reissued = false
    /// Whether the last command that a crash interrupted had logged its intent.
    private(set) var wasBegun = false
    var random: SeededGenerator
    let folder: String
    let directory: KeyRingDirectory
    let cluster: ModelCluster
    let watch: RingWatch
    private let configuration: Configuration
    private let clock: SequenceClock
    private var last: State?
    private var interruption: (command: Command, fault: Fault)?
    private var wasInterrupted = false
    private var interruptionWasFaulty = false

    init(seed: UInt64, _ configuration: Configuration) async throws {
        var random = SeededGenerator(seed: seed)
        let folder = "\(Self.parent)/remint-campaign-\(UUID().uuidString)"
        let clock = SequenceClock()
        let cluster = ModelCluster(now: { clock.now() })
        guard mkdir(folder, 0o700) == 0, chown(folder, Account.serviceID, Account.serviceID) == 0 else {
            throw Violation("\(folder) cannot be made")
        }
        let form = Int.random(in: 0..<12, using: &random)
        try await Account.service.act { try Self.makeRing(folder, form, cluster) }
        self.random = random
        self.folder = folder
        self.clock = clock
        self.cluster = cluster
        self.configuration = configuration
        directory = KeyRingDirectory(path: folder)
        watch = RingWatch(folder)
        cluster.campaign = { [directory] in
            (try? RotationFile(directory).load()).flatMap { $0.phase.isOver || $0.pause != nil ? nil : $0.id }
        }
        cluster.signer = { [directory] in (try? directory.readListing())?.active?.id }
    }

    func remove() { try? FileManager.default.removeItem(atPath: folder) }

    /// A ring of three versions, of which z signed before; in a third of the rings an open campaign.
    private static func makeRing(_ folder: String, _ form: Int, _ cluster: ModelCluster) throws {
        let phase = form < 4 ? ["prepared", "promoted", "canary", "waves"][form] : nil
        let states =
            switch phase {
            case nil: [("z", "passive"), ("a", "active")]
            case "prepared": [("z", "passive"), ("a", "active"), ("b", "prepared")]
            default: [("z", "passive"), ("a", "passive"), ("b", "active")]
            }
        let versions = states.map { id, state in
            #"{"id":"\#(id)","state":"\#(state)","algorithm":"HS256","file":"\#(id).secret","encoding":"utf8"}"#
        }
        for (id, _) in states { try write("a secret for \(id) that was made by hand", "\(folder)/\(id).secret") }
        try write(#"{"versions":[\#(versions.joined(separator: ","))]}"# + "\n", "\(folder)/keyring.json")
        for (place, user) in users.enumerated() { cluster.issue(user, place == 4 ? "z" : "a", eventID: "first") }
        guard let phase else { return }
        try write(
            #"{"id":"old","kind":"rotation","from":"a","to":"b","phase":"\#(phase)","begun":"2025-11-01T00:00:00Z","passed_apps":["push"]}"#
                + "\n",
            "\(folder)/rotation.json")
        guard phase == "waves" else { return }
        try write(
            #"{"job":"old.1","campaign":"old","round":1,"input":"ledger of a","rows":1,"sent":1,"rejected":0,"rejects_length":0}"#
                + "\n", "\(folder)/rotation-old.json")
        let subjects = users.dropLast().map { String(decoding: $0, as: UTF8.self) + "\n" }.joined()
        try write(subjects, "\(folder)/rotation-old.subjects")
    }

    private static func write(_ text: String, _ path: String) throws {
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        let bytes = Array(text.utf8)
        defer { close(descriptor) }
        guard descriptor >= 0, Glibc.write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Violation("\(path) cannot be written")
        }
    }

    // MARK: Turns

    func run() async throws {
        for _ in 0..<Int.random(in: 3...9, using: &random) {
            let command = nextCommand(try known()), fault = nextFault(command)
            let end = try await turn(command, fault)
            if case .crash = fault, end.wasFaulty, !end.wasInterrupted, Bool.random(using: &random) {
                _ = try await turn(command, .none, isAgain: true)
            }
            try await settle()
            clock.advance([0, 0, 660, 7200].randomElement(using: &random) ?? 0)
        }
    }

    /// One command by one operator, and what must hold after it.
    ///
    /// - Parameter isAgain: whether the command was interrupted by a crash before.
    func turn(_ command: Command, _ fault: Fault, isAgain: Bool = false) async throws -> End {
        let account = Account.allCases.randomElement(using: &random) ?? .root
        let before = try known()
        interruption = nextInterruption(command, before)
        (wasInterrupted, interruptionWasFaulty, reissued, removed) = (false, false, false, [])
        cluster.between = { [unowned self] in await interrupt(account.other) }
        var end = await perform(command, fault, account)
        cluster.between = {}
        (end.wasInterrupted, end.wasFaulty) = (wasInterrupted, end.wasFaulty || interruptionWasFaulty)
        if end.wasFaulty { faults += 1 }
        if case .retire = command, end.failure == nil { finished += 1 }
        if let violation = cluster.violation { throw Violation(violation) }
        try requireExpected(end)
        let after = try state()
        last = after
        try check(command, before, after, end, isAgain: isAgain)
        wasBegun = fileBytes("\(folder)/audit.log").count > before.log.count
        return end
    }

    /// Another operator's command, while a command waits for the brokers.
    private func interrupt(_ account: Account) async {
        guard let (command, fault) = interruption, Int.random(in: 0..<3, using: &random) == 0 else { return }
        interruption = nil
        wasInterrupted = true
        let mood = cluster.mood
        let end = await perform(command, fault, account)
        cluster.mood = mood
        interruptionWasFaulty = end.wasFaulty
        if end.failure is Violation { interruptionFailure = end.failure }
    }

    /// The state after the last command.
    private func known() throws -> State {
        let state = try last ?? state()
        last = state
        return state
    }

    /// The versions that the turn's commands were to remove.
    var removed: Set<String> = []

    private(set) var interruptionFailure: (any Error)?

    private func perform(_ command: Command, _ fault: Fault, _ account: Account) async -> End {
        let disk = FaultyDisk(fault, watch)
        var end = End()
        do {
            try await account.act {
                try await make(command, ring(KeyRingDirectory(path: folder, on: disk.disk)))
            }
        } catch { end.failure = error }
        end.wasFaulty = disk.wasReached
        trace.append("\(account) \(command), \(fault): \(end.failure.map { "\($0)" } ?? "done")")
        return end
    }

    func ring(_ directory: KeyRingDirectory) throws -> RingInUse {
        guard let key = configuration.keys.first else { throw Violation("no key ring is configured") }
        return RingInUse(
            configuration: configuration, ring: key, directory: directory, now: { [clock] in clock.now() })
    }

    /// Errors that an operator may see.
    private func requireExpected(_ end: End) throws {
        if let failure = interruptionFailure { throw failure }
        switch end.failure {
        case nil: return
        case let error as Violation: throw error
        case let error as KeyRingError where error.isInterruption && !end.wasFaulty:
            throw Violation("a crash that did not happen: \(error)")
        case is KeyRingError, is RotationError, is TooEarly, is TokensLive, is UseNotOver, is CampaignStopped,
            is ModelCluster.Down:
            return
        case is InputUnreadable where end.wasFaulty: return
        case let error?: throw Violation("unexpected: \(error)")
        }
    }
}

/// A clock that goes on with each look at it.
final class SequenceClock: Sendable {
    private let time = Mutex<Int64>(1_763_640_000)

    func now() -> UnixTime {
        time.withLock { time in
            time += 4
            return UnixTime(seconds: time)
        }
    }

    func advance(_ seconds: Int64) { time.withLock { $0 += seconds } }
}
