import Keyring

/// A command that prints further commands, which need some of its options.
protocol AdvisingCommand {
    /// The options that the printed commands need.
    var invocation: RemintCommand.Invocation { get }
}

/// A command about one key ring.
protocol KeyRingCommand: AdvisingCommand {
    /// The options that select the key ring.
    var ring: KeyRingOptions { get }
    /// The brokers that the operator named instead of the configured ones.
    var brokers: String? { get }
}

extension KeyRingCommand {
    var brokers: String? { nil }
    var invocation: RemintCommand.Invocation {
        RemintCommand.Invocation(config: ring.options.config, ring: ring.key, brokers: brokers)
    }
}

/// A command about everything in a configuration.
protocol ConfigurationCommand: AdvisingCommand {
    /// The options that name the configuration.
    var options: ConfigurationOptions { get }
    /// The brokers that the operator named instead of the configured ones.
    var brokers: String? { get }
}

extension ConfigurationCommand {
    var brokers: String? { nil }
    var invocation: RemintCommand.Invocation {
        RemintCommand.Invocation(config: options.config, brokers: brokers)
    }
}
