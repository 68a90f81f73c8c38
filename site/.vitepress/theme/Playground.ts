import { useData, withBase } from "vitepress"
import { defineComponent, h, onBeforeUnmount, onMounted, ref, watch } from "vue"
import type { FromFrame, ToFrame } from "../../frame/protocol.ts"
import { bots } from "virtual:bots"
import type { Editor } from "./editor.ts"

const maxLines = 200

/** An editor with a bot beside the emulator, which runs in a frame. */
export const Playground = defineComponent({
  setup: () => {
    const { isDark } = useData()
    const place = ref<HTMLElement>()
    const frame = ref<HTMLIFrameElement>()
    const status = ref("Loading the emulator…")
    const isError = ref(false)
    const isReady = ref(false)
    const lines = ref<ReadonlyArray<string>>([])
    let editor: Editor | undefined

    const tell = (message: ToFrame) => frame.value?.contentWindow?.postMessage(message, location.origin)

    const run = () => {
      if (!isReady.value || editor === undefined) return
      lines.value = []
      tell({ type: "run", code: editor.text() })
    }

    const show = (text: string, failed = false) => {
      status.value = text
      isError.value = failed
    }

    const receive = ({ data, origin, source }: MessageEvent<FromFrame>) => {
      if (origin !== location.origin || source !== frame.value?.contentWindow) return
      if (data.type === "ready") {
        isReady.value = true
        tell({ type: "theme", theme: isDark.value ? "dark" : "light" })
        run()
      }
      if (data.type === "running") show("The bot is running. Write to it in the chat.")
      if (data.type === "stopped") show(data.message, true)
      if (data.type === "log") lines.value = [...lines.value, data.line].slice(-maxLines)
    }

    const choose = (name: string) => {
      const bot = bots.find((each) => each.name === name)
      if (bot === undefined || editor === undefined) return
      editor.replace(bot.code)
      run()
    }

    onMounted(async () => {
      addEventListener("message", receive)
      watch(isDark, (dark) => tell({ type: "theme", theme: dark ? "dark" : "light" }))
      const { makeEditor } = await import("./editor.ts")
      editor = makeEditor(place.value!, bots[0]!.code, run)
      // The frame starts when the editor can receive its messages.
      frame.value!.src = withBase("/emulator/index.html")
    })

    onBeforeUnmount(() => {
      removeEventListener("message", receive)
      editor?.destroy()
    })

    return () =>
      h("div", { class: "playground" }, [
        h("div", { class: "playground-bar" }, [
          h("label", [
            "Bot ",
            h(
              "select",
              { onChange: ({ target }: Event) => choose((target as HTMLSelectElement).value) },
              bots.map(({ name, title }) => h("option", { value: name }, title))
            )
          ]),
          h("button", { type: "button", disabled: !isReady.value, onClick: run, title: "Ctrl+Enter" }, "Run"),
          h("output", { class: isError.value ? "playground-error" : "", role: "status" }, status.value)
        ]),
        h("div", { class: "playground-panes" }, [
          h("div", { class: "playground-editor", ref: place }),
          h("iframe", { class: "playground-frame", ref: frame, title: "The chat with the bot" })
        ]),
        lines.value.length === 0
          ? null
          : h("pre", { class: "playground-log", tabindex: 0, "aria-label": "Log of the bot" }, lines.value.join("\n"))
      ])
  }
})
