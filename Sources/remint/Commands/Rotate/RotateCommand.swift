import AdapterKit
import ArgumentParser
import JOSE
import Keyring
import WorkerConfiguration

/// `remint rotate`: a key's replacement as a campaign.
struct RotateCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "rotate", abstract: "Replaces a key: prepare, promote, re-issue, retire.",
        discussion: """
            The campaign's state stands in the ring's folder, so that every step can be repeated after a crash and goes on where
            it was; each is a line in the ring's audit.log.

              remint rotate prepare    a new version; the vendor gets it
              remint rotate promote    it signs, once it was prepared for the app's publish_window
              remint rotate reissue    new tokens for everyone who holds one of the old version, a canary first
              remint rotate retire     the end of the old version, once no token of it lives
            """,
        subcommands: [
            RotatePrepare.self, RotatePromote.self, RotateReissue.self, RotateStatus.self, RotatePause.self,
            RotateResume.self, RotateAbort.self, RotateRetire.self, RotateRevoke.self,
        ])
}

/// A ring's campaign and the steps it takes, each under the ring's lock.
struct Campaign {
    let ring: RingInUse
    private var file: RotationFile { RotationFile(ring.directory) }

    /// - Throws: `RotationError` where there is none.
    func load() throws -> Rotation {
        guard let rotation = try file.load() else {
            throw RotationError("no campaign was begun for \(ring.ring.name); first: remint rotate prepare")
        }
        return rotation
    }

    func loadIfAny() throws -> Rotation? { try file.load() }

    /// Changes the campaign where `step` does.
    ///
    /// - Returns: the campaign as it is then.
    /// - Throws: `KeyRingError`, also where another operator is at it, or what `step` throws.
    @discardableResult
    func change(_ action: String, detail: String = "", _ step: (inout Rotation) throws -> Void) throws -> Rotation {
        let editor = try KeyRingEditor(ring.directory)
        let before = try load()
        var rotation = before
        try step(&rotation)
        if rotation != before { try save(rotation, action, detail, editor) }
        return rotation
    }

    /// Begins the campaign `rotation`.
    func begin(_ rotation: Rotation, _ editor: borrowing KeyRingEditor) throws {
        try save(rotation, "rotate prepare", "from \(rotation.from)", editor)
    }

    private func save(
        _ rotation: Rotation, _ action: String, _ detail: String, _ lock: borrowing KeyRingEditor
    ) throws {
        try file.save(rotation)
        try ring.audit.append(action, version: rotation.to, detail: detail, at: UnixTime.system())
    }
}

/// `remint rotate prepare`.
struct RotatePrepare: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prepare", abstract: "Puts a new version into the ring and says what the vendor needs.",
        discussion: "The key is generated, or one that was imported and is prepared: name it with --version.")

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "A prepared version, instead of a new key.") var version: String?
    @Option(help: ArgumentHelp("Bits of an RSA key: 2048, 3072 or 4096.", valueName: "2048")) var rsaBits = 2048

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let rotation: Rotation
        if let open = try campaign.loadIfAny(), !open.phase.isOver {
            guard version == nil || version == open.to else {
                throw RotationError("a campaign to \(open.to) is \(open.phase.rawValue); finish or abort it first")
            }
            rotation = open
        } else {
            rotation = try begin(campaign)
        }
        try addMissing(rotation, ring)
        try tell(rotation, ring)
    }

    /// First the campaign, then the key: a crash in between leaves a campaign that knows which key it lacks.
    private func begin(_ campaign: Campaign) throws -> Rotation {
        let ring = campaign.ring
        let editor = try KeyRingEditor(ring.directory)
        guard let active = editor.listing.active else {
            throw RotationError("\(ring.ring.name) has no active version to rotate from; promote one first")
        }
        let now = UnixTime.system()
        if let version {
            let listed = try editor.listing.version(version)
            guard listed.state == .prepared else {
                throw RotationError("\(version) is \(listed.state.rawValue); a campaign needs a prepared version")
            }
        }
        let rotation = Rotation(from: active.id, to: version ?? editor.listing.freshID(at: now), at: now)
        try campaign.begin(rotation, editor)
        return rotation
    }

    private func addMissing(_ rotation: Rotation, _ ring: RingInUse) throws {
        var editor = try KeyRingEditor(ring.directory)
        guard !editor.listing.versions.contains(where: { $0.id == rotation.to }) else { return }
        let now = UnixTime.system()
        let encoding = ring.encoding(asked: try editor.listing.version(rotation.from).encoding)
        let key = try KeyGeneration.key(
            try ring.algorithm(asked: try editor.listing.version(rotation.from).algorithm), encoding: encoding,
            rsaBits: rsaBits, id: rotation.to)
        try editor.add(key, id: rotation.to, encoding: encoding, at: now)
        try ring.audit.append("generate", version: rotation.to, detail: key.algorithm.rawValue, at: now)
    }

    private func tell(_ rotation: Rotation, _ ring: RingInUse) throws {
        Terminal.print("\(ring.ring.name): from \(rotation.from) to \(rotation.to): \(rotation.phase.rawValue)")
        let loaded = try ring.directory.load(name: ring.ring.name)
        if let key = loaded.versions.first(where: { $0.id == rotation.to })?.verificationKey {
            if let pem = try key.publicKeyPEM() {
                Terminal.print("\n" + pem)
            } else {
                let file = try ring.directory.readListing().version(rotation.to).file
                Terminal.print(
                    "its secret stands in \(ring.directory.path)/\(file), as the vendor's dashboard writes it")
            }
        }
        guard let handover = ring.handover else { return }
        ring.printSteps("At \(ring.apps[0].adapter.vendor), before it may sign:", handover.beforePromotion)
        let window = DurationText.format(seconds: ring.publishWindow)
        Terminal.print("Then, in \(window) at the earliest: remint rotate promote")
    }
}

/// `remint rotate promote`.
struct RotatePromote: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Makes the new version sign.",
        discussion: "Refused before it was prepared for the app's publish_window, unless with --now.")

    @OptionGroup var ring: KeyRingOptions
    @Flag(help: "Do not wait for the publish window.") var now = false

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        var rotation = try campaign.load()
        // Whether the campaign is open is asked before anything changes.
        try rotation.promoted()
        try ring.promote(rotation.to, isForced: now)
        rotation = try campaign.change("rotate promote") { try $0.promoted() }
        Terminal.print("\(ring.ring.name): \(rotation.to) signs; \(rotation.from) still verifies")
        ring.printSteps("At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterPromotion ?? [])
        Terminal.print("Then: remint rotate reissue")
    }
}

/// `remint rotate pause`.
struct RotatePause: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Stops re-issuing; a running one ends after its batch.")

    @OptionGroup var ring: KeyRingOptions
    @Option(help: "Why, for whoever reads the status.") var reason = "an operator said so"

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).change("rotate pause", detail: reason) { try $0.pause(because: reason) }
        Terminal.print("\(ring.ring.name): paused")
    }
}

/// `remint rotate resume`.
struct RotateResume: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "resume", abstract: "Lets re-issuing go on.")

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        try Campaign(ring: ring).change("rotate resume") { $0.resume() }
        Terminal.print("\(ring.ring.name): not paused; go on with: remint rotate reissue")
    }
}

/// `remint rotate abort`.
struct RotateAbort: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "Back to the old version.",
        discussion: "What the new version signed stays good as long as the vendor has its key.")

    @OptionGroup var ring: KeyRingOptions

    func run() throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        let rotation = try campaign.load()
        var check = rotation
        try check.abort()
        var editor = try KeyRingEditor(ring.directory)
        let state = try editor.listing.version(rotation.to).state
        try editor.change { listing throws(KeyRingError) in
            // A version that never signed has no tokens to be careful of.
            state == .prepared
                ? try listing.retire(rotation.to) : try listing.promote(rotation.from, at: UnixTime.system())
        }
        _ = consume editor
        try campaign.change("rotate abort", detail: "back to \(rotation.from)") { try $0.abort() }
        Terminal.print("\(ring.ring.name): \(rotation.from) signs; \(rotation.to) does not")
        if state != .prepared {
            Terminal.print(
                "Leave \(rotation.to) at the vendor until its tokens ended: remint keys retire \(rotation.to)")
        }
    }
}

/// `remint rotate retire`.
struct RotateRetire: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retire", abstract: "Ends the use of the old version, once no token of it lives.")

    @OptionGroup var ring: KeyRingOptions
    @Flag(help: "Whatever the ledger says; named in the audit log.") var force = false
    @Option(help: "The brokers, instead of the configured ones; needed for an embedded broker.") var brokers: String?

    func run() async throws {
        let ring = try ring.load()
        let campaign = Campaign(ring: ring)
        var rotation = try campaign.load()
        try rotation.retired()
        if !force { try await ring.requireNoLiveToken(of: rotation.from, brokers: brokers) }
        var editor = try KeyRingEditor(ring.directory)
        if try editor.listing.version(rotation.from).state != .revoked {
            try editor.change { listing throws(KeyRingError) in try listing.retire(rotation.from) }
        }
        _ = consume editor
        try campaign.change("rotate retire", detail: force ? "forced" : "") { try $0.retired() }
        Terminal.print("\(ring.ring.name): \(rotation.from) is retired; the campaign is over")
        ring.printSteps(
            "At \(ring.apps.first?.adapter.vendor ?? "the vendor"):", ring.handover?.afterRetirement ?? [])
    }
}
