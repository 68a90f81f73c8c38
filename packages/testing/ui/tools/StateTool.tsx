import * as Json from "@colloquy/core/base/Json"
import { useRef } from "preact/hooks"
import { Button } from "../parts/Button.tsx"
import { type Request, journalUrl } from "../api.ts"
import { act, chats, people, state, toast } from "../store.ts"

const download = (name: string, text: string): void => {
  const url = URL.createObjectURL(new Blob([text], { type: "application/json" }))
  const link = document.createElement("a")
  link.href = url
  link.download = name
  link.click()
  setTimeout(() => URL.revokeObjectURL(url), 10_000)
}

const save = async (): Promise<void> => {
  const seed = await act("getSeed", undefined)
  if (seed !== undefined) download("seed.json", `${Json.stringify(seed)}\n`)
}

const load = async (file: File): Promise<void> => {
  let seed: Request<"seed">
  try {
    seed = Json.parse(await file.text()) as Request<"seed">
  } catch {
    return toast(`${file.name} is not a seed: it is not JSON`, "error")
  }
  if ((await act("reset", undefined)) === undefined) return
  if ((await act("seed", seed)) !== undefined) toast(`${file.name} is loaded`)
}

/** Saves and loads the state, and downloads the journal. */
export const StateTool = () => {
  const picker = useRef<HTMLInputElement>(null)
  return (
    <>
      <p class="note">
        {people.value.length} people, {chats.value.size} chats, {state.value?.next_event ?? 0} events.
      </p>
      <div class="stack-buttons">
        <Button class="primary" onClick={() => void save()}>
          Save the state as a seed
        </Button>
        <Button onClick={() => picker.current?.click()}>Load a seed</Button>
        <input
          ref={picker}
          class="hidden"
          type="file"
          accept="application/json,.json"
          aria-label="Seed to load"
          tabIndex={-1}
          onChange={({ currentTarget }) => {
            const [file] = currentTarget.files ?? []
            if (file !== undefined) void load(file).then(() => (currentTarget.value = ""))
          }}
        />
        <a class="button" href={journalUrl} download="journal.ndjson">
          Download the journal
        </a>
        <Button
          class="danger"
          onClick={() => {
            if (confirm("Remove all people, chats and messages?")) void act("reset", undefined)
          }}
        >
          Reset
        </Button>
      </div>
      <p class="note">
        A seed has the people, the chats with their members, rights and messages, and the uploaded images. Loading one
        replaces the state. <code>colloquy-emulator --seed FILE</code> starts with it. The journal has all events that
        the emulator keeps, as lines of JSON.
      </p>
    </>
  )
}
