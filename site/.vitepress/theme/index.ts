import type { Theme } from "vitepress"
import DefaultTheme from "vitepress/theme"
import { Diagram } from "./Diagram.ts"
import { Playground } from "./Playground.ts"
import "./style.css"

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component("Diagram", Diagram)
    app.component("Playground", Playground)
  }
} satisfies Theme
