import { defineConfig } from "vitepress"
import { bots } from "../internal/bots.ts"
import { reference, sections } from "../internal/pages.ts"

const escape = (code: string): string =>
  code.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** The anchor of a heading, as code hosts form it. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-")

export default defineConfig({
  title: "Colloquy",
  description: "Bots for a messenger, as typed effects",
  lang: "en",
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  head: [["link", { rel: "icon", href: "data:," }]],
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    // The code host reads {…} after a heading as text.
    attrs: { disable: true },
    anchor: { slugify },
    config: (md) => {
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const token = tokens[index]!
        return token.info.trim() === "mermaid"
          ? `<Diagram code="${escape(encodeURIComponent(token.content))}" />`
          : fence(tokens, index, options, env, self)
      }
      // Text such as {{ value }} is text, not a template of Vue.
      md.renderer.rules.text = (tokens, index) => escape(tokens[index]!.content).replaceAll("{{", "&#123;&#8203;{")
    }
  },
  themeConfig: {
    nav: [
      { text: "Guide", link: "/introduction" },
      { text: "Try it", link: "/playground" },
      { text: "Reference", link: "/api/contents" }
    ],
    sidebar: {
      "/api/": [{ text: "Modules", link: "/api/contents" }, ...reference()],
      "/": [{ text: "Try it in the browser", link: "/playground" }, ...sections()]
    },
    outline: [2, 3],
    search: { provider: "local" }
  },
  vite: {
    // Tree shaking is a quarter of the time of a build, and removes less than 1 % of the files.
    build: { chunkSizeWarningLimit: 4000, rollupOptions: { treeshake: false } },
    plugins: [
      {
        name: "bots",
        resolveId: (id) => (id === "virtual:bots" ? `\0${id}` : null),
        load: (id) => (id === "\0virtual:bots" ? `export const bots = ${JSON.stringify(bots())}` : null)
      }
    ]
  }
})
