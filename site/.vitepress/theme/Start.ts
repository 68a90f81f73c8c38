import { bots } from "virtual:bots"
import { defineComponent, h, onMounted } from "vue"
import { useFrame } from "./frame.ts"

/** The first program of the start page beside the running emulator. The program is the slot. */
export const Start = defineComponent({
  setup: (_, { slots }) => {
    const { frame, start, tell } = useFrame({ onReady: () => tell({ type: "run", code: bots[0]!.code }) })
    // The texts of the page are there before the emulator is loaded.
    onMounted(() => requestAnimationFrame(() => setTimeout(start)))
    return () =>
      h("div", { class: "start" }, [
        h("div", { class: "start-code" }, slots["default"]?.()),
        h("iframe", { class: "playground-frame", ref: frame, title: "A chat with the echo bot" })
      ])
  }
})
