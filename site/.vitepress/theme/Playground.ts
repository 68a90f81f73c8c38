import { bots } from "virtual:bots"
import { defineComponent, h, onBeforeUnmount, onMounted, ref } from "vue"
import { programInAddress, putIntoAddress, removeFromAddress } from "./address.ts"
import type { Editor } from "./editor.ts"
import { useFrame } from "./frame.ts"
import { downloadProject } from "./project.ts"

const maxLines = 200

/** The choice of a program that is none of the examples. */
const own = "own"

/** An editor with a bot beside the emulator, which runs in a frame. */
export const Playground = defineComponent({
  setup: () => {
    const place = ref<HTMLElement>()
    const chosen = ref(bots[0]!.name)
    const status = ref("Loading the emulator…")
    const isError = ref(false)
    const isReady = ref(false)
    const lines = ref<ReadonlyArray<string>>([])
    let editor: Editor | undefined

    const run = () => {
      if (!isReady.value || editor === undefined) return
      lines.value = []
      editor.showError(undefined)
      tell({ type: "run", code: editor.text() })
    }

    const show = (text: string, failed = false) => {
      status.value = text
      isError.value = failed
    }

    const { frame, start, tell } = useFrame({
      onReady: () => {
        isReady.value = true
        run()
      },
      onRunning: () => show("The bot is running. Write to it in the chat."),
      onStopped: ({ line, message }) => {
        show(line === undefined ? message : `Line ${line}: ${message}`, true)
        editor?.showError(line === undefined ? undefined : { line, message })
      },
      onLog: (line) => {
        lines.value = [...lines.value, line].slice(-maxLines)
      }
    })

    const choose = (name: string) => {
      const bot = bots.find((each) => each.name === name)
      if (bot === undefined || editor === undefined) return
      editor.replace(bot.code)
      run()
    }

    /** An example has a short address, and another program is the address. */
    const keep = (text: string) => {
      const bot = bots.find(({ code }) => code === text)
      chosen.value = bot?.name ?? own
      if (bot === bots[0]) removeFromAddress()
      else putIntoAddress(text)
    }

    onMounted(async () => {
      const { makeEditor } = await import("./editor.ts")
      const program = programInAddress() ?? bots[0]!.code
      editor = makeEditor(place.value!, program, { run, onChange: keep })
      keep(program)
      // The frame starts when the editor can receive its messages.
      start()
    })

    onBeforeUnmount(() => editor?.destroy())

    const bar = () =>
      h("div", { class: "playground-bar" }, [
        h("label", [
          "Bot ",
          h(
            "select",
            { value: chosen.value, onChange: ({ target }: Event) => choose((target as HTMLSelectElement).value) },
            [
              ...bots.map(({ name, title }) => h("option", { value: name }, title)),
              ...(chosen.value === own ? [h("option", { value: own }, "Your program")] : [])
            ]
          )
        ]),
        h("button", { type: "button", disabled: !isReady.value, onClick: run, title: "Ctrl+Enter" }, "Run"),
        h(
          "button",
          {
            type: "button",
            class: "playground-second",
            title: "Downloads a project with this program, which npm install && npm start runs",
            onClick: () => editor && downloadProject(editor.text())
          },
          "Open as a project"
        ),
        h("output", { class: isError.value ? "playground-error" : "", role: "status" }, status.value)
      ])

    const log = () =>
      h(
        "pre",
        { class: "playground-log", tabindex: 0, role: "log", "aria-label": "Log of the bot" },
        lines.value.length === 0 ? "The log of the bot: Effect.log writes here." : lines.value.join("\n")
      )

    return () =>
      h("div", { class: "playground" }, [
        bar(),
        h("div", { class: "playground-panes" }, [
          h("div", { class: "playground-editor", ref: place }),
          h("iframe", { class: "playground-frame", ref: frame, title: "The chat with the bot" })
        ]),
        log()
      ])
  }
})
