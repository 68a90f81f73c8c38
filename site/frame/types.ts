/** The compiler of TypeScript, for the types and errors of a program while it is written. */
import { createSystem, createVirtualTypeScriptEnvironment } from "@typescript/vfs"
import { createWorker } from "@valtown/codemirror-ts/worker"
import { expose } from "comlink"
import ts from "typescript"

const options: ts.CompilerOptions = {
  target: ts.ScriptTarget.ESNext,
  module: ts.ModuleKind.NodeNext,
  moduleResolution: ts.ModuleResolutionKind.NodeNext,
  moduleDetection: ts.ModuleDetectionKind.Force,
  lib: ["esnext", "dom"],
  strict: true,
  skipLibCheck: true,
  types: []
}

expose(
  createWorker(async () => {
    const response = await fetch(new URL("./types.bin", import.meta.url))
    const json = response.body!.pipeThrough(new DecompressionStream("deflate"))
    const files = new Map<string, string>(Object.entries(await new Response(json).json()))
    files.set("/package.json", '{ "type": "module" }')
    return createVirtualTypeScriptEnvironment(createSystem(files), [], ts, options)
  })
)
