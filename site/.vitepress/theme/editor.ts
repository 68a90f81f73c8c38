import { autocompletion } from "@codemirror/autocomplete"
import { javascript } from "@codemirror/lang-javascript"
import { defaultHighlightStyle, HighlightStyle, syntaxHighlighting } from "@codemirror/language"
import { lintGutter, setDiagnostics } from "@codemirror/lint"
import { Compartment, Prec } from "@codemirror/state"
import { EditorView, keymap } from "@codemirror/view"
import type { WorkerShape } from "@valtown/codemirror-ts/worker"
import {
  tsAutocompleteWorker,
  tsFacetWorker,
  tsHoverWorker,
  tsLinterWorker,
  tsSyncWorker
} from "@valtown/codemirror-ts"
import { basicSetup } from "codemirror"
import { wrap } from "comlink"
import { withBase } from "vitepress"

/** An editor of the text of a program. */
export interface Editor {
  readonly text: () => string
  readonly replace: (text: string) => void
  /** Marks the line at which the program failed, counted from 1. */
  readonly showError: (error: { readonly line: number; readonly message: string } | undefined) => void
  readonly destroy: () => void
}

export interface Options {
  /** Called for Ctrl+Enter, or Command+Enter on a Mac. */
  readonly run: () => void
  readonly onChange: (text: string) => void
}

/** The standard colors, of which one is too light for a text. */
const colors = HighlightStyle.define(
  defaultHighlightStyle.specs.map((spec) => (spec["color"] === "#e40" ? { ...spec, color: "#b53000" } : spec))
)

/** Starts the compiler. Its types and errors appear when the declarations are loaded. */
const startTypes = async () => {
  const thread = new Worker(withBase("/emulator/types.js"), { type: "module" })
  const worker = wrap<WorkerShape>(thread)
  await worker.initialize()
  return {
    extensions: [
      tsFacetWorker.of({ worker, path: "/bot.ts" }),
      tsSyncWorker(),
      tsLinterWorker(),
      tsHoverWorker(),
      autocompletion({ override: [tsAutocompleteWorker()] })
    ],
    stop: () => thread.terminate()
  }
}

/** Creates an editor in an element. */
export const makeEditor = (parent: HTMLElement, doc: string, { onChange, run }: Options): Editor => {
  const runKey = { key: "Mod-Enter", run: () => (run(), true) }
  const types = new Compartment()
  const view = new EditorView({
    parent,
    doc,
    extensions: [
      Prec.highest(keymap.of([runKey])),
      basicSetup,
      syntaxHighlighting(colors),
      lintGutter(),
      javascript({ typescript: true }),
      types.of([]),
      EditorView.updateListener.of(({ docChanged, state }) => docChanged && onChange(state.doc.toString())),
      EditorView.contentAttributes.of({ "aria-label": "The program of the bot" })
    ]
  })
  // The keyboard scrolls a long program.
  view.scrollDOM.tabIndex = 0
  const started = startTypes()
  void started.then(({ extensions }) => view.dispatch({ effects: types.reconfigure(extensions) }))
  return {
    text: () => view.state.doc.toString(),
    replace: (insert) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }),
    showError: (error) => {
      const { doc } = view.state
      const line = error === undefined ? undefined : doc.line(Math.min(Math.max(error.line, 1), doc.lines))
      const found = line && { from: line.from, to: line.to, severity: "error" as const, message: error!.message }
      view.dispatch(setDiagnostics(view.state, found === undefined ? [] : [found]))
      if (line !== undefined) view.dispatch({ effects: EditorView.scrollIntoView(line.from) })
    },
    destroy: () => {
      view.destroy()
      void started.then(({ stop }) => stop())
    }
  }
}
