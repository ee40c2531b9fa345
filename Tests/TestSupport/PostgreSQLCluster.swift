// SPDX-License-Identifier: Apache-2.0
import Foundation
import Glibc

/// A PostgreSQL server of the test run's own, from Debian's packages, reached over a Unix socket.
///
/// It is started when the first test asks for it, and ends with the process of the tests, however that ends: its keeper
/// holds the other end of a pipe, and takes the server down and its files away once the pipe closes.
package final class PostgreSQLCluster: Sendable {
    /// Where the server's files and its socket are.
    package let folder: String
    /// The process that starts the server, and ends it.
    private let keeper: ChildProcess
    /// Open for as long as the server is to run; the reading end is the keeper's alone.
    private let lifeline: Int32
    /// The programs of PostgreSQL.
    private let programs: String
    private static let database = "offers"
    private static let owner = "owner"

    /// The one that all tests of the run share.
    package static func shared() throws -> PostgreSQLCluster { try started.get() }

    private static let started = Result { try PostgreSQLCluster() }

    /// Why there are no tests over PostgreSQL; `nil` where there can be.
    package static var obstacle: String? {
        newestPrograms() == nil ? "needs Debian's package postgresql" : nil
    }

    /// Makes and starts a server; `settings` are lines for its configuration file.
    package init(settings: [String] = []) throws {
        guard let programs = Self.newestPrograms() else { throw ChildProcess.Failure("PostgreSQL is not installed") }
        self.programs = programs
        folder = Self.room() + "/offer-signer-pg-\(UUID().uuidString)"
        var pipeEnds: [Int32] = [0, 0]
        guard unsafe pipe(&pipeEnds) == 0 else { throw ChildProcess.Failure("no pipe: error \(errno)") }
        for end in pipeEnds { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        lifeline = pipeEnds[1]
        defer { close(pipeEnds[0]) }
        var variables = ["PATH": "\(programs):/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8", "FOLDER": folder]
        variables["SETTINGS"] = settings.joined(separator: "\n")
        variables["OWNER"] = Self.owner
        variables["DATABASE"] = Self.database
        keeper = try ChildProcess(
            ["/bin/bash", "-c", Self.script],
            environment: variables,
            input: "/dev/fd/\(pipeEnds[0])",
            output: "/dev/null"
        )
        try waitUntilReady()
    }

    deinit {
        close(lifeline)
        for _ in 0..<1000 where keeper.ended == nil { usleep(10_000) }
    }

    /// An address of the database; `parameters` as in a URI, `a=b&c=d`.
    package func address(user: String = owner, parameters: String = "") -> String {
        let host = folder.replacing("/", with: "%2F")
        return "postgres://\(user)@\(host)/\(Self.database)" + (parameters.isEmpty ? "" : "?\(parameters)")
    }

    /// Carries out statements by way of `psql`, and returns what it prints: columns by bars, rows by lines.
    @discardableResult
    package func query(_ statements: String, schema: String = "public") throws -> String {
        let words = [programs + "/psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", address(), "-c", statements]
        return try run(words, schema: schema)
    }

    /// Makes a schema as another one is.
    func copySchema(_ source: String, to target: String) throws {
        let script = #"""
            set -o pipefail
            "$1/pg_dump" -d "$2" -n "$3" | sed "s/$3/$4/g" | "$1/psql" -Xq1 -v ON_ERROR_STOP=1 -d "$2" >/dev/null
            """#
        try run(["/bin/bash", "-c", script, "bash", programs, address(), source, target])
    }

    @discardableResult
    private func run(_ words: [String], schema: String = "public") throws -> String {
        let output = FileManager.default.temporaryDirectory.appending(path: "psql-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: output) }
        let child = try ChildProcess(
            words,
            environment: ["PATH": "/usr/bin:/bin", "PGOPTIONS": "-c search_path=\(schema) -c lock_timeout=5s"],
            output: output,
            errors: output
        )
        while child.ended == nil { usleep(1000) }
        let text = textOfFile(output)
        guard child.ended == .exited(0) else { throw ChildProcess.Failure("\(words.last ?? ""): \(text)") }
        return text.trimmingCharacters(in: .newlines)
    }

    private func waitUntilReady() throws {
        for _ in 0..<6000 {
            if FileManager.default.fileExists(atPath: folder + "/ready") { return }
            if let end = keeper.ended {
                throw ChildProcess.Failure("PostgreSQL did not start (\(end)):\n\(textOfFile(folder + ".log"))")
            }
            usleep(10_000)
        }
        throw ChildProcess.Failure("PostgreSQL does not start:\n\(textOfFile(folder + "/log"))")
    }

    /// Where the server's files have room: in memory, if there is plenty, because a test has thousands of commits.
    ///
    /// What such a server has committed survives its processes, and no test takes the machine's power away.
    private static func room() -> String {
        var memory = statvfs()
        let plenty: UInt = 2 << 30
        let isRoomy = unsafe statvfs("/dev/shm", &memory) == 0 && memory.f_bavail * memory.f_bsize > plenty
        return isRoomy ? "/dev/shm" : FileManager.default.temporaryDirectory.path
    }

    private static func newestPrograms() -> String? {
        let root = "/usr/lib/postgresql"
        let versions = (try? FileManager.default.contentsOfDirectory(atPath: root)) ?? []
        let newest = versions.compactMap { Int($0) }.max()
        return newest.map { "\(root)/\($0)/bin" }.flatMap {
            FileManager.default.isExecutableFile(atPath: $0 + "/initdb") ? $0 : nil
        }
    }

    /// Starts the server, waits for the pipe to close, and leaves nothing.
    ///
    /// PostgreSQL refuses to run as root, so root becomes `postgres`, or `nobody`. Ctrl-C reaches this script as well
    /// as the tests; it waits for their end.
    private static let script = #"""
        trap '' INT TERM HUP QUIT
        as_server=()
        mkdir -m 700 "$FOLDER" || exit 1
        if [ "$(id -u)" = 0 ]; then
            user=postgres
            id -u postgres >/dev/null 2>&1 || user=nobody
            chown "$user" "$FOLDER"
            as_server=(setpriv --reuid="$user" --regid="$(id -g "$user")" --clear-groups)
        fi
        cd "$FOLDER"
        end() { rm -rf "$FOLDER"; }
        trap end EXIT
        "${as_server[@]}" initdb -D "$FOLDER/data" -U "$OWNER" -A trust -E UTF8 --locale=C.UTF-8 --no-sync \
            >"$FOLDER.log" 2>&1 </dev/null || exit 1
        rm -f "$FOLDER.log"
        cat >>"$FOLDER/data/postgresql.conf" <<END
        listen_addresses = ''
        unix_socket_directories = '$FOLDER'
        max_connections = 200
        shared_buffers = 32MB
        jit = off
        max_wal_size = 256MB
        $SETTINGS
        END
        "${as_server[@]}" postgres -D "$FOLDER/data" >"$FOLDER/log" 2>&1 </dev/null &
        server=$!
        end() { kill -QUIT "$server"; wait "$server"; rm -rf "$FOLDER"; }
        until psql -Xq -h "$FOLDER" -U "$OWNER" -d postgres -c "CREATE DATABASE $DATABASE" </dev/null >/dev/null 2>&1; do
            kill -0 "$server" 2>/dev/null || { cp "$FOLDER/log" "$FOLDER.log"; exit 1; }
            sleep 0.05
        done
        # What tests write in SQLite's words, and the service never does.
        psql -Xq -h "$FOLDER" -U "$OWNER" -d "$DATABASE" -v ON_ERROR_STOP=1 >"$FOLDER.log" 2>&1 <<'END' || exit 1
        CREATE SCHEMA sqlite;
        CREATE DOMAIN sqlite.blob AS bytea;
        CREATE FUNCTION sqlite.zeroblob(n int) RETURNS bytea LANGUAGE sql
            RETURN decode(repeat('00', n), 'hex');
        CREATE FUNCTION sqlite.quote(anyelement) RETURNS text LANGUAGE sql AS 'SELECT quote_nullable($1)';
        CREATE FUNCTION sqlite.hex(bytes bytea) RETURNS text LANGUAGE sql RETURN upper(encode(bytes, 'hex'));
        CREATE FUNCTION sqlite.replace(bytes bytea, a text, b text) RETURNS bytea LANGUAGE sql
            RETURN convert_to(pg_catalog.replace(convert_from(bytes, 'UTF8'), a, b), 'UTF8');
        -- Whose own schema is gone would put its tables here, where every other test found them.
        CREATE FUNCTION sqlite.refuse_tables() RETURNS event_trigger LANGUAGE plpgsql AS $function$
        BEGIN
            IF EXISTS (SELECT FROM pg_event_trigger_ddl_commands() WHERE schema_name = 'sqlite') THEN
                RAISE EXCEPTION 'the schema of this test is gone';
            END IF;
        END;
        $function$;
        CREATE EVENT TRIGGER own_schemas ON ddl_command_end WHEN TAG IN ('CREATE TABLE')
            EXECUTE FUNCTION sqlite.refuse_tables();
        END
        rm -f "$FOLDER.log"
        touch "$FOLDER/ready"
        cat >/dev/null
        """#
}
