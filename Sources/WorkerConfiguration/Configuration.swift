public import AdapterKit

/// Everything a worker is told: `remint.yaml`, read and checked.
public struct Configuration: Sendable {
    /// Where the events come from.
    public struct Kafka: Sendable {
        /// The brokers; `embedded` for librdkafka's own mock cluster in this process.
        public var bootstrapServers = "127.0.0.1:9092"
        /// The consumer group of the live lane, and the beginning of the others' names.
        public var group = "remint"
        /// This worker's name among its group's; nil for one derived from the host's.
        public var instance: String?
        /// librdkafka properties, in the order of the file.
        public var properties: [Property] = []
        /// Whether brokers beyond this machine may be spoken to in plain text.
        public var isInsecure = false

        /// Whether the broker runs in this process.
        public var isEmbedded: Bool { bootstrapServers == "embedded" }
    }

    /// A librdkafka property. However it is printed, its value is not: it may be a password.
    public struct Property: Sendable, CustomStringConvertible, CustomDebugStringConvertible, CustomReflectable {
        /// Its name.
        public let name: String
        /// Its value, which may be a secret.
        public let value: String
        /// Where it stands.
        public let place: FileLocation

        public var description: String { "\(name) (\(place.file):\(place.line))" }
        public var debugDescription: String { description }
        public var customMirror: Mirror { Mirror(self, children: ["name": name]) }
    }

    /// What is promised of each event.
    public enum Delivery: String, Sendable, CaseIterable {
        /// Offsets are committed once everything is delivered; after a crash an event may be answered twice.
        case atLeastOnce = "at_least_once"
        /// Token and offset commit together.
        case exactlyOnce = "exactly_once"
    }

    /// The topics' names.
    public struct Topics: Sendable {
        /// Events of the live lane.
        public var invalidations = "remint.invalidations"
        /// Events of the bulk lane.
        public var invalidationsBulk = "remint.invalidations.bulk"
        /// The token topic.
        public var tokens = "remint.tokens"
        /// The dead letters.
        public var deadLetters = "remint.dead-letters"
        /// What the names of the retry tiers' topics begin with; a dot and the tier follow.
        public var retries = "remint.retries"
        /// Which apps are suspended or paused, for every worker; compacted.
        public var control = "remint.control"
    }

    /// When failed events are tried again.
    public struct Retries: Sendable {
        /// A delay as the file writes it, which is also the end of its topic's name.
        public struct Tier: Sendable, Equatable {
            /// Such as `10s`.
            public let name: String
            /// How long events wait.
            public let delay: Duration
        }

        /// The tiers, shortest first.
        public var tiers = [
            Tier(name: "10s", delay: .seconds(10)), Tier(name: "1m", delay: .seconds(60)),
            Tier(name: "10m", delay: .seconds(600)),
        ]
        /// After how many attempts there is no other, the first one included.
        public var maxAttempts = 8
        /// How long after its first failure an event may still be tried.
        public var deadline = Duration.seconds(86_400)
    }

    /// What coalescing and the loop guard go by.
    public struct Admission: Sendable {
        /// How many recent subjects are remembered; 0 turns admission off.
        public var subjects = 250_000
        /// For how long after a token reports of the same user are taken for the failure it answers.
        public var coalesce = Duration.seconds(2)
        /// How many distinct users of an app must refuse their tokens for it to be suspended.
        public var suspendAfter = 10
        /// What share they must be of the users who were given tokens meanwhile, from 0 to 1.
        public var suspendShare = 0.05
        /// The time within which they do.
        public var suspendWindow = Duration.seconds(600)
        /// How long a suspended app waits for its first probe.
        public var probeWait = Duration.seconds(60)
    }

    /// The admin server.
    public struct Admin: Sendable {
        /// The address, without brackets.
        public var host: String
        /// The port; 0 for any.
        public var port: Int
        /// Further names that requests may ask for in `Host`, besides the address and this machine's own.
        public var hosts: [String] = []
        /// The file with the token that everything but the probes asks for; nil for none.
        public var tokenFile: String?
    }

    /// One integration.
    public struct App: Sendable {
        /// Its name.
        public var name: String
        /// The vendor's rules, with the app's settings in them.
        public var adapter: any Adapter
        /// The name of its key ring.
        public var key: String
        /// Where `key` stands in the file.
        public var keyPlace: FileLocation
        /// How long its tokens live, in seconds.
        public var lifetime: Int64
        /// Whose word says whom a token is for.
        public var identity = IdentitySource.reported
        /// What a report must show for a token.
        public var proof = ProofDemand.none
        /// Topics that the app's events come from, and no other app's; empty for the shared ones.
        public var topics: [String] = []
        /// The most that a token's life is cut by, as a share of it.
        public var spread = 0.0
        /// What becomes of a report that lacks its user.
        public var missingUser: MissingUser
        /// How long a key's version must have been prepared before it may sign, in seconds: until every verifier has it.
        public var publishWindow: Int64
        /// What the vendor is asked before a token is minted; nil for nothing.
        public var lookup: Lookup?
    }

    /// A key ring.
    public struct Key: Sendable {
        /// Its name.
        public var name: String
        /// Its folder; nil for a ring that a signer holds.
        public var path: String?
        /// The socket of the signer that holds it; nil for a ring that is read from its folder.
        public var signer: String?
        /// Where `path` or `signer` stands in the file.
        public var place: FileLocation
        /// What a signer signs with it.
        public var policy = SigningPolicy()
    }

    /// What a signer signs with a ring: tokens of these terms and nothing else. Kept by `remint signer`.
    public struct SigningPolicy: Sendable, Equatable {
        /// The longest life a policy may allow, and does where it says nothing: more than a year, which is longer than any vendor
        /// takes, and short enough that a token which was got by stealth ends.
        public static let longest = Duration.seconds(400 * 86_400)

        /// The algorithms that are signed with; nil for whatever the ring's keys are for. A key signs with its own in any case.
        public var algorithms: Set<Algorithm>?
        /// How far ahead `exp` may lie, 1 s to 400 days.
        public var longestLife = longest
        /// What `iss` must be; nil where it may be anything.
        public var issuer: String?

        /// The terms where nothing is written.
        public init() {}
    }

    /// How the worker works.
    public struct Worker: Sendable {
        /// How many events of a lane are taken ahead at most, but two where it is one; half of them are worked on at once.
        public var batchEvents = 2000
        /// How long a batch waits to fill at most: never longer than a commit takes.
        public var batchLinger = Duration.milliseconds(20)
        /// The longest value that is read, in bytes.
        public var maximumEventBytes = 1 << 20
        /// How much memory events that were taken and have not ended may take before nothing more is taken, in bytes.
        public var memory = 32 << 20
        /// How long a stop may take.
        public var shutdownDeadline = Duration.seconds(25)
        /// The least part of a batch that is bulk where there is enough of it.
        public var bulkShare = 0.1
        /// When failed events are tried again.
        public var retries = Retries()
        /// What coalescing and the loop guard go by.
        public var admission = Admission()
        /// What is common to all apps' look-ups.
        public var lookups = Lookups()
    }

    /// What is logged.
    public struct Log: Sendable {
        /// How lines look.
        public enum Format: String, Sendable, CaseIterable {
            case json, text
        }
        /// The least level.
        public var level = "info"
        /// How lines look.
        public var format = Format.json

        /// Lines of `level` and above in `format`.
        public init(level: String = "info", format: Format = .json) {
            self.level = level
            self.format = format
        }

        /// swift-log's levels.
        public static let levels: [String] = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
    }

    /// The brokers.
    public var kafka = Kafka()
    /// What is promised of each event.
    public var delivery = Delivery.exactlyOnce
    /// The topics.
    public var topics = Topics()
    /// The key rings.
    public var keys: [Key] = []
    /// The integrations.
    public var apps: [App] = []
    /// How the worker works.
    public var worker = Worker()
    /// The admin server; nil for none.
    public var admin: Admin?
    /// What is logged.
    public var log = Log()

    /// The topics of the retry tiers, shortest first.
    public var retryTopics: [String] { worker.retries.tiers.map { "\(topics.retries).\($0.name)" } }
    /// The topics that belong to single apps, in the order of the file.
    public var appTopics: [String] {
        var seen: Set<String> = []
        return apps.flatMap(\.topics).filter { seen.insert($0).inserted }
    }
    /// Every topic the worker consumes.
    public var inputTopics: [String] { [topics.invalidations, topics.invalidationsBulk] + appTopics + retryTopics }
    /// Every topic the worker produces to.
    public var outputTopics: [String] { [topics.tokens, topics.deadLetters] + retryTopics }
    /// Every topic the worker needs.
    public var allTopics: [String] { [topics.invalidations, topics.invalidationsBulk] + appTopics + outputTopics }

    /// What a file that says nothing would mean: a broker on this machine, no keys, no apps.
    public init() {}
}

/// A place in a file, from 1.
public struct FileLocation: Sendable, Hashable {
    /// The file.
    public let file: String
    /// The line.
    public let line: Int
    /// The column.
    public let column: Int

    /// `column` of `line` of `file`.
    public init(file: String, line: Int, column: Int) {
        self.file = file
        self.line = line
        self.column = column
    }
}

/// Something about a configuration: where, what is wrong, what was meant. It prints as compilers print theirs.
public struct Diagnostic: Sendable, Equatable, CustomStringConvertible {
    /// How bad it is.
    public enum Severity: String, Sendable {
        /// The worker does not start.
        case error
        /// The worker starts; someone should look.
        case warning
        /// It is as it was meant, and has a consequence that one should know.
        case notice
    }

    /// Where.
    public let place: FileLocation
    /// How bad.
    public let severity: Severity
    /// What is wrong and what would be right.
    public let message: String

    /// `message` about `place`.
    public init(_ severity: Severity, at place: FileLocation, _ message: String) {
        self.place = place
        self.severity = severity
        self.message = message
    }

    public var description: String { "\(place.file):\(place.line):\(place.column): \(severity): \(message)" }
}
