import Testing
import WorkerConfiguration

@Suite("Mistakes in a configuration")
struct MistakeTests {
    static let unknownKeys: [Mistake] = [
        Mistake(
            "at the top", SampleText.with("delivry: at_least_once\n"),
            says: "10:1 unknown key delivry; did you mean delivery?"),
        Mistake(
            "far from every key", SampleText.with("unrelated-thing: 1\n"),
            says:
                "10:1 unknown key unrelated-thing; known here: kafka, delivery, topics, keys, apps, worker, log, admin, pickup, telemetry, tests"
        ),
        Mistake(
            "in kafka", SampleText.replacing("keys:", "  grup: x\nkeys:"),
            says: "3:3 unknown key kafka.grup; did you mean group?"),
        Mistake(
            "in topics", SampleText.with("topics: { token: t }\n"),
            says: "10:11 unknown key topics.token; did you mean tokens?"),
        Mistake(
            "in a key ring", SampleText.replacing("path: keys/shop", "path: keys/shop, paht: x"),
            says: "4:28 unknown key keys.shop.paht; did you mean path?"),
        Mistake(
            "in an app", SampleText.with("    adaptor: braze\n"),
            says: "10:5 unknown key apps.ios.adaptor; did you mean adapter?"),
        Mistake(
            "in settings", SampleText.with("    settings: { audiense: true }\n"),
            says: "10:17 unknown key apps.ios.settings.audiense; did you mean audience?"),
        Mistake(
            "in a look-up", SampleText.with("    lookup: { mod: off }\n"),
            says: "10:15 unknown key apps.ios.lookup.mod; did you mean mode?"),
        Mistake(
            "in worker", SampleText.with("worker:\n  max_events_bytes: 1\n"),
            says: "11:3 unknown key worker.max_events_bytes; did you mean max_event_bytes?"),
        Mistake(
            "in worker.batch", SampleText.with("worker: { batch: { event: 1 } }\n"),
            says: "10:20 unknown key worker.batch.event; did you mean events?"),
        Mistake(
            "in worker.lookups", SampleText.with("worker: { lookups: { cash: 1000 } }\n"),
            says: "10:22 unknown key worker.lookups.cash; did you mean cache?"),
        Mistake(
            "in log", SampleText.with("log: { lvl: info }\n"), says: "10:8 unknown key log.lvl; did you mean level?"),
        Mistake(
            "in admin", SampleText.with("admin: { lisen: x }\n"),
            says: "10:10 unknown key admin.lisen; did you mean listen?"),
        Mistake(
            "of another case", SampleText.with("Delivery: at_least_once\n"),
            says: "10:1 unknown key Delivery; did you mean delivery?"),
    ]

    static let wrongValues: [Mistake] = [
        Mistake(
            "a misspelt adapter", SampleText.replacing("braze", "braz"),
            says: "8:14 no adapter is called braz; did you mean braze?"),
        Mistake(
            "an adapter nobody has", SampleText.replacing("braze", "somebody"),
            says: "8:14 no adapter is called somebody; known: braze, dotdigital, bloomreach"),
        Mistake(
            "no adapter", SampleText.replacing("adapter: braze\n    ", ""), says: "7:3 apps.ios.adapter is missing"),
        Mistake(
            "a misspelt key ring", SampleText.replacing("key: shop", "key: shpo"),
            says: "9:10 keys has no key ring called shpo; did you mean shop?"),
        Mistake(
            "a key ring nobody has", SampleText.replacing("key: shop", "key: elsewhere"),
            says: "9:10 keys has no key ring called elsewhere"),
        Mistake("no key ring", SampleText.replacing("    key: shop\n", ""), says: "7:3 apps.ios.key is missing"),
        Mistake("an empty key", SampleText.replacing("key: shop", "key: ''"), says: "9:10 apps.ios.key is empty"),
        Mistake(
            "a key ring without a path", SampleText.replacing("{ path: /var/keys/push }", "{}"),
            says: "5:3 keys.push.path is missing"),
        Mistake(
            "a key ring here and behind a signer",
            SampleText.replacing("path: /var/keys/push", "path: /var/keys/push, signer: s"),
            says: "5:41 keys.push has both path and signer"),
        Mistake(
            "a signer without a name", SampleText.replacing("path: /var/keys/push", "signer: ''"),
            says: "5:19 keys.push.signer is empty"),
        Mistake(
            "a key ring that is a string", SampleText.replacing("{ path: /var/keys/push }", "keys/push"),
            says: "5:9 keys.push must be a mapping"),
        Mistake(
            "no brokers", SampleText.replacing("\n  bootstrap_servers: 127.0.0.1:9092", " { group: g }"),
            says: "1:1 kafka.bootstrap_servers is missing"),
        Mistake(
            "brokers in a list", SampleText.replacing("127.0.0.1:9092", "[a, b]"),
            says: "2:22 kafka.bootstrap_servers must be a string"),
        Mistake(
            "an app that is a list", SampleText.with("  web: [braze]\n"), says: "10:8 apps.web must be a mapping"),
        Mistake(
            "settings that are a string", SampleText.with("    settings: none\n"),
            says: "10:15 apps.ios.settings must be a mapping"),
        Mistake("worker that is a number", SampleText.with("worker: 4\n"), says: "10:9 worker must be a mapping"),
        Mistake(
            "a batch of words", SampleText.with("worker: { batch: { events: many } }\n"),
            says: "10:28 worker.batch.events must be a whole number from 1 to 100000"),
        Mistake(
            "a batch of nothing", SampleText.with("worker: { batch: { events: 0 } }\n"),
            says: "10:28 worker.batch.events must be a whole number"),
        Mistake(
            "a batch with a fraction", SampleText.with("worker: { batch: { events: 1.5 } }\n"),
            says: "10:28 worker.batch.events must be a whole number"),
        Mistake(
            "a number of 30 digits", SampleText.with("worker: { max_event_bytes: 123456789012345678901234567890 }\n"),
            says: "10:28 worker.max_event_bytes must be"),
        Mistake(
            "an unknown delivery", SampleText.with("delivery: at_most_once\n"),
            says: "10:11 delivery must be at_least_once or exactly_once; did you mean at_least_once?"),
        Mistake(
            "a share above the half", SampleText.with("worker: { bulk_share: 0.6 }\n"),
            says: "10:23 worker.bulk_share must be a number from 0.0 to 0.5"),
        Mistake(
            "a share that is none", SampleText.with("worker: { bulk_share: nan }\n"),
            says: "10:23 worker.bulk_share must be a number"),
        Mistake(
            "tiers that do not grow", SampleText.with("worker: { retries: { tiers: [1m, 10s] } }\n"),
            says: "10:34 worker.retries.tiers must grow from tier to tier"),
        Mistake(
            "no tiers", SampleText.with("worker: { retries: { tiers: [] } }\n"),
            says: "10:29 worker.retries.tiers must be a list of one to eight durations"),
        Mistake(
            "a tier below a second", SampleText.with("worker: { retries: { tiers: [10ms] } }\n"),
            says: "10:30 a tier of worker.retries.tiers must be a duration from 1s to 1d"),
        Mistake(
            "no attempts", SampleText.with("worker: { retries: { max_attempts: 0 } }\n"),
            says: "10:36 worker.retries.max_attempts must be a whole number from 1 to 100"),
        Mistake(
            "a long coalescing", SampleText.with("worker: { admission: { coalesce: 1h } }\n"),
            says: "10:34 worker.admission.coalesce must be from 1ms to 1m"),
        Mistake(
            "a small memory for look-ups", SampleText.with("worker: { lookups: { cache: 99 } }\n"),
            says: "10:29 worker.lookups.cache must be a whole number from 100 to 10000000"),
        Mistake(
            "a large memory for look-ups", SampleText.with("worker: { lookups: { cache: 10000001 } }\n"),
            says: "10:29 worker.lookups.cache must be a whole number from 100 to 10000000"),
        Mistake(
            "look-ups that are a number", SampleText.with("worker: { lookups: 1000 }\n"),
            says: "10:20 worker.lookups must be a mapping"),
        Mistake(
            "an address without a port", SampleText.with("admin: { listen: localhost }\n"),
            says: "10:18 admin.listen must be host:port"),
        Mistake(
            "a port that is none", SampleText.with("admin: { listen: \"localhost:65536\" }\n"),
            says: "10:18 admin.listen must be host:port"),
        Mistake(
            "an admin server that anybody may ask", SampleText.with("admin: { listen: \"0.0.0.0:9464\" }\n"),
            says: "10:18 admin.listen can be reached from other machines and asks for no token"),
        Mistake(
            "a certificate without its key", SampleText.with("admin: { tls: { certificate: a.pem } }\n"),
            says: "10:10 admin.tls.key is missing"),
        Mistake(
            "an unknown missing_user", SampleText.with("    missing_user: ignore\n"),
            says: "10:19 apps.ios.missing_user must be dead_letter or skip"),
        Mistake(
            "an unknown level", SampleText.with("log: { level: verbose }\n"),
            says: "10:15 log.level must be one of trace, debug, info"),
        Mistake(
            "an unknown format", SampleText.with("log: { format: jsn }\n"),
            says: "10:16 log.format must be json or text; did you mean json?"),
        Mistake(
            "a look-up in no mode there is", SampleText.with("    lookup: { mode: verfy }\n"),
            says: "10:21 apps.ios.lookup.mode must be off or verify or enrich; did you mean verify?"),
        Mistake("no apps", ConfigurationFile("kafka: { bootstrap_servers: 127.0.0.1:1 }\n"), says: "1:1 apps is empty"),
    ]

    static let settings: [Mistake] = [
        Mistake(
            "a required setting is missing", SampleText.replacing("braze", "dotdigital\n    settings: { issuer: a }"),
            says: "9:5 apps.ios.settings.audience is missing: \"Audience\" of the push profile"),
        Mistake(
            "every required setting is missing", SampleText.replacing("braze", "dotdigital"),
            says: "7:3 apps.ios.settings.issuer is missing", "7:3 apps.ios.settings.audience is missing"),
        Mistake(
            "a setting of the wrong type", SampleText.with("    settings: { audience: maybe }\n"),
            says: "10:27 apps.ios.settings.audience has the wrong type: true adds the claim"),
        Mistake(
            "a list where a string is meant", SampleText.with("    settings: { sdk_api_key: [a] }\n"),
            says: "10:30 apps.ios.settings.sdk_api_key has the wrong type: the app's SDK API key"),
        Mistake(
            "a string where a list is meant",
            SampleText.replacing("braze", "bloomreach\n    settings: { mode: stream, ids: registered }"),
            says: "9:36 apps.ios.settings.ids has the wrong type: list of the customer id names"),
        Mistake(
            "a list of the wrong things",
            SampleText.replacing("braze", "bloomreach\n    settings: { mode: stream, ids: [[a]] }"),
            says: "9:36 apps.ios.settings.ids has the wrong type"),
        Mistake(
            "a choice nobody offers", SampleText.replacing("braze", "bloomreach\n    settings: { mode: strem }"),
            says: "9:23 apps.ios.settings.mode has the wrong type: the kind of Bloomreach's token that the app uses"),
        Mistake(
            "a setting that cannot be meant",
            SampleText.replacing("braze", "dotdigital\n    settings: { issuer: '', audience: a }"),
            says: "9:25 apps.ios.settings.issuer is empty"),
        Mistake(
            "a list that cannot be meant",
            SampleText.replacing("braze", "bloomreach\n    settings: { mode: stream, ids: [] }"),
            says: "9:36 apps.ios.settings.ids is an empty list"),
    ]

    @Test(arguments: unknownKeys) func `an unknown key is refused with the key that was meant`(_ mistake: Mistake) {
        mistake.check()
    }

    @Test(arguments: wrongValues) func `a wrong value is refused with the right form`(_ mistake: Mistake) {
        mistake.check()
    }

    @Test(arguments: settings) func `settings an adapter cannot use are refused`(_ mistake: Mistake) { mistake.check() }

    @Test func `one run reports every mistake, in the order of the file's sections`() {
        let file = ConfigurationFile(
            """
            kafka: { bootstrap_server: x }
            delivery: never
            topics: { tokens: 'a b' }
            keys: { k: {} }
            apps:
              one: { adapter: brace, key: k2, lifetime: long, missing_user: maybe, lookup: { mode: no } }
              two: { adapter: braze, key: kk, lifetime: 31d, settings: { audience: perhaps, x: 1 } }
            worker: { batch: { events: -1, linger: 1 } }
            log: { level: 1, format: 2 }
            other: 1
            """)
        let errors = file.errors()
        for fragment in [
            ":1:10: error: unknown key kafka.bootstrap_server",
            ":2:11: error: delivery must", ":3:19: error: a topic's name", ":4:9: error: keys.k.path is missing",
            ":6:19: error: no adapter is called brace; did you mean braze?",
            ":6:31: error: keys has no key ring called k2",
            ":6:45: error: apps.one.lifetime must be a duration", ":6:65: error: apps.one.missing_user",
            ":6:88: error: apps.one.lookup.mode must", ":7:31: error: keys has no key ring",
            "unknown key apps.two.settings.x", "apps.two.settings.audience has the wrong type",
            ":8:28: error: worker.batch.events",
            ":8:40: error: worker.batch.linger",
            ":9:15: error: log.level", ":9:26: error: log.format", ":10:1: error: unknown key other",
        ] {
            #expect(errors.contains { $0.contains(fragment) }, "\(fragment) in \(errors.joined(separator: "\n"))")
        }
    }
}
