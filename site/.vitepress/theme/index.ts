import type { Theme } from "vitepress"
import DefaultTheme from "vitepress/theme"
import { Diagram } from "./Diagram.ts"
import { linkLanguages } from "./languages.ts"
import { Playground } from "./Playground.ts"
import { Start } from "./Start.ts"
import { followTypes } from "./typeTip.ts"
import "./style.css"

export default {
  extends: DefaultTheme,
  enhanceApp: ({ app }) => {
    app.component("Diagram", Diagram)
    app.component("Playground", Playground)
    app.component("Start", Start)
    linkLanguages(app)
    if (typeof document !== "undefined") followTypes()
  }
} satisfies Theme
