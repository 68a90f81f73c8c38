import { useData } from "vitepress"
import { defineComponent, h, onMounted, ref, watch } from "vue"

let diagrams = 0

/** A diagram of Mermaid. Without a script, its source is shown. */
export const Diagram = defineComponent({
  props: { code: { type: String, required: true } },
  setup: (props) => {
    const { isDark } = useData()
    const code = decodeURIComponent(props.code)
    const svg = ref("")
    const draw = async () => {
      const { default: mermaid } = await import("mermaid")
      const edgeLabelBackground = getComputedStyle(document.documentElement).getPropertyValue("--vp-c-bg")
      mermaid.initialize({
        startOnLoad: false,
        theme: isDark.value ? "dark" : "neutral",
        themeVariables: { edgeLabelBackground },
        securityLevel: "strict"
      })
      svg.value = (await mermaid.render(`diagram-${++diagrams}`, code)).svg
    }
    onMounted(() => watch(isDark, draw, { immediate: true }))
    return () =>
      svg.value === "" ? h("pre", { class: "diagram" }, code) : h("div", { class: "diagram", innerHTML: svg.value })
  }
})
