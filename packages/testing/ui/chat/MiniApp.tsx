import { signal } from "@preact/signals"
import { Button } from "../parts/Button.tsx"
import { copyText } from "../parts/clipboard.ts"
import { Modal } from "../parts/Modal.tsx"
import { act } from "../store.ts"
import type { Request, Success } from "../api.ts"

/** The mini app that is open, with the text of its button. */
const opened = signal<(Success<"openApp"> & { readonly title: string }) | undefined>(undefined)

/** Opens the mini app of a button as the messenger does: with signed init data in the address. */
export const openMiniApp = async (request: Request<"openApp">, title: string): Promise<void> => {
  const app = await act("openApp", request)
  if (app !== undefined) opened.value = { ...app, title }
}

const addressOf = ({ init_data, url }: Success<"openApp">): string => {
  const address = new URL(url)
  address.hash = `WebAppData=${encodeURIComponent(init_data)}&WebAppPlatform=web&WebAppVersion=1`
  return address.href
}

/** A frame of another origin keeps its own storage. A frame of this origin gets none, so that it cannot call the emulator. */
const permissionsFor = (address: string): string => {
  const allowed = "allow-scripts allow-forms allow-popups allow-modals"
  return new URL(address).origin === location.origin ? allowed : `${allowed} allow-same-origin`
}

/** The mini app that is open, in a frame. */
export const MiniApp = () => {
  const app = opened.value
  if (app === undefined) return null
  const address = addressOf(app)
  return (
    <Modal title={app.title} onClose={() => (opened.value = undefined)}>
      <iframe class="mini-app" title={`Mini app: ${app.title}`} src={address} sandbox={permissionsFor(address)} />
      <div class="row">
        <bdi class="path">{app.url}</bdi>
        <Button onClick={() => void copyText(app.init_data, "The init data")}>Copy the init data</Button>
      </div>
    </Modal>
  )
}
