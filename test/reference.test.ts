import { assert, beforeAll, describe, it } from "vitest"
import { declarationsOf } from "../scripts/internal/declarations.ts"
import { comments, description } from "../scripts/internal/jsdoc.ts"
import { index, type Module, modules, pageOf } from "../scripts/internal/reference.ts"
import { files, publicPackages } from "../scripts/internal/workspace.ts"

const source = `
/**
 * Settings of a queue.
 *
 * @category models
 */
export interface Options {
  /** Maximum number of items. Default: 10. */
  readonly capacity?: number | undefined
  readonly name: string
}
/**
 * A queue.
 *
 * @category services
 */
export class Queue extends Context.Service<Queue, {
  /** Adds an item. */
  readonly offer: (item: string) => Effect.Effect<void>
}>()("Queue") {}
/**
 * An item.
 *
 * @category models
 */
export const Item = Schema.Struct({
  /** The id of the item. */
  id: Schema.String
})
export interface Item extends Schema.Schema.Type<typeof Item> {}
/**
 * The queue is full.
 *
 * @category errors
 */
export class QueueFull extends TaggedError("QueueFull", () => ({
  /** Number of items. */
  size: Schema.Int
})) {}
/**
 * Makes a queue.
 *
 * @category constructors
 */
export const make: {
  (name: string): Queue
} = ((name: string) => new Queue(name)) as never
`

const declared = `
export interface Options { readonly capacity?: number | undefined; readonly name: string; }
declare const Queue_base: Context.ServiceClass<Queue, "Queue", {}>;
export declare class Queue extends Queue_base { }
export declare const Item: Schema.Struct<{
${"    readonly id: string;\n".repeat(20)}}>;
export interface Item extends Schema.Schema.Type<typeof Item> { }
declare const QueueFull_base: TaggedErrorClass<"QueueFull", {}>;
export declare class QueueFull extends QueueFull_base { }
export declare const make: {
${"  (name: string): Queue\n".repeat(20)}};
`

describe("description", () => {
  it("keeps each item of a list on a separate line", () => {
    const [comment] = comments({
      path: "a.ts",
      text: "/**\n * Rules:\n *\n * - one\n *   more\n * - two\n */\nconst a = 1"
    })
    assert.strictEqual(description(comment), "Rules:\n\n- one more\n- two")
  })
})

describe("declarationsOf", () => {
  const found = declarationsOf({ path: "a.ts", text: source }, { path: "a.d.ts", text: declared })
  const [options, queue, item, full, make] = found

  it("lists the documented members of an interface", () => {
    assert.deepStrictEqual(
      options.members.map(({ comment, name }) => `${name} ${description(comment)}`),
      ["capacity? Maximum number of items. Default: 10."]
    )
  })

  it("shows the members of a service", () => {
    assert.include(queue.code, "readonly offer: (item: string) => Effect.Effect<void>")
    assert.deepStrictEqual(
      queue.members.map(({ name }) => name),
      ["offer"]
    )
  })

  it("lists the documented fields of a schema and of an error", () => {
    assert.deepStrictEqual(
      [...item.members, ...full.members].map(({ comment, name }) => `${name} ${description(comment)}`),
      ["id The id of the item.", "size Number of items."]
    )
  })

  it("prints a schema instead of its long inferred type, and its type under the same name", () => {
    assert.strictEqual(
      item.code,
      "export const Item = Schema.Struct({\n  id: Schema.String\n})\n\nexport interface Item extends Schema.Schema.Type<typeof Item> {}"
    )
    assert.strictEqual(found.length, 5)
  })

  it("prints the long type of a function, and not its body, if the function is cast", () => {
    assert.match(make.code, /^export const make: \{\n(?: {2}\(name: string\): Queue\n){20}\}/)
    assert.notInclude(make.code, "new Queue")
  })
})

describe("the reference", () => {
  let all: ReadonlyArray<Module> = []

  beforeAll(async () => {
    all = await modules()
  }, 120_000)

  it("prints every option of every public options type with its documentation and its default", () => {
    const incomplete = all.flatMap((module) =>
      module.declarations
        .filter(({ name }) => name.endsWith("Options"))
        .flatMap(({ code, members, name }) => {
          const documented = new Map(members.map((member) => [member.name, description(member.comment)]))
          return [...code.matchAll(/^ {2}readonly (\w+\??):/gm)]
            .filter(([, option]) => {
              const text = documented.get(option)
              return text === undefined || (option.endsWith("?") && !text.includes("Default: "))
            })
            .map(([, option]) => `${module.package}/${module.name}.${name}.${option}`)
        })
    )
    assert.deepStrictEqual(incomplete, [])
  })

  it("has a page for each public module", () => {
    const paths = files(`packages/{${publicPackages.join(",")}}/src/*/*.ts`)
    assert.sameMembers(
      all.map(({ source }) => source),
      paths.map(({ path }) => path)
    )
    for (const module of all) assert.include(pageOf(module), `# ${module.name}`)
  })

  it("breaks a long signature into lines, and links the errors of an endpoint", () => {
    const messages = all.find(({ name }) => name === "Messages")!
    const send = messages.declarations.find(({ name }) => name === "send")!
    assert.isAtMost(Math.max(...send.code.split("\n").map(({ length }) => length)), 84)
    assert.include(
      pageOf(messages),
      "Errors: [`Forbidden`](ApiError.md#forbidden), [`NotFound`](ApiError.md#notfound), " +
        "[`AttachmentNotReady`](ApiError.md#attachmentnotready), [`Unauthorized`](ApiError.md#unauthorized), " +
        "[`RateLimited`](ApiError.md#ratelimited), [`RequestFailed`](ApiError.md#requestfailed)\n"
    )
    assert.notInclude(pageOf(all.find(({ name }) => name === "Keyboard")!), "Errors: ")
  })

  it("lists each module with the way in which it is imported", () => {
    const list = index(all, ({ name }) => `${name}.md`)
    const [, direct, byPath] = /## @colloquy\/core\n([\s\S]*?)Imported by path([\s\S]*?)## /.exec(list)!
    assert.include(direct, "- [Messages](Messages.md): ")
    assert.include(byPath, "- [Backoff](Backoff.md): ")
    for (const { name } of all) assert.include(list, `- [${name}](${name}.md)`)
  })
})
