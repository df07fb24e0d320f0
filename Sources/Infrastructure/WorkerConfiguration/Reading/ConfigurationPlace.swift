/// The file of the configuration: the one that a command line names, or the first of the standard places.
package struct ConfigurationPlace: Sendable, Equatable {
    /// The environment variable that names the file.
    package static let variable = "REMINT_CONFIG"
    /// The file of an installed program.
    package static let installed = "/etc/remint/remint.yaml"

    /// The error that names every place without a configuration.
    package struct Missing: Error, Equatable, CustomStringConvertible {
        package let description =
            "no configuration: --config is missing, \(ConfigurationPlace.variable) is not set, and \(ConfigurationPlace.installed) does not exist; name the file with --config, or make one: remint init"
    }

    /// The file's path.
    package let path: String

    /// The place of the file `named`, if there is one; otherwise of the file in the environment, or of the installed one.
    ///
    /// A file that somebody names need not exist: its reader reports that with the name.
    ///
    /// - Parameters:
    ///   - environment: Returns an environment variable; nil for one that is not set.
    ///   - exists: Returns whether a file exists.
    /// - Throws: `Missing` where nobody names a file and none is installed.
    package init(
        named: String?, environment: (String) -> String?, exists: (String) -> Bool
    ) throws(Missing) {
        let variable = environment(Self.variable).flatMap { $0.isEmpty ? nil : $0 }
        if let path = named ?? variable {
            self.path = path
        } else if exists(Self.installed) {
            path = Self.installed
        } else {
            throw Missing()
        }
    }
}
