import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { afterAll, assert, beforeAll, describe, it } from "vitest"
import { root, run } from "../scripts/internal/workspace.ts"

/** A TypeScript program that uses the generated types. */
const program = `
import type { components, paths } from "./api.ts"

type Schemas = components["schemas"]

export const tokenOf = (attachment: Schemas["Attachment"]): string | undefined => {
  switch (attachment.type) {
    case "image":
    case "file":
      return attachment.payload.token
    case "location":
      return String(attachment.latitude)
    default:
      // @ts-expect-error: an attachment of another kind may have no payload.
      return attachment.payload.token
  }
}

export const seen = (message: Schemas["Message"]) =>
  (message.body?.attachments ?? []).map((attachment) =>
    attachment.type === "inline_keyboard"
      ? attachment.payload.buttons.flat().map((button) => (button.type === "link" ? button.url : button.type))
      : [tokenOf(attachment)]
  )

export const links = (message: Schemas["Message"]) =>
  (message.body?.markup ?? []).flatMap((element) => (element.type === "link" ? (element.url ?? []) : []))

export const callbackId = (update: Schemas["Update"]): string | undefined =>
  update.update_type === "message_callback" ? update.callback.callback_id : undefined

type Body = paths["/messages"]["post"]["requestBody"]["content"]["application/json"]

export const body: Body = {
  text: "Hello",
  notify: true,
  attachments: [{ type: "inline_keyboard", payload: { buttons: [[{ type: "callback", text: "Yes", payload: "yes" }]] } }]
}

// @ts-expect-error: a contact has no token.
export const wrong: Body = { notify: true, attachments: [{ type: "contact", payload: { token: "a" } }] }

type Comment = paths["/messages/{messageId}/comments"]["post"]["responses"]["200"]["content"]["application/json"]

export const textOf = ({ body }: Comment) => body.text
`

const settings = {
  compilerOptions: {
    target: "ES2022",
    module: "NodeNext",
    strict: true,
    noEmit: true,
    allowImportingTsExtensions: true,
    types: []
  },
  files: ["program.ts"]
}

describe("the types that openapi-typescript generates from the OpenAPI document", () => {
  let folder = ""

  const succeeds = (command: string, args: ReadonlyArray<string>) => {
    const { ok, output } = run(command, args, { cwd: folder })
    assert.isTrue(ok, output)
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), "colloquy-openapi-"))
    const { ok, output } = run(process.execPath, ["--conditions=source", "scripts/openapi.ts"], { cwd: root })
    assert.isTrue(ok, output)
    writeFileSync(join(folder, "openapi.json"), output.slice(output.indexOf("{")))
    writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }))
    writeFileSync(join(folder, "program.ts"), program)
    writeFileSync(join(folder, "tsconfig.json"), JSON.stringify(settings))
    // The generator needs the API of TypeScript 5, which the compiler of this repository does not have.
    const packages = ["openapi-typescript@7.13.0", "typescript@5.9.3"]
    succeeds("npm", ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", ...packages])
    succeeds("npx", ["--no-install", "openapi-typescript", "openapi.json", "-o", "api.ts"])
  })

  afterAll(() => rmSync(folder, { recursive: true, force: true }))

  it("narrow attachments, buttons, markup and updates by their kind", () => {
    const { output } = run("npx", ["--no-install", "tsc", "--pretty", "false", "-p", "."], { cwd: folder })
    assert.deepStrictEqual(
      output.split("\n").filter((line) => line.includes("error TS")),
      []
    )
  })
})
