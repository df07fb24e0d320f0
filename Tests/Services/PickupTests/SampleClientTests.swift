import AdapterKit
import Formats
import Foundation
import ProgramTestSupport
import Testing

/// The samples of adapters/README.md as apps have them, before a gateway that refuses, breaks and is away.
@Suite(.timeLimit(.minutes(5))) struct SampleClientTests {
    private static func isInstalled(_ tool: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(tool)")
        }
    }

    /// The sample in `language`, with a maximum wait that its app can change.
    private static func sample(_ language: String, _ maxWait: String) throws -> String {
        let page = try String(contentsOf: Repository.root.appending(path: "adapters/README.md"), encoding: .utf8)
        let start = try #require(page.range(of: "```\(language)\n"))
        let end = try #require(page.range(of: "```", range: start.upperBound..<page.endIndex))
        let text = String(page[start.upperBound..<end.lowerBound])
        try #require(text.contains(maxWait))
        return text.replacing(maxWait, with: "= maxWait")
    }

    private static func check(_ program: Program) throws {
        #expect(program.status == 0, "\(program.errorText)")
        let found = try JSONDocument(parsing: Array(program.standardOutput)).root
        func names(_ member: String) -> [String] { (found[member]?.elements ?? []).compactMap(\.string) }
        #expect(found["status"]?.integer == 0, "\(program.errorText)")
        let users = ["away"] + (0..<10).map { "u-\($0)" }
        #expect(names("answers") == users.map { "\($0) t-\($0)" }, "\(program.errorText)")
        #expect(names("early").isEmpty, "calls before the time of Retry-After")
        #expect(found["elsewhere"]?.integer == 8, "four users sent elsewhere ask there until there is a token")
        #expect(found["sessions"]?.integer == 0, "a session in an address")
        for user in users.dropFirst() {
            #expect(found["calls"]?[user]?.integer ?? 0 >= 4, "three faults at least, then the answer")
        }
    }

    @Test(.enabled(if: isInstalled("node") && isInstalled("swiftc"), "needs Node (Debian: nodejs) and swiftc"))
    func `the sample for Swift loses no report to refusals, cuts and an outage`() async throws {
        let folder = try TemporaryFolder()
        let (source, client) = (folder.url.appending(path: "main.swift"), folder.url.appending(path: "client"))
        let text = Self.swiftApp.replacing("SAMPLE", with: try Self.sample("swift", "= 300"))
        try Data(text.utf8).write(to: source)
        let compiler = try await Program.run("swiftc", ["-swift-version", "5", "-o", client.path, source.path])
        try #require(compiler.status == 0, "\(compiler.errorText)")
        try Self.check(try await Program.run("node", [Self.gateway, client.path]))
    }

    @Test(
        .enabled(
            if: isInstalled("node") && isInstalled("java") && isInstalled("kotlinc"),
            "needs Node (Debian: nodejs), Java and kotlinc"))
    func `the sample for Kotlin loses no report to refusals, cuts and an outage`() async throws {
        let folder = try TemporaryFolder()
        let (source, client) = (folder.url.appending(path: "app.kt"), folder.url.appending(path: "app.jar"))
        let text = Self.kotlinApp.replacing("SAMPLE", with: try Self.sample("kotlin", "= 300"))
        try Data(text.utf8).write(to: source)
        let compiler = try await Program.run("kotlinc", [source.path, "-include-runtime", "-d", client.path])
        try #require(compiler.status == 0, "\(compiler.errorText)")
        try Self.check(try await Program.run("node", [Self.gateway, "java", "-jar", client.path]))
    }

    private static let gateway = Repository.root.appending(path: "Tests/Services/PickupTests/Pages/samples.mjs").path

    /// An app around the sample; what iOS has of it stands for iOS.
    private static let swiftApp = """
        import Foundation
        import FoundationNetworking

        let gateway = URL(string: ProcessInfo.processInfo.environment["GATEWAY"]!)!
        var maxWait = 60.0
        enum User { @TaskLocal static var name = "" }
        func session() async -> String { "session-\\(User.name)" }

        enum UIApplication { static let didBecomeActiveNotification = "didBecomeActive" }
        final class NotificationCenter {
            static let `default` = NotificationCenter()
            let (listening, hears) = AsyncStream.makeStream(of: Void.self)
            let (foreground, comes) = AsyncStream.makeStream(of: Void.self)
            func notifications(named name: String) -> AsyncStream<Void> {
                hears.yield()
                return foreground
            }
        }

        SAMPLE

        func report(_ name: String) async throws {
            try await User.$name.withValue(name) {
                let answer = try await answer("shop", ["code": 22, "userId": name])
                print(name, answer?.token ?? "none")
            }
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<10 { group.addTask { try await report("u-\\(number)") } }
            try await group.waitForAll()
        }
        maxWait = 1
        async let away: Void = report("away")
        for await _ in NotificationCenter.default.listening { break }
        _ = try await URLSession.shared.data(from: gateway.appendingPathComponent("up"))
        NotificationCenter.default.comes.yield()
        try await away
        """

    /// An app around the sample; what Android has of it stands for Android.
    private static let kotlinApp = """
        import java.io.IOException
        import java.io.InterruptedIOException
        import java.net.HttpURLConnection
        import java.net.URL
        import java.util.concurrent.CountDownLatch
        import java.util.concurrent.Executors
        import java.util.concurrent.LinkedBlockingQueue
        import kotlin.random.Random

        val gateway: String = System.getenv("GATEWAY")
        @Volatile var maxWait = 60
        val executor = Executors.newSingleThreadExecutor()
        val user = ThreadLocal<String>()
        fun session() = "session-" + user.get()

        class JSONException : RuntimeException()
        class JSONObject(private val text: String) {
            init { if (!text.startsWith("{") || !text.endsWith("}")) throw JSONException() }
            override fun toString() = text
            fun getString(name: String) = Regex("\\"$name\\":\\"([^\\"]*)\\"").find(text)!!.groupValues[1]
        }
        object SystemClock { fun elapsedRealtime() = System.nanoTime() / 1_000_000 }
        object Looper { fun getMainLooper() = this }
        class Handler(looper: Looper) { fun post(act: () -> Unit) = act() }
        class LifecycleOwner
        interface DefaultLifecycleObserver { fun onStart(owner: LifecycleOwner) }
        val observers = LinkedBlockingQueue<DefaultLifecycleObserver>()
        class Lifecycle {
            fun addObserver(observer: DefaultLifecycleObserver) { observers.put(observer) }
            fun removeObserver(observer: DefaultLifecycleObserver) {}
        }
        class Process { val lifecycle = Lifecycle() }
        object ProcessLifecycleOwner { fun get() = Process() }

        SAMPLE

        fun main() {
            val done = CountDownLatch(10)
            for (number in 0..9) Thread {
                user.set("u-$number")
                val found = remint("shop", JSONObject("{\\"code\\":22,\\"userId\\":\\"u-$number\\"}"))
                println("u-$number ${found?.getString("token")}")
                done.countDown()
            }.start()
            done.await()
            maxWait = 1
            val answered = CountDownLatch(1)
            executor.execute { user.set("away") }
            answer("shop", JSONObject("{\\"code\\":22,\\"userId\\":\\"away\\"}")) {
                println("away ${it.getString("token")}")
                answered.countDown()
            }
            val observer = observers.take()
            URL("$gateway/up").openStream().close()
            observer.onStart(LifecycleOwner())
            answered.await()
            executor.shutdown()
        }
        """
}
