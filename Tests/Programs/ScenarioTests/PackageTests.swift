import Foundation
import JOSE
import Kafka
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Tests of the installation files under `config/`, compared with the program and, if they are installed, with the
    /// tools that read the files.
    @Suite(.timeLimit(.minutes(5))) struct PackageTests {
        private static let config = Repository.root.appending(path: "config")

        private func text(_ path: String) throws -> String {
            try String(contentsOf: Self.config.appending(path: path), encoding: .utf8)
        }

        // MARK: Names

        /// The series that there are, by the metrics' own types: a histogram has three.
        private func series() async throws -> Set<String> {
            let printed = try await Command.remint(["metrics"]).outputText
            var names: Set<String> = []
            for row in printed.matches(of: #/(?m)^\| `((?:remint|process)_[a-z_]+)` \| (\w+) \|/#) {
                let endings = row.2 == "histogram" ? ["_bucket", "_sum", "_count"] : [""]
                for ending in endings { names.insert(row.1 + ending) }
            }
            try #require(names.count > 30)
            return names
        }

        private func named(in text: String) -> Set<String> {
            Set(text.matches(of: /\b(?:remint|process)_[a-z_]+/).map { String($0.0) })
        }

        @Test(arguments: [
            "prometheus/remint.rules.yaml", "prometheus/remint.test.yaml", "grafana/remint.json",
        ])
        func `every metric that is asked for is there`(_ file: String) async throws {
            let known = try await series()
            let asked = named(in: try text(file))
            #expect(asked.count > 10)
            #expect(asked.subtracting(known).isEmpty, "\(file): \(asked.subtracting(known).sorted())")
        }

        @Test func `the dashboard leaves no metric out`() async throws {
            let shown = named(in: try text("grafana/remint.json"))
            // One of a histogram's three series shows it.
            let families = try await series().map { $0.replacing(/_(bucket|sum|count)$/, with: "") }
            let left = Set(families).subtracting(shown.map { $0.replacing(/_(bucket|sum|count)$/, with: "") })
            #expect(left.isEmpty, "\(left.sorted())")
        }

        @Test(.enabled(if: Tool.isInstalled("objcopy"), "objcopy is not installed: make setup-packages"))
        func `an installed program has the files of the declared vendors`() async throws {
            let folder = try TemporaryFolder()
            let dist = folder.url.appending(path: "dist").path, built = URL(filePath: Repository.remint)
            let made = try await Program.run(
                Self.config.appending(path: "dist").path, [built.deletingLastPathComponent().path, dist])
            // The last step refuses a debug build, which is larger than a package's program may be.
            #expect(made.status == 0 || made.errorText.contains("is larger than"), "\(made.errorText)")
            // As the package's build installs them.
            let installed = folder.url.appending(path: "usr").path
            _ = try await succeeds(
                "/bin/sh",
                [
                    "-ec",
                    """
                    mkdir -p "$2/bin" "$2/share/remint"
                    mv "$1/remint" "$2/bin"
                    mv "$1"/*.resources "$2/share/remint"
                    """, "install", dist, installed,
                ])
            let codes = try await succeeds("\(installed)/bin/remint", ["codes", "ably"])
            #expect(codes.outputText.contains("TOKEN_EXPIRED"))
        }

        // MARK: Tools

        /// Python with the packages' modules: the one of `make setup-packages`.
        private static let python = Repository.root.appending(path: ".build/tools/bin/python3").path
        private static let compose = Repository.root.appending(path: ".build/tools/bin/docker-compose").path
        private static let hasCharts = PythonModules.areInstalled("helm_python, kubernetes_validate", for: python)
        private static let hasContainers =
            PythonModules.areInstalled("dockerfile", for: python)
            && FileManager.default.isExecutableFile(atPath: compose)

        private func succeeds(_ tool: String, _ arguments: [String]) async throws -> Program {
            let program = try await Program.run(tool, arguments)
            #expect(program.status == 0, "\(tool): \(program.outputText)\n\(program.errorText)")
            return program
        }

        @Test(.enabled(if: Tool.isInstalled("promtool"), "promtool is not installed: make setup-packages"))
        func `the alerts pass their tests`() async throws {
            let folder = Self.config.appending(path: "prometheus").path
            _ = try await succeeds("promtool", ["check", "rules", "\(folder)/remint.rules.yaml"])
            _ = try await succeeds("promtool", ["test", "rules", "\(folder)/remint.test.yaml"])
        }

        @Test(.enabled(if: Tool.isInstalled("promtool"), "promtool is not installed: make setup-packages"))
        func `worker and gateway write their metrics as Prometheus likes them`() async throws {
            let shop = try await Shop.open()
            let worker = try await shop.startWorker()
            let gateway = try await Gateway.start(shop)
            let answer = try await gateway.report(
                Array(#"{"errorCode":22,"userId":"ann"}"#.utf8), "braze-ios", session: try gateway.session("ann"))
            #expect(answer.status == 200, "\(answer.text)")
            let address = try await AdminAPI(of: worker).address
            for (place, name) in [(address, "remint_minted_total"), (gateway.metrics, "remint_pickup_answers_total")] {
                let scrape = try await succeeds(
                    "curl", ["-sf", "--retry", "5", "--retry-connrefused", "http://\(place)/metrics"])
                #expect(scrape.outputText.contains(name))
                let check = try await Program.run("promtool", ["check", "metrics"], input: scrape.standardOutput)
                #expect(check.status == 0, "\(check.outputText)\(check.errorText)")
                #expect(check.errorText.isEmpty && check.outputText.isEmpty, "\(check.outputText)\(check.errorText)")
            }
            await shop.close()
        }

        private static let units = ["remint", "remint-pickup", "remint-signer"]

        @Test(
            .enabled(if: Tool.isInstalled("systemd-analyze"), "systemd-analyze is not installed: make setup-packages"),
            arguments: units)
        func `a unit is understood and exposes little`(_ unit: String) async throws {
            let folder = try TemporaryFolder()
            let file = folder.url.appending(path: "\(unit).service")
            // Where the program is not installed, the one that was built stands for it.
            let written = try text("systemd/\(unit).service").replacing("/usr/bin/remint", with: Repository.remint)
            try Data(written.utf8).write(to: file)
            let verified = try await succeeds("systemd-analyze", ["verify", "--man=no", file.path])
            #expect(!verified.errorText.contains(unit), "\(verified.errorText)")
            let security = try await succeeds(
                "systemd-analyze", ["security", "--offline=true", "--no-pager", "--threshold=15", file.path])
            #expect(security.outputText.contains("Overall exposure level"))
        }

        @Test(.enabled(if: hasCharts, "Python's modules are not installed: make setup-packages"))
        func `the chart renders to what Kubernetes and remint accept`() async throws {
            let folder = try TemporaryFolder()
            let validation = try await succeeds(
                Self.python, [Self.config.appending(path: "helm/validate.py").path, folder.url.path])
            #expect(validation.outputText.contains("StatefulSet"))
            let files = try FileManager.default.contentsOfDirectory(atPath: folder.url.path)
            #expect(files.count > 4)
            for file in files {
                let check = try await Command.remint(
                    ["check", "--config", folder.url.appending(path: file).path],
                    environment: ["POD_IP": "10.1.2.3", "POD_NAME": "r-worker-main-0"])
                // Rings and secrets are not here; nothing else may be wrong.
                for line in check.errorText.split(separator: "\n") where line.contains(" error: ") {
                    #expect(line.contains("cannot be opened: No such file"), "\(file): \(line)")
                }
            }
        }

        @Test func `the containers' configuration is one`() async throws {
            let folder = try TemporaryFolder()
            let file = folder.url.appending(path: "remint.yaml")
            try Data(text("docker/remint.yaml").utf8).write(to: file)
            try FileManager.default.createDirectory(
                at: folder.url.appending(path: "keys/shop-ios"), withIntermediateDirectories: true)
            let hash = ["REMINT_PICKUP_HASH": String(repeating: "0", count: 64)]
            let made = try await Command.remint(
                ["keys", "generate", "--config", file.path, "--key", "shop-ios"], environment: hash)
            #expect(made.status == 0, "\(made.errorText)")
            let check = try await Command.remint(["check", "--config", file.path], environment: hash)
            #expect(check.status == 0, "\(check.errorText)")
        }

        @Test(.enabled(if: hasContainers, "Python's modules are not installed: make setup-packages"))
        func `Dockerfile and compose file are understood`() async throws {
            let folder = Self.config.appending(path: "docker").path
            let script = "import dockerfile; print([c.cmd for c in dockerfile.parse_file('\(folder)/Dockerfile')])"
            let parsed = try await succeeds(Self.python, ["-c", script])
            #expect(parsed.outputText.contains("ENTRYPOINT"))
            _ = try await succeeds(Self.compose, ["--file", "\(folder)/compose.yaml", "config", "--quiet"])
        }

        // MARK: What the command line says of itself

        @Test(arguments: ["bash", "zsh", "fish"]) func `a shell accepts its completions`(_ shell: String) async throws {
            let script = try await Command.remint(["--generate-completion-script", shell])
            #expect(script.status == 0 && script.outputText.contains("dead-letters"), "\(script.errorText)")
            guard Tool.isInstalled(shell) else { return }
            let folder = try TemporaryFolder()
            let file = folder.url.appending(path: "completions")
            try script.standardOutput.write(to: file)
            _ = try await succeeds(shell, ["-n", file.path])
        }

        @Test(
            .enabled(
                if: Tool.isInstalled("python3") && Tool.isInstalled("groff"),
                "python3 and groff are not installed: make setup-packages"))
        func `the manual page has every command, and no flaw`() async throws {
            let dump = try await Command.remint(["--experimental-dump-help"])
            let page = try await Program.run(
                "python3", [Self.config.appending(path: "debian/manual.py").path, "--date", "2026-01-01"],
                input: dump.standardOutput)
            #expect(page.status == 0, "\(page.errorText)")
            for command in ["run", #"dead\-letters redrive"#, "rotate promote", "ledger"] {
                #expect(page.outputText.contains(".SS \"remint \(command)\""), "\(command)")
            }
            let printed = try await Program.run("groff", ["-man", "-Tutf8", "-ww"], input: page.standardOutput)
            #expect(printed.errorText.isEmpty, "\(printed.errorText)")
        }

        @Test(.enabled(if: Tool.isInstalled("dpkg-deb"), "dpkg-deb is not installed: make setup-packages"))
        func `the scripts of the package are a shell's`() async throws {
            for script in ["postinst", "prerm", "postrm"] {
                _ = try await succeeds("sh", ["-n", Self.config.appending(path: "debian/\(script)").path])
            }
            for script in ["dist", "debian/build"] {
                _ = try await succeeds("bash", ["-n", Self.config.appending(path: script).path])
            }
        }
    }
}
