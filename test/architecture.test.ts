import { posix } from "node:path"
import { assert, describe, it } from "vitest"
import { type File, files, publicPackages } from "../scripts/internal/workspace.ts"

/** The folders of each package, from the bottom. A file imports only from its own folder and from folders below. */
const orders: Readonly<Record<string, ReadonlyArray<string>>> = {
  core: ["base", "model", "client", "endpoints", "inbox", "bot", "dialog", "live", "broadcast", "tools"],
  node: ["base", "client", "endpoints", "inbox", "bot", "broadcast", "tools"],
  worker: ["base", "endpoints", "inbox", "bot", "broadcast"],
  testing: ["emulator", "bot", "stores", "simulation"],
  cli: ["base", "verify", "doctor", "deploy", "commands"],
  create: []
}

/** The files in the root of a package, such as its entry point, which import from all folders. */
const top = "."

const folderOf = (name: string, path: string): string => {
  const [folder, ...rest] = path.slice(`packages/${name}/src/`.length).split("/")
  return rest.length === 0 ? top : folder
}

interface Arrow {
  readonly from: string
  readonly to: string
  readonly text: string
}

/** The imports of the files of a package, of types too. */
const arrowsOf = (name: string, sources: ReadonlyArray<File>): ReadonlyArray<Arrow> =>
  sources.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\bfrom |\bimport ?\(|^import )"(\.[^"]+)"/gm)].map(([, specifier]) => {
      const imported = posix.join(posix.dirname(path), specifier)
      return { from: folderOf(name, path), to: folderOf(name, imported), text: `${path} -> ${imported}` }
    })
  )

const arrowsUp = (name: string, sources: ReadonlyArray<File>): ReadonlyArray<string> => {
  const order = [...orders[name], top]
  return arrowsOf(name, sources)
    .filter(({ from, to }) => order.indexOf(to) > order.indexOf(from))
    .map(({ text }) => text)
}

/** The number of imports between folders. A row imports from the columns. */
const matrixOf = (name: string, sources: ReadonlyArray<File>): string => {
  const order = [...orders[name], top]
  const arrows = arrowsOf(name, sources)
  const rows = order.map((from) => [
    from,
    ...order.map((to) => arrows.filter((arrow) => arrow.from === from && arrow.to === to).length || "")
  ])
  return [[name, ...order], ...rows].map((row) => row.map((cell) => String(cell).padStart(10)).join("")).join("\n")
}

const sourcesOf = (name: string): ReadonlyArray<File> => files(`packages/${name}/src/**/*.ts`)

describe("the layout of the code", () => {
  it.each(Object.keys(orders))("has a place in the order for each folder of %s", (name) => {
    const folders = new Set(sourcesOf(name).map(({ path }) => folderOf(name, path)))
    assert.sameMembers([...folders], [...orders[name], top])
  })

  it.each(Object.keys(orders))("has only imports down between the folders of %s", (name) => {
    console.log(matrixOf(name, sourcesOf(name)))
    assert.deepStrictEqual(arrowsUp(name, sourcesOf(name)), [])
  })

  it("finds imports up, of types and on demand too", () => {
    const sources = [
      { path: "packages/core/src/base/Json.ts", text: 'import type { Update } from "../model/Update.ts"\n' },
      { path: "packages/core/src/base/internal/wire.ts", text: 'const text = import("../../model/Text.ts")\n' },
      { path: "packages/core/src/model/Update.ts", text: 'export { parse } from "../index.ts"\n' },
      { path: "packages/core/src/model/Text.ts", text: 'import { parse } from "../base/Json.ts"\n' }
    ]
    assert.deepStrictEqual(arrowsUp("core", sources), [
      "packages/core/src/base/Json.ts -> packages/core/src/model/Update.ts",
      "packages/core/src/base/internal/wire.ts -> packages/core/src/model/Text.ts",
      "packages/core/src/model/Update.ts -> packages/core/src/index.ts"
    ])
  })

  it("keeps modules that are not public in the internal folder of their domain", () => {
    const stray = publicPackages
      .flatMap((name) => sourcesOf(name).map(({ path }) => path))
      .filter((path) => !/^packages\/\w+\/src\/(?:(?:index|bin)\.ts|\w+\/(?:[A-Z]\w*\.ts|internal\/.+))$/.test(path))
    assert.deepStrictEqual(stray, [])
  })

  it("has every test in the folder or under the name of the code that it tests", () => {
    const sources = files("packages/*/src/**/*.ts").map(({ path }) =>
      path.replace(/^packages\/\w+\/src\/|internal\/|\.ts$/g, "")
    )
    const modules = new Set(sources)
    const folders = new Set([...Object.values(orders).flat(), "fidelity", "support", "fixtures"])
    const stray = files("packages/*/test/**/*.test.ts")
      .map(({ path }) => path)
      .filter((path) => {
        const name = path.replace(/^packages\/\w+\/test\/|(?:\.\w+)?\.test\.ts$/g, "")
        const [folder, ...rest] = name.split("/")
        return !modules.has(name) && !(rest.length > 0 && folders.has(folder))
      })
    assert.deepStrictEqual(stray, [])
  })

  it("has one file with the tests of a public module", () => {
    const modules = files("packages/*/test/*/*.test.ts")
      .map(({ path }) => path.replace(/^.*\//, ""))
      .filter((name) => /^[A-Z]/.test(name))
    assert.isNotEmpty(modules)
    assert.deepStrictEqual(
      modules.filter((name, index) => modules.indexOf(name) !== index),
      []
    )
  })

  it("lists only existing files in docs/architecture.md", () => {
    const [page] = files("docs/architecture.md")
    const paths = [...page.text.matchAll(/`((?:packages|scripts|examples|benchmarks|docs)\/[\w./]+)`/g)].map(
      ([, path]) => path
    )
    const existing = new Set(
      files("{packages,scripts,examples,benchmarks,docs}/**/*.{ts,tsx,md}").flatMap(({ path }) =>
        path.split("/").map((_, index, parts) => parts.slice(0, index + 1).join("/"))
      )
    )
    assert.isNotEmpty(paths)
    assert.deepStrictEqual(
      paths.filter((path) => !existing.has(path) && !/NAME|\/dist\//.test(path)),
      []
    )
  })
})

/** The package of a specifier: the first part, or the first two with a scope. */
const packageOf = (specifier: string): string =>
  specifier
    .split("/")
    .slice(0, specifier.startsWith("@") ? 2 : 1)
    .join("/")

describe("the dependencies of a package", () => {
  it.each(publicPackages)("contain every package whose values %s imports", (name) => {
    const [manifest] = files(`packages/${name}/package.json`)
    const { dependencies, name: own, peerDependencies } = JSON.parse(manifest!.text) as Record<string, object>
    const declared = new Set([...Object.keys(dependencies ?? {}), ...Object.keys(peerDependencies ?? {}), String(own)])
    // The command of the emulator is bundled with all that the command imports.
    const published = files(`packages/${name}/src/**/*.ts`).filter(({ path }) => !path.endsWith("/command/main.ts"))
    const undeclared = published.flatMap(({ path, text }) =>
      [...text.matchAll(/^(?:import|export) (?!type )[^"\n]*\bfrom "([^."][^"]*)"|\bimport\("([^."][^"]*)"\)/gm)]
        .map(([, statement, call]) => packageOf(statement ?? call!))
        .filter((imported) => !imported.startsWith("node:") && !declared.has(imported))
        .map((imported) => `${path} imports ${imported}`)
    )
    assert.deepStrictEqual(undeclared, [])
  })
})
