/** The frame with the emulator and the bot, which two pages show. */
import { useData, withBase } from "vitepress"
import { onBeforeUnmount, onMounted, ref, watch } from "vue"
import type { FromFrame, ToFrame } from "../../frame/protocol.ts"

type Message<Type extends FromFrame["type"]> = Extract<FromFrame, { readonly type: Type }>

export interface Listener {
  readonly onReady: () => void
  readonly onStopped?: (message: Message<"stopped">) => void
  readonly onRunning?: () => void
  readonly onLog?: (line: string) => void
}

/** Starts the frame when `start` is called. The frame has the colors of the page. */
export const useFrame = ({ onLog, onReady, onRunning, onStopped }: Listener) => {
  const { isDark } = useData()
  const frame = ref<HTMLIFrameElement>()

  const tell = (message: ToFrame) => frame.value?.contentWindow?.postMessage(message, location.origin)

  const tellTheme = () => tell({ type: "theme", theme: isDark.value ? "dark" : "light" })

  const receive = ({ data, origin, source }: MessageEvent<FromFrame>) => {
    if (origin !== location.origin || source !== frame.value?.contentWindow) return
    if (data.type === "ready") {
      tellTheme()
      onReady()
    }
    if (data.type === "running") onRunning?.()
    if (data.type === "stopped") onStopped?.(data)
    if (data.type === "log") onLog?.(data.line)
  }

  onMounted(() => {
    addEventListener("message", receive)
    watch(isDark, tellTheme)
  })

  onBeforeUnmount(() => removeEventListener("message", receive))

  const start = () => {
    if (frame.value !== undefined) frame.value.src = withBase("/emulator/index.html")
  }

  return { frame, start, tell }
}
