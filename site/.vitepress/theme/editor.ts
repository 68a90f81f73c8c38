import { javascript } from "@codemirror/lang-javascript"
import { Prec } from "@codemirror/state"
import { EditorView, keymap } from "@codemirror/view"
import { basicSetup } from "codemirror"

/** An editor of the text of a program. */
export interface Editor {
  readonly text: () => string
  readonly replace: (text: string) => void
  readonly destroy: () => void
}

/** Creates an editor in an element. `run` is called for Ctrl+Enter, or Command+Enter on a Mac. */
export const makeEditor = (parent: HTMLElement, doc: string, run: () => void): Editor => {
  const runKey = { key: "Mod-Enter", run: () => (run(), true) }
  const view = new EditorView({
    parent,
    doc,
    extensions: [
      Prec.highest(keymap.of([runKey])),
      basicSetup,
      javascript({ typescript: true }),
      EditorView.contentAttributes.of({ "aria-label": "The program of the bot" })
    ]
  })
  return {
    text: () => view.state.doc.toString(),
    replace: (insert) => view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert } }),
    destroy: () => view.destroy()
  }
}
