package import Logging

/// A log handler that hands lines to another one, which also keeps the details that a logger adds to each line.
package protocol ForwardingLogHandler: LogHandler {
    var base: any LogHandler { get set }
}

extension ForwardingLogHandler {
    /// The details of every line, as the other handler has them.
    package var metadata: Logger.Metadata {
        get { base.metadata }
        set { base.metadata = newValue }
    }

    /// The source of details at the time of a line, as the other handler has it.
    package var metadataProvider: Logger.MetadataProvider? {
        get { base.metadataProvider }
        set { base.metadataProvider = newValue }
    }

    /// The detail `key` of every line, as the other handler has it.
    package subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { base[metadataKey: key] }
        set { base[metadataKey: key] = newValue }
    }
}
