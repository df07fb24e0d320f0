import AdapterKit
import Glibc
import JOSE

@testable import Keyring
@testable import Operations

/// The properties that hold after each command, whatever became of it.
extension CampaignSequence {
    /// The ring, its campaign and its log.
    struct State {
        var listing: KeyRingListing
        var keys: [(id: String, key: VerificationKey)]
        var rotation: Rotation?
        var log: [UInt8]

        var open: Rotation? { rotation.flatMap { $0.phase.isOver ? nil : $0 } }

        func state(of id: String) -> KeyVersion.State? { listing.state(of: id) }
    }

    func state() throws -> State {
        return State(
            listing: try directory.readListing(),
            keys: try directory.storedKeys().map { ($0.version.id, $0.key) },
            rotation: try RotationFile(directory).load(), log: fileBytes("\(folder)/audit.log"))
    }

    func check(_ command: Command, _ before: State, _ after: State, _ end: End, isAgain: Bool) throws {
        try checkKeys(before, after)
        try checkLog(before, after, end)
        try checkOwners()
        try checkCampaign(command, before, after, end)
        try checkOutcome(command, before, after, end)
        if isAgain { try checkRepeated(command, end) }
        try checkNext()
    }

    /// Every key that could be loaded can still be loaded, and what is revoked stays so.
    private func checkKeys(_ before: State, _ after: State) throws {
        for (id, key) in before.keys where !removed.contains(id) {
            guard let found = after.keys.first(where: { $0.id == id }), found.key.hasSameMaterial(as: key) else {
                throw Violation("the key of \(id) was lost")
            }
        }
        for version in before.listing.versions where version.state == .revoked && !removed.contains(version.id) {
            guard after.state(of: version.id) == .revoked else { throw Violation("\(version.id) is revoked no more") }
        }
    }

    // MARK: The log

    /// Each change lies behind its intent, and has its result unless a fault came in between.
    private func checkLog(_ before: State, _ after: State, _ end: End) throws {
        guard after.log.count >= before.log.count, memcmp(after.log, before.log, before.log.count) == 0 else {
            throw Violation("a line of the log was lost")
        }
        let changes = try watch.takeChanges()
        var isOpen = false
        var start = before.log.count
        var time = ""
        for line in after.log[before.log.count...].split(separator: UInt8(ascii: "\n")) {
            let root = try? JSONDocument(parsing: Array(line)).root
            guard let stage = root?["stage"]?.string, let now = root?["time"]?.string else {
                throw Violation("a line of the log is cut: \(String(decoding: line, as: UTF8.self))")
            }
            guard time <= now else {
                throw Violation("a line of the log is older than the one before: \(now), \(time)")
            }
            time = now
            let isResult = stage != "intent"
            guard isResult == isOpen || end.wasFaulty && !isResult else {
                throw Violation("a change has \(isResult ? "no intent" : "no result") in the log")
            }
            if changes.contains(start), stage == "failed" {
                throw Violation("a change that took effect is logged as failed")
            }
            isOpen = !isResult
            start += line.count + 1
        }
        guard !isOpen || end.wasFaulty else { throw Violation("a change has no result in the log") }
        guard end.failure == nil || !changes.isEmpty || after.listing == before.listing else {
            throw Violation("the ring was changed unseen")
        }
    }

    // MARK: The folder

    /// The account of the worker can use every file that root made.
    private func checkOwners() throws {
        for name in ScratchFile.names(in: folder) where name != "." && name != ".." {
            var status = stat()
            guard lstat("\(folder)/\(name)", &status) == 0, status.st_uid != Account.serviceID else { continue }
            // A scratch file that a crash left is removed by the next command.
            guard ScratchFile.isName(name) else { throw Violation("\(name) belongs to user \(status.st_uid)") }
        }
    }

    /// The other operator's next command finds a ring that can be changed, and clears up.
    private func checkNext() throws {
        let editor = try KeyRingEditor(directory)
        guard !editor.listing.neighbors.contains(where: ScratchFile.isName) else {
            throw Violation("a scratch file was left")
        }
    }

    // MARK: The campaign

    private func checkCampaign(_ command: Command, _ before: State, _ after: State, _ end: End) throws {
        guard let open = before.open, !end.wasInterrupted else { return }
        guard after.rotation != nil else { throw Violation("the campaign was lost") }
        let isSame = after.rotation?.id == open.id
        switch command {
        case .generate, .importKey, .promoteVersion, .retireVersion, .keysRemove, .job:
            guard after.rotation == open else { throw Violation("a command of the ring changed the campaign") }
            for id in [open.from, open.to] where before.state(of: id) != after.state(of: id) {
                guard before.state(of: id) == nil else {
                    throw Violation("a command of the ring changed \(id), which is in an open campaign")
                }
            }
        case .prepare: guard isSame || open.phase == .reissued else { throw Violation("the campaign was replaced") }
        case .revoke(let version?, _):
            let isThird = ![open.from, open.to, before.listing.active?.id].contains(version)
            guard isThird, before.listing.active != nil else { break }
            guard after.rotation == open else { throw Violation("the revocation of \(version) closed the campaign") }
            guard before.listing.active == after.listing.active else {
                throw Violation("the revocation of \(version) changed the version that signs")
            }
        case .revoke: break
        default: guard isSame else { throw Violation("the campaign was replaced") }
        }
        if open.kind == .revocation, isSame, after.rotation?.phase == .aborted {
            throw Violation("a revocation was aborted")
        }
    }

    /// A command that reports success has done its work.
    private func checkOutcome(_ command: Command, _ before: State, _ after: State, _ end: End) throws {
        guard end.failure == nil, !end.wasInterrupted else { return }
        switch command {
        case .reissue where reissued:
            guard let rotation = after.rotation, rotation.phase == .reissued else {
                throw Violation("a finished re-issue is not in the campaign")
            }
            guard cluster.live(rotation.from) == 0 else {
                throw Violation("\(cluster.live(rotation.from)) tokens of \(rotation.from) live after the re-issue")
            }
            guard rotation.kind == .revocation else { break }
            for version in after.listing.versions where version.state == .revoked && cluster.live(version.id) > 0 {
                throw Violation("tokens of the revoked \(version.id) live after a revocation's re-issue")
            }
        case .retire(let isForced):
            guard let rotation = after.rotation, rotation.phase == .retired else {
                throw Violation("a retired campaign is not over")
            }
            guard isForced || before.open == nil || cluster.live(rotation.from) == 0 else {
                throw Violation("\(rotation.from) was retired over live tokens")
            }
        case .retireVersion(let id, isForced: false) where before.state(of: id) != .retired:
            guard cluster.live(id) == 0 else { throw Violation("\(id) was retired over live tokens") }
        case .keysRemove(let id, let isForced):
            guard after.state(of: id) == nil else { throw Violation("a removed version is in the ring") }
            guard isForced || cluster.live(id) == 0 else { throw Violation("\(id) was removed over live tokens") }
        case .revoke(let id?, _):
            guard after.state(of: id) == .revoked else { throw Violation("\(id) is not revoked") }
        case .abort:
            guard let rotation = after.rotation, rotation.phase == .aborted else { throw Violation("not aborted") }
            guard before.open == nil || after.state(of: rotation.from) == .active else {
                throw Violation("\(rotation.from) does not sign after the abort")
            }
            guard before.open != nil, before.state(of: rotation.to) == .prepared else { break }
            guard after.state(of: rotation.to) == (rotation.isOfOwnKey ? .retired : .prepared) else {
                throw Violation("the abort left \(rotation.to) in another state than it had before the campaign")
            }
        case .promote:
            guard let rotation = after.rotation, after.state(of: rotation.to) == .active else {
                throw Violation("the new version does not sign after the promotion")
            }
        default: break
        }
    }

    /// A step that a crash interrupted behind its beginning can be made again.
    private func checkRepeated(_ command: Command, _ end: End) throws {
        guard wasBegun, let failure = end.failure else { return }
        switch command {
        // A revocation that names no version means another one once the first is revoked, and says so.
        case .prepare, .promote, .pause, .resume, .abort, .revoke(.some, _):
            throw Violation("the interrupted step is refused when it is repeated: \(failure)")
        default: break
        }
    }

    // MARK: Of one mind

    /// The ring and the campaign agree; else every command that uses both reports it, and the command that it names
    /// settles it.
    func settle() async throws {
        for _ in 0..<3 {
            guard let refusal = try disagreement() else { return }
            for command in [Command.resume, .reissue(.answers, canary: 0), .retire(isForced: true)] {
                let end = try await turn(command, .none)
                guard end.failure is RotationError else {
                    throw Violation("\(command) ran although the ring and the campaign disagree: \(refusal)")
                }
            }
            if refusal.hasSuffix("--promote ID") { _ = try await turn(.generate(nil), .none) }
            let remedies = self.remedies(in: refusal)
            guard let remedy = remedies.randomElement(using: &random) else {
                throw Violation("no command settles it: \(refusal)")
            }
            let end = try await turn(remedy, .none)
            if let failure = end.failure { throw Violation("\(remedy) settles nothing: \(failure); \(refusal)") }
        }
        if let refusal = try disagreement() { throw Violation("it stays unsettled: \(refusal)") }
    }

    /// The refusal of the campaign by the ring; nil where they agree.
    private func disagreement() throws -> String? {
        guard let rotation = try RotationFile(directory).load(), !rotation.phase.isOver else { return nil }
        let listing = try directory.readListing()
        do throws(RotationError) {
            let derived = try rotation.derived(from: listing)
            guard derived.phase == rotation.phase || rotation.phase == .prepared && derived.phase == .promoted else {
                throw RotationError("the phase \(rotation.phase) became \(derived.phase)")
            }
            return nil
        } catch { return error.description }
    }

    private func remedies(in refusal: String) -> [Command] {
        var remedies: [Command] = []
        if refusal.contains("remint rotate promote --now") { remedies.append(.promote(isForced: true)) }
        if refusal.contains("remint rotate abort") { remedies.append(.abort) }
        if let words = refusal.components(after: "remint rotate revoke --key-version ") {
            var successor = words.count > 2 && words[1] == "--promote" ? words[2] : nil
            if successor == "ID" {
                successor = (try? directory.readListing())?.versions.first { $0.state == .prepared }?.id
            }
            remedies.append(.revoke(words[0], promoting: successor))
        }
        return remedies
    }
}

extension String {
    /// The words behind `start`; nil where it is not in the string.
    fileprivate func components(after start: String) -> [String]? {
        guard let range = firstRange(of: start) else { return nil }
        return self[range.upperBound...].split(separator: " ").map(String.init)
    }
}
