import AsyncTestSupport
import Foundation
import JOSE
import ProgramTestSupport
import Testing

extension Scenarios {
    /// Tests of the scripts under `config/release`, which make the files of a release.
    @Suite(.timeLimit(.minutes(5))) struct ReleaseTests {
        private static let release = Repository.root.appending(path: "config/release")
        private static let python = Repository.root.appending(path: ".build/tools/bin/python3").path
        private static let hasSchemas = PythonModules.areInstalled("cyclonedx.validation.json, jsonschema", for: python)
        private static let hasYAML = PythonModules.areInstalled("yaml", for: python)
        /// A time of a release.
        private static let epoch = "1800000000"

        /// Whether all of these tools are installed; a test that needs one is skipped otherwise.
        private static func has(_ tools: String...) -> Bool { tools.allSatisfy(Tool.isInstalled) }

        private func script(_ name: String) -> String { Self.release.appending(path: name).path }

        @discardableResult
        private func succeeds(
            _ tool: String, _ arguments: [String], environment: [String: String] = [:]
        ) async throws -> Program {
            let program = try await Program.run(tool, arguments, environment: environment)
            try #require(program.status == 0, "\(tool): \(program.outputText)\n\(program.errorText)")
            return program
        }

        // MARK: The version

        @Test func `the program prints its version and build as JSON`() async throws {
            let lines = try await Command.remint(["--version"]).outputText.split(separator: "\n")
            try #require(lines.count == 2)
            for arguments in [["--version", "--json"], ["--json", "--version"]] {
                let printed = try await Command.remint(arguments).standardOutput
                let build = try JSONDocument(parsing: Array(printed)).root
                #expect(build["version"]?.string == String(lines[0]))
                for name in ["kind", "commit", "swift", "librdkafka", "openssl"] {
                    let value = try #require(build[name]?.string, "\(name) is missing")
                    #expect(lines[1].contains(value), "\(name): \(value)")
                }
            }
        }

        @Test(.enabled(if: has("python3"), "python3 is not installed: make setup-packages"))
        func `chart and package have the program's version`() async throws {
            let version = try await Command.remint(["--version"]).outputText.split(separator: "\n")[0]
            let checked = try await succeeds(script("version"), ["--check"])
            #expect(checked.outputText == "\(version)\n")
        }

        // MARK: The bill of materials

        /// The bill of materials of the program that the tests run.
        private func bill(in folder: URL) async throws -> URL {
            let dist = folder.appending(path: "dist")
            try FileManager.default.createDirectory(at: dist, withIntermediateDirectories: true)
            try FileManager.default.copyItem(
                at: URL(filePath: Repository.remint).resolvingSymlinksInPath(), to: dist.appending(path: "remint"))
            try await succeeds(Repository.remint, ["--version", "--json"]).standardOutput
                .write(to: dist.appending(path: "build.json"))
            let out = folder.appending(path: "remint.cdx.json")
            try await succeeds(
                script("sbom.py"),
                [
                    "--dist", dist.path, "--build", Repository.root.appending(path: ".build").path, "--out", out.path,
                    "--epoch", Self.epoch, "--commit", "abcdef0",
                ])
            return out
        }

        @Test(
            .enabled(
                if: has("python3", "ldd", "dpkg-query", "swift"), "dpkg-dev is not installed: make setup-packages"),
            .enabled(if: Scale.isLong, "lists the packages of every library; make packages"))
        func `the bill of materials names every linked library and every package of the manifest`() async throws {
            let folder = try TemporaryFolder()
            let file = try await bill(in: folder.url)
            let components = try JSONDocument(parsing: Array(Data(contentsOf: file))).root["components"]?.elements ?? []
            var libraries: Set<String> = [], versions: Set<String> = []
            for component in components {
                let name = component["name"]?.string ?? "", version = component["version"]?.string ?? ""
                #expect(!name.isEmpty && !version.isEmpty)
                versions.insert("\(name) \(version)")
                for property in component["properties"]?.elements ?? []
                where property["name"]?.string == "remint:library" {
                    libraries.insert(property["value"]?.string ?? "")
                }
            }
            // The loader lists a library as "NAME => PATH (ADDRESS)", and itself as "PATH (ADDRESS)".
            let loaded = try await succeeds("ldd", [Repository.remint]).outputText
            let names = loaded.matches(of: #/(?m)^\s+(?:(\S+) => |\S*/(ld-\S+) )/#).compactMap { $0.1 ?? $0.2 }
            #expect(names.count > 6)
            #expect(Set(names.map(String.init)).subtracting(libraries).sorted() == [])
            let manifest = Repository.root.appending(path: "config/Package.resolved")
            let pins = try JSONDocument(parsing: Array(Data(contentsOf: manifest))).root["pins"]?.elements ?? []
            #expect(pins.count > 15)
            for pin in pins {
                let name = try #require(pin["identity"]?.string)
                let state = try #require(pin["state"])
                let version = state["version"]?.string ?? state["revision"]?.string ?? ""
                #expect(versions.contains("\(name) \(version)"), "\(name) \(version)")
            }
        }

        @Test(.enabled(if: hasSchemas, "Python's modules are not installed: make setup-packages"))
        func `the bill of materials is valid CycloneDX`() async throws {
            let folder = try TemporaryFolder()
            let file = try await bill(in: folder.url)
            let check = """
                import sys
                from cyclonedx.schema import SchemaVersion
                from cyclonedx.validation.json import JsonStrictValidator
                sys.exit(JsonStrictValidator(SchemaVersion.V1_6).validate_str(open(sys.argv[1]).read()) and 1 or 0)
                """
            try await succeeds(Self.python, ["-c", check, file.path])
        }

        // MARK: The signature

        @Test(.enabled(if: has("openssl", "sha256sum"), "openssl is not installed: make setup-tests"))
        func `a signed release is verified with openssl, and a changed one is refused`() async throws {
            let folder = try TemporaryFolder()
            let key = folder.url.appending(path: "release.pem").path
            let out = folder.url.appending(path: "out")
            try FileManager.default.createDirectory(at: out, withIntermediateDirectories: true)
            try Data("one".utf8).write(to: out.appending(path: "remint.tar.gz"))
            try await succeeds("openssl", ["genpkey", "-algorithm", "ed25519", "-out", key])
            try await succeeds("chmod", ["644", key])
            let open = try await Program.run(script("sign"), [out.path], environment: ["REMINT_SIGNING_KEY": key])
            #expect(open.status == 1 && open.errorText.contains("chmod 600"), "\(open.errorText)")
            try await succeeds("chmod", ["600", key])
            try await succeeds(script("sign"), [out.path], environment: ["REMINT_SIGNING_KEY": key])
            let sums = out.appending(path: "SHA256SUMS")
            let verification = [
                "pkeyutl", "-verify", "-rawin", "-pubin", "-inkey", out.appending(path: "remint-release.pub").path,
                "-sigfile", out.appending(path: "SHA256SUMS.sig").path, "-in", sums.path,
            ]
            try await succeeds("openssl", verification)
            #expect(try String(contentsOf: sums, encoding: .utf8).hasSuffix("  remint.tar.gz\n"))
            try Data("two".utf8).write(to: sums)
            #expect(try await Program.run("openssl", verification).status != 0)
        }

        // MARK: The archives

        @Test(.enabled(if: hasYAML, "Python's modules are not installed: make setup-packages"))
        func `the chart's archives are equal each time and contain what the templates read`() async throws {
            let version = try await succeeds(script("version"), []).outputText.split(separator: "\n")[0]
            var archives: [[Data]] = []
            for _ in 0..<2 {
                let folder = try TemporaryFolder()
                try await succeeds(
                    Self.python,
                    [script("chart.py"), "--version", "\(version)", "--epoch", Self.epoch, "--out", folder.url.path])
                let names = ["remint-\(version).tgz", "remint-chart-\(version).oci.tar"]
                let listed = try await succeeds("tar", ["tzf", folder.url.appending(path: names[0]).path]).outputText
                for file in ["Chart.yaml", "files/health.sh", "files/remint.rules.yaml"] {
                    #expect(listed.contains("remint/\(file)\n"), "\(file) is missing")
                }
                #expect(!listed.contains(".py"))
                archives.append(try names.map { try Data(contentsOf: folder.url.appending(path: $0)) })
            }
            #expect(archives[0] == archives[1])
        }

        /// A package of a small program that is linked with the libraries of a real one.
        private static let package = #"""
            set -eu
            cd "$1"
            mkdir -p deb/DEBIAN deb/usr/bin deb/usr/share/remint
            cp "$(command -v openssl)" deb/usr/bin/remint
            printf 'Package: remint\nVersion: 1.2.3\nArchitecture: %s\nMaintainer: t <t@localhost>\nDescription: t\n' \
                "$(dpkg --print-architecture)" >deb/DEBIAN/control
            dpkg-deb --root-owner-group --build deb remint.deb >/dev/null
            apt-get download -qq --print-uris libc6 ca-certificates base-files bash coreutils libc-bin openssl
            """#

        @Test(
            .enabled(
                if: has("dpkg-deb", "apt-get", "openssl", "python3"), "dpkg-dev is not installed: make setup-packages"),
            .enabled(if: Scale.isLong, "downloads packages; make packages"))
        func `an image built twice is equal, and has no root user and the chart's programs alone`() async throws {
            let folder = try TemporaryFolder()
            let prepared = try await Program.run("sh", ["-c", Self.package, "sh", folder.url.path])
            // Without apt's lists, which make setup-packages fetches, there is no package to make an image from.
            guard prepared.status == 0 else { return }
            for name in ["one", "two"] {
                let made = try await succeeds(
                    script("image.py"),
                    [
                        "--deb", folder.url.appending(path: "remint.deb").path, "--revision", "abcdef0",
                        "--out", folder.url.appending(path: name).path, "--epoch", Self.epoch,
                        "--packages", folder.url.appending(path: "packages").path,
                    ])
                #expect(made.outputText.contains(#""digest": "sha256:"#))
            }
            let one = try Data(contentsOf: folder.url.appending(path: "one"))
            #expect(try one == Data(contentsOf: folder.url.appending(path: "two")))
            #expect(one.count < 40_000_000)
            let listing = """
                import io, json, sys, tarfile
                sys.path.insert(0, sys.argv[1])
                import oci
                layout = oci.read(sys.argv[2])
                manifest = json.loads(layout.blobs[layout.manifests[0]["digest"]])
                print("user", json.loads(layout.blobs[manifest["config"]["digest"]])["config"]["User"])
                for layer in manifest["layers"]:
                    for member in tarfile.open(fileobj=io.BytesIO(layout.blobs[layer["digest"]])):
                        print(oct(member.mode), member.name)
                """
            let listed = try await succeeds(
                "python3", ["-c", listing, Self.release.path, folder.url.appending(path: "one").path]
            ).outputText
            #expect(listed.contains("user 65532:65532\n"))
            #expect(listed.contains("0o755 usr/bin/remint\n") && listed.contains("libcrypto.so"))
            // The program and those that the chart's pods run, and no file that runs with its owner's rights.
            let programs = listed.matches(of: #/(?m)usr/s?bin/(\S+)$/#).map { String($0.1) }.sorted()
            let expected = "base64 bash cat cut getent head openssl remint sleep sort test timeout"
            #expect(programs.joined(separator: " ") == expected)
            #expect(listed.firstMatch(of: #/(?m)^0o[4-7]\d{3} /#) == nil)
        }

        @Test func `the scripts are a shell's or Python's, and are short`() async throws {
            let files = try FileManager.default.contentsOfDirectory(
                at: Self.release, includingPropertiesForKeys: nil)
            for file in files where !file.lastPathComponent.hasPrefix("__") {
                let text = try String(contentsOf: file, encoding: .utf8)
                #expect(text.split(separator: "\n", omittingEmptySubsequences: false).count <= 300, "\(file.path)")
                if text.hasPrefix("#!/usr/bin/env bash\n") {
                    try await succeeds("bash", ["-n", file.path])
                } else {
                    let compile = "import sys; compile(open(sys.argv[1]).read(), sys.argv[1], 'exec')"
                    try await succeeds("python3", ["-c", compile, file.path])
                }
            }
            #expect(files.count > 6)
        }
    }
}
