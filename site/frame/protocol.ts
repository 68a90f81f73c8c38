/** What the page with the editor sends to the frame. */
export type ToFrame =
  | { readonly type: "run"; readonly code: string }
  | { readonly type: "theme"; readonly theme: "dark" | "light" }

/** What the frame sends to the page with the editor. */
export type FromFrame =
  | { readonly type: "ready" }
  | { readonly type: "running" }
  /** The program could not be started, or it ended. `line` is the line of the program, counted from 1. */
  | { readonly type: "stopped"; readonly message: string; readonly line?: number | undefined }
  /** A line of the log of the bot. */
  | { readonly type: "log"; readonly line: string }
