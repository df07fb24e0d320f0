extension Configuration {
    /// Every key there is, section by section, in the order of the documentation.
    package static let sections: [SectionDescription] = [
        Kafka.section, SectionDescription("", "", keys: [deliveryKey.description]), Topics.section, Key.section,
        App.section,
        Worker.section, Admin.section, Pickup.section, Log.section, Telemetry.section, Tests.section,
    ]

    static let deliveryKey = FileKey.choice(
        "delivery", standard: Configuration().delivery,
        """
        Delivery guarantee. exactly_once: the worker commits tokens, dead letters, retries and the offsets of their \
        events in one Kafka transaction (brokers 2.5 or later). at_least_once: the worker commits the offsets after \
        the delivery of all outputs, so a crash may give an event a second token. The embedded broker supports only \
        at_least_once; this is then the default.
        """)
}
