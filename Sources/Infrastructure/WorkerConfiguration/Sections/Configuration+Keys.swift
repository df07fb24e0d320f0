extension Configuration {
    /// Every key there is, section by section, in the order of the documentation.
    public static let sections: [SectionDescription] = [
        Kafka.section, SectionDescription("", "", keys: [deliveryKey.description]), Topics.section, Key.section,
        App.section,
        Worker.section, Admin.section, Pickup.section, Log.section, Telemetry.section, Tests.section,
    ]

    static let deliveryKey = DeclaredKey.choice(
        "delivery", standard: Configuration().delivery,
        """
        exactly_once: tokens, dead letters, retries and the offsets of what they came from commit in one Kafka transaction (brokers \
        2.5 or later). at_least_once: offsets are committed after everything was delivered; the embedded broker keeps no more.
        """)
}
