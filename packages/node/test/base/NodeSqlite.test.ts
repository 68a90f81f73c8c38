import { NodeSqlite } from "@colloquy/node"
import { assert, describe, it } from "@effect/vitest"
import * as Context from "effect/Context"
import * as Deferred from "effect/Deferred"
import * as Effect from "effect/Effect"
import * as Exit from "effect/Exit"
import * as Fiber from "effect/Fiber"
import * as Layer from "effect/Layer"
import * as Scope from "effect/Scope"
import * as Migrator from "effect/sql/Migrator"
import * as SqlClient from "effect/sql/SqlClient"
import * as Stream from "effect/Stream"
import { execFile } from "node:child_process"
import { existsSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

const temporaryFolder = Effect.acquireRelease(
  Effect.promise(() => mkdtemp(join(tmpdir(), "sqlite-"))),
  (path) => Effect.promise(() => rm(path, { recursive: true }))
)

const temporaryFile = Effect.map(temporaryFolder, (folder) => join(folder, "bot.sqlite"))

const open = (options: NodeSqlite.Options) =>
  Effect.map(Layer.build(NodeSqlite.layer(options)), Context.get(SqlClient.SqlClient))

const openLazily = (options: NodeSqlite.Options) =>
  Effect.map(Layer.build(NodeSqlite.layerLazy(options)), Context.get(SqlClient.SqlClient))

/** A client whose file contains the table `notes` with the numbers 1 to `count`. */
const notes = Effect.fnUntraced(function* (count = 0) {
  const filename = yield* temporaryFile
  const sql = yield* open({ filename })
  yield* sql`CREATE TABLE notes (id INTEGER PRIMARY KEY, text TEXT)`
  yield* sql`INSERT INTO notes (id) WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < ${count})
    SELECT i FROM n WHERE i <= ${count}`
  return { filename, sql }
})

const ids = (sql: SqlClient.SqlClient) =>
  Effect.map(sql<{ id: number }>`SELECT id FROM notes ORDER BY id`, (rows) => rows.map(({ id }) => id))

const insert = (sql: SqlClient.SqlClient, id: number) => sql`INSERT INTO notes (id) VALUES (${id})`

describe("values", () => {
  it.effect("are read as they were bound", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const bytes = new Uint8Array([0, 255, 1])
      const [row] = yield* sql`SELECT ${"слово 👋"} AS text, ${1.5} AS real, ${-7} AS whole, ${null} AS absent,
        ${true} AS yes, ${bytes} AS bytes, ${-0} AS zero`
      assert.deepStrictEqual(
        { ...row },
        { text: "слово 👋", real: 1.5, whole: -7, absent: null, yes: 1, bytes, zero: 0 }
      )
    })
  )

  it.effect("are stored as integers if they are integers", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      yield* sql`CREATE TABLE kinds (text TEXT, any)`
      yield* sql`INSERT INTO kinds VALUES (${5}, ${2 ** 40})`
      const [row] = yield* sql`SELECT text, typeof(any) AS kind, ${5} / ${2} AS half FROM kinds`
      assert.deepStrictEqual({ ...row }, { text: "5", kind: "integer", half: 2 })
    })
  )

  it.effect("are read as exact bigints beyond 2^53, and as numbers otherwise", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const edge = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, BigInt(Number.MAX_SAFE_INTEGER), 1n]
      yield* sql`CREATE TABLE edges (value INTEGER)`
      yield* Effect.forEach(edge, (value) => sql`INSERT INTO edges VALUES (${value})`)
      const select = sql<{ value: unknown }>`SELECT value FROM edges ORDER BY rowid`
      const expected = [2n ** 63n - 1n, -(2n ** 63n), 2n ** 53n, Number.MAX_SAFE_INTEGER, 1]
      assert.deepStrictEqual(
        (yield* select).map(({ value }) => value),
        expected
      )
      assert.deepStrictEqual((yield* select.values).flat(), expected)
      assert.deepStrictEqual(
        (yield* Stream.runCollect(select.stream)).map(({ value }) => value),
        expected
      )
    })
  )

  it.effect("are rejected if no column can store them", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      const tooLarge = yield* Effect.flip(sql`SELECT ${2n ** 64n} AS value`)
      const aDate = yield* Effect.flip(sql`SELECT ${new Date(0)} AS value`)
      assert.include(tooLarge.message, "too large to bind")
      assert.include(aDate.message, "type Date cannot be bound")
    })
  )
})

describe("statements", () => {
  it.effect("return rows as plain objects, arrays, or the raw result", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(2)
      const select = sql`SELECT id, text FROM notes ORDER BY id`
      assert.deepStrictEqual(yield* select.values, [
        [1, null],
        [2, null]
      ])
      const rows = [
        { id: 1, text: null },
        { id: 2, text: null }
      ]
      const selected = yield* select
      assert.deepStrictEqual(selected, rows)
      assert.strictEqual(Object.getPrototypeOf(selected[0]), Object.prototype)
      assert.deepStrictEqual(yield* Stream.runCollect(select.stream), rows)
      assert.deepInclude(yield* sql`DELETE FROM notes`.raw, { changes: 2 })
      assert.deepStrictEqual(yield* select.raw, [])
      const [inserted] = yield* sql`INSERT INTO notes ${sql.insert({ id: 7, text: "x" })} RETURNING id`
      assert.strictEqual(inserted!["id"], 7)
    })
  )

  it.effect("see changes of a table after they were prepared", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1)
      const select = sql`SELECT * FROM notes`
      yield* select
      yield* sql`ALTER TABLE notes ADD COLUMN author TEXT DEFAULT 'me'`
      assert.deepStrictEqual(yield* select, [{ id: 1, text: null, author: "me" }])
      yield* sql`ALTER TABLE notes RENAME COLUMN author TO writer`
      assert.deepStrictEqual(yield* select, [{ id: 1, text: null, writer: "me" }])
    })
  )

  it.effect("are prepared again if the cache is too small", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:", cachedStatements: 2 })
      for (let round = 0; round < 2; round++) {
        for (let number = 0; number < 5; number++) {
          const [row] = yield* sql.unsafe<{ value: number }>(`SELECT ${number} AS value`)
          assert.strictEqual(row!.value, number)
        }
      }
    })
  )

  it.effect("are rejected if a text contains more than one", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes()
      const refused = yield* Effect.flip(sql`INSERT INTO notes (id) VALUES (1); INSERT INTO notes (id) VALUES (2)`)
      assert.strictEqual(refused.reason._tag, "SqlSyntaxError")
      assert.include(refused.message, "contains more than one statement")
      assert.deepStrictEqual(yield* ids(sql), [])
      yield* sql`INSERT INTO notes (id) VALUES (1); -- the last one
        /* and nothing else */ ;`
      assert.deepStrictEqual(yield* ids(sql), [1])
    })
  )
})

describe("errors", () => {
  it.effect("distinguish invalid SQL, a duplicate key and a violated constraint", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1)
      yield* sql`CREATE TABLE replies (note INTEGER REFERENCES notes (id), name TEXT UNIQUE CHECK (name <> ''))`
      const reason = (statement: string) => Effect.map(Effect.flip(sql.unsafe(statement)), (error) => error.reason)
      assert.strictEqual((yield* reason("SELEC 1"))._tag, "SqlSyntaxError")
      assert.strictEqual((yield* reason("SELECT * FROM nowhere"))._tag, "SqlSyntaxError")
      assert.deepInclude(yield* reason("INSERT INTO notes (id) VALUES (1)"), {
        _tag: "UniqueViolation",
        constraint: "notes.id"
      })
      yield* sql`INSERT INTO replies VALUES (1, 'a')`
      assert.deepInclude(yield* reason("INSERT INTO replies VALUES (1, 'a')"), {
        _tag: "UniqueViolation",
        constraint: "replies.name"
      })
      assert.strictEqual((yield* reason("INSERT INTO replies VALUES (1, '')"))._tag, "ConstraintError")
      assert.strictEqual((yield* reason("INSERT INTO replies VALUES (2, 'b')"))._tag, "ConstraintError")
    })
  )

  it.effect("name a file that cannot be opened, and say what to check", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const error = yield* Effect.flip(open({ filename: folder }))
      assert.strictEqual(error.reason._tag, "UnknownError")
      assert.isFalse(error.isRetryable)
      assert.include(error.message, `${folder} is a folder. Pass the path of a file in it`)
    })
  )

  it.effect("say that a file is not a database", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      yield* Effect.promise(() => writeFile(filename, "not a database, but a long enough text ".repeat(100)))
      const error = yield* Effect.flip(open({ filename }))
      assert.include(error.message, `${filename} is corrupt, or not a SQLite file`)
    })
  )
})

describe("the file", () => {
  it.effect("is created with its folder when the layer is built, or by the first statement if lazy", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const filename = join(folder, "a", "b", "bot.sqlite")
      const sql = yield* openLazily({ filename })
      assert.isFalse(existsSync(join(folder, "a")))
      yield* sql`CREATE TABLE notes (id INTEGER)`
      assert.isTrue(existsSync(filename))
      const eager = join(folder, "eager.sqlite")
      yield* open({ filename: eager })
      assert.isTrue(existsSync(eager))
    })
  )

  it.effect("is opened again by the next statement if it could not be opened lazily", () =>
    Effect.gen(function* () {
      const folder = yield* temporaryFolder
      const blocked = join(folder, "data")
      yield* Effect.promise(() => writeFile(blocked, ""))
      const sql = yield* openLazily({ filename: join(blocked, "bot.sqlite") })
      const error = yield* Effect.flip(sql`SELECT 1`)
      assert.isFalse(error.isRetryable)
      assert.include(error.message, `The file ${join(blocked, "bot.sqlite")} cannot be created: `)
      yield* Effect.promise(() => rm(blocked))
      assert.deepStrictEqual(yield* sql`SELECT 1`.values, [[1]])
    })
  )

  it.effect("is in WAL mode, durable at each commit, and enforces foreign keys by default", () =>
    Effect.gen(function* () {
      const pragmas = (sql: SqlClient.SqlClient) =>
        Effect.forEach(["journal_mode", "synchronous", "foreign_keys"], (name) =>
          Effect.map(sql.unsafe(`PRAGMA ${name}`).values, (rows) => rows[0]![0])
        )
      const filename = yield* temporaryFile
      assert.deepStrictEqual(yield* Effect.flatMap(open({ filename }), pragmas), ["wal", 2, 1])
      const lax = yield* open({ filename, synchronous: "NORMAL", foreignKeys: false })
      assert.deepStrictEqual(yield* pragmas(lax), ["wal", 1, 0])
    })
  )

  it.effect("is closed with the layer, after which statements fail with that reason", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const scope = yield* Scope.make()
      const sql = yield* Scope.provide(open({ filename }), scope)
      yield* sql`CREATE TABLE notes (id INTEGER)`
      assert.isTrue(existsSync(`${filename}-wal`))
      yield* Scope.close(scope, Exit.void)
      assert.isFalse(existsSync(`${filename}-wal`))
      for (const use of [sql`SELECT 1`, Stream.runDrain(sql`SELECT 1`.stream), sql.withTransaction(Effect.void)]) {
        assert.include((yield* Effect.flip(use)).message, "the layer that opened it was closed")
      }
      assert.isFalse(existsSync(`${filename}-wal`))
    })
  )
})

describe("transactions", () => {
  it.effect("are rolled back by a failure, a defect or an interruption", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes()
      const endings = [Effect.fail("no"), Effect.die("no"), Effect.interrupt]
      for (const ending of endings) {
        const exit = yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(sql, 1), ending)))
        assert.isTrue(Exit.isFailure(exit))
        assert.deepStrictEqual(yield* ids(sql), [])
      }
      yield* sql.withTransaction(insert(sql, 1))
      assert.deepStrictEqual(yield* ids(sql), [1])
    })
  )

  it.effect("roll back only the inner part if a nested one fails", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes()
      yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(sql, 1)
          yield* Effect.exit(sql.withTransaction(Effect.andThen(insert(sql, 2), Effect.fail("no"))))
          yield* sql.withTransaction(insert(sql, 3))
        })
      )
      assert.deepStrictEqual(yield* ids(sql), [1, 3])
    })
  )

  it.effect("end if the commit fails, and the next one succeeds", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1)
      yield* sql`CREATE TABLE replies (note INTEGER REFERENCES notes (id) DEFERRABLE INITIALLY DEFERRED)`
      const exit = yield* Effect.exit(sql.withTransaction(sql`INSERT INTO replies VALUES (9)`))
      assert.isTrue(Exit.isFailure(exit))
      yield* sql.withTransaction(sql`INSERT INTO replies VALUES (1)`)
      assert.deepStrictEqual(yield* sql`SELECT note FROM replies`.values, [[1]])
    })
  )

  it.effect("exclude the statements of other fibers", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes()
      const inside = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      const transaction = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* insert(sql, 1)
            yield* Deferred.succeed(inside, undefined)
            yield* Deferred.await(finish)
            return yield* Effect.fail("undone")
          })
        )
      )
      yield* Deferred.await(inside)
      const other = yield* Effect.forkChild(insert(sql, 2))
      yield* Effect.yieldNow
      assert.isUndefined(other.pollUnsafe())
      yield* Deferred.succeed(finish, undefined)
      yield* Fiber.await(transaction)
      yield* Fiber.join(other)
      assert.deepStrictEqual(yield* ids(sql), [2])
    })
  )

  it.effect("lose no update of a hundred concurrent fibers", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes()
      const next = sql.withTransaction(
        Effect.gen(function* () {
          const known = yield* ids(sql)
          yield* Effect.yieldNow
          yield* insert(sql, known.length + 1)
        })
      )
      yield* Effect.all(
        Array.from({ length: 100 }, () => next),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(
        yield* ids(sql),
        Array.from({ length: 100 }, (_, index) => index + 1)
      )
    })
  )
})

describe("streams", () => {
  it.effect("emit every row, and allow other statements meanwhile", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1000)
      const seen = yield* sql<{ id: number }>`SELECT id FROM notes ORDER BY id`.stream.pipe(
        Stream.mapEffect(({ id }) => Effect.as(sql`UPDATE notes SET text = 'seen' WHERE id = ${id}`, id)),
        Stream.runCollect
      )
      assert.deepStrictEqual(
        seen,
        Array.from({ length: 1000 }, (_, index) => index + 1)
      )
      assert.deepStrictEqual(yield* sql`SELECT count(*) FROM notes WHERE text = 'seen'`.values, [[1000]])
    })
  )

  it.effect("see the writes of their transaction, and can be ended early", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1000)
      const first = yield* sql.withTransaction(
        Effect.gen(function* () {
          yield* insert(sql, -1)
          const select = sql<{ id: number }>`SELECT id FROM notes ORDER BY id`
          const early = yield* Stream.runCollect(Stream.take(select.stream, 1))
          assert.strictEqual((yield* select).length, 1001)
          return early
        })
      )
      assert.deepStrictEqual(
        first.map(({ id }) => id),
        [-1]
      )
    })
  )

  it.effect("share the only connection of a database in memory", () =>
    Effect.gen(function* () {
      const sql = yield* open({ filename: ":memory:" })
      yield* sql`CREATE TABLE notes (id INTEGER)`
      yield* insert(sql, 5)
      const rows = yield* Stream.runCollect(sql<{ id: number }>`SELECT id FROM notes`.stream)
      assert.deepStrictEqual(
        rows.map(({ id }) => id),
        [5]
      )
    })
  )

  it.effect("fail with the error of their statement", () =>
    Effect.gen(function* () {
      const { sql } = yield* notes(1)
      const error = yield* Effect.flip(Stream.runDrain(sql`SELECT * FROM nowhere`.stream))
      assert.strictEqual(error.reason._tag, "SqlSyntaxError")
    })
  )
})

describe("two connections", () => {
  it.effect("wait for each other without blocking the event loop", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* notes()
      const other = yield* open({ filename })
      const reader = yield* open({ filename })
      const inside = yield* Deferred.make<void>()
      const finish = yield* Deferred.make<void>()
      const holder = yield* Effect.forkChild(
        sql.withTransaction(
          Effect.gen(function* () {
            yield* insert(sql, 1)
            yield* Deferred.succeed(inside, undefined)
            yield* Deferred.await(finish)
          })
        )
      )
      yield* Deferred.await(inside)
      const waiting = yield* Effect.forkChild(insert(other, 2))
      assert.deepStrictEqual(yield* ids(reader), [])
      assert.isUndefined(waiting.pollUnsafe())
      yield* Deferred.succeed(finish, undefined)
      yield* Fiber.join(holder)
      yield* Fiber.join(waiting)
      assert.deepStrictEqual(yield* ids(other), [1, 2])
    })
  )

  it.effect("fail with that reason after busyTimeout", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* notes()
      const other = yield* open({ filename, busyTimeout: "20 millis" })
      const error = yield* sql.withTransaction(Effect.flip(insert(other, 1)))
      assert.strictEqual(error.reason._tag, "LockTimeoutError")
      assert.isTrue(error.isRetryable)
      assert.include(error.message, "busyTimeout")
      yield* insert(other, 1)
    })
  )

  it.effect("of two processes lose no writes", () =>
    Effect.gen(function* () {
      const { filename, sql } = yield* notes()
      yield* sql`CREATE TABLE total (value INTEGER)`
      yield* sql`CREATE TABLE rows_of (name TEXT, number INTEGER)`
      yield* sql`INSERT INTO total VALUES (0)`
      const writer = fileURLToPath(new URL("../support/sqliteWriter.ts", import.meta.url))
      const run = (name: string) =>
        Effect.promise(() =>
          promisify(execFile)(process.execPath, ["--conditions=source", writer, filename, name, "150"])
        )
      yield* Effect.all([run("a"), run("b")], { concurrency: 2 })
      assert.deepStrictEqual(yield* sql`SELECT value FROM total`.values, [[300]])
      assert.deepStrictEqual(yield* sql`SELECT name, count(*) FROM rows_of GROUP BY name ORDER BY name`.values, [
        ["a", 150],
        ["b", 150]
      ])
    })
  )
})

describe("migrations", () => {
  const migrate = Migrator.make({})({
    table: "notes_migrations",
    loader: Migrator.fromRecord({
      "1_notes": Effect.flatMap(SqlClient.SqlClient, (sql) => sql`CREATE TABLE notes (id INTEGER)`),
      "2_author": Effect.flatMap(SqlClient.SqlClient, (sql) => sql`ALTER TABLE notes ADD COLUMN author TEXT`)
    })
  })

  it.effect("run once if several connections start them concurrently", () =>
    Effect.gen(function* () {
      const filename = yield* temporaryFile
      const clients = yield* Effect.all(Array.from({ length: 4 }, () => open({ filename })))
      const completed = yield* Effect.forEach(
        clients,
        (sql) => Effect.provideService(migrate, SqlClient.SqlClient, sql),
        { concurrency: "unbounded" }
      )
      assert.deepStrictEqual(completed.flat(), [
        [1, "notes"],
        [2, "author"]
      ])
      yield* clients[3]!`INSERT INTO notes (id, author) VALUES (1, 'me')`
    })
  )
})
