extension Configuration {
    /// The log's level and format.
    public struct Log: Sendable, WithDefaults {
        /// The format of log lines.
        public enum Format: String, Sendable, CaseIterable {
            case json, text
        }
        /// The least level.
        public var level = "info"
        /// The format of log lines.
        public var format = Format.json

        /// Every default.
        public init() {}

        /// Lines of `level` and above in `format`.
        public init(level: String, format: Format = .json) {
            self.level = level
            self.format = format
        }

        /// swift-log's levels.
        public static let levels: [String] = ["trace", "debug", "info", "notice", "warning", "error", "critical"]
    }
}

extension Configuration.Log {
    static let section = SectionDescription("log", "", keys: settings.map(\.description))

    static let level: Setting<Self> = .word(
        "level", \.level, of: levels, change: .reloads, "Minimum level of the logged lines.")

    static let format: Setting<Self> = .choice("format", \.format, "Format of the log lines on standard error.")

    static let settings = [level, format]
}
