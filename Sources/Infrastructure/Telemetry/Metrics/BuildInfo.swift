import Formats

/// The versions of a program and of the libraries that it runs with.
public struct BuildInfo: Sendable, Equatable, CustomStringConvertible {
    public var version: String
    /// `release` or `debug`.
    public var kind: String
    /// The commit that the program was built from; `unknown` if the build did not name it.
    public var commit: String
    public var swift: String
    public var librdkafka: String
    public var openssl: String

    /// A build whose versions are `unknown` where they are left out.
    public init(
        version: String = "unknown", kind: String = "unknown", commit: String = "unknown",
        swift: String = "unknown", librdkafka: String = "unknown", openssl: String = "unknown"
    ) {
        self.version = version
        self.kind = kind
        self.commit = commit
        self.swift = swift
        self.librdkafka = librdkafka
        self.openssl = openssl
    }

    public var description: String {
        "\(kind), commit \(commit), Swift \(swift), librdkafka \(librdkafka), OpenSSL \(openssl)"
    }

    public var json: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.member("version", version)
        writer.member("kind", kind)
        writer.member("commit", commit)
        writer.member("swift", swift)
        writer.member("librdkafka", librdkafka)
        writer.member("openssl", openssl)
        writer.endObject()
        return String(decoding: writer.bytes, as: UTF8.self)
    }

    /// Adds the metric of this build to `registry`. Its value is always 1; the versions are its labels.
    public func expose(in registry: MetricsRegistry) {
        let family = registry.gauge(
            "remint_build_info", "Always 1; the labels are the versions of the program and of its libraries.",
            labels: ["version", "commit", "swift", "librdkafka", "openssl"])
        family.set(1, version, commit, swift, librdkafka, openssl)
    }
}
