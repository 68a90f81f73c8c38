import { readFileSync } from "node:fs"
import { join } from "node:path"
import { defineConfig } from "vitepress"
import { root } from "../../scripts/internal/workspace.ts"
import { bots, project } from "../internal/bots.ts"
import { makeHovers } from "../internal/hovers.ts"
import { programs, reference, sections, startProgram, translations } from "../internal/pages.ts"
import { processTerm, searchOptions, tasksOf } from "../internal/search.ts"

const escape = (code: string): string =>
  code.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")

/** The anchor of a heading, as code hosts form it. */
const slugify = (heading: string): string =>
  heading
    .trim()
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, "")
    .replaceAll(/\s/g, "-")

const { version } = JSON.parse(readFileSync(join(root, "packages/core/package.json"), "utf8")) as { version: string }

export default defineConfig({
  title: "Colloquy",
  description: "Bots for a messenger, as typed effects",
  lang: "en",
  locales: {
    root: { label: "English", lang: "en" },
    ru: {
      label: "Русский",
      lang: "ru",
      link: "/ru/introduction",
      description: "Боты для мессенджера как типизированные эффекты",
      themeConfig: {
        nav: [
          { text: "Руководство", link: "/ru/introduction" },
          { text: "Попробовать", link: "/playground" },
          { text: "Справочник", link: "/api/contents" }
        ],
        sidebar: translations({ Start: "Начало", "Write a bot": "Создание бота" }),
        outline: { level: [2, 3], label: "На этой странице" },
        docFooter: { prev: "Назад", next: "Дальше" },
        darkModeSwitchLabel: "Оформление",
        lightModeSwitchTitle: "Светлое оформление",
        darkModeSwitchTitle: "Тёмное оформление",
        sidebarMenuLabel: "Меню",
        returnToTopLabel: "К началу страницы",
        langMenuLabel: "Язык"
      }
    }
  },
  srcDir: ".pages",
  outDir: "dist",
  cacheDir: ".vitepress/cache",
  // The path at which the site is served is an option of the build.
  transformHead: ({ siteData }) => [["link", { rel: "icon", type: "image/svg+xml", href: `${siteData.base}icon.svg` }]],
  // The start page and the playground have no landmark for their content.
  transformHtml: (html) =>
    html.includes("<main") ? html : html.replace('id="VPContent"', 'id="VPContent" role="main"'),
  markdown: {
    theme: { light: "github-light-high-contrast", dark: "github-dark" },
    // The code host reads {…} after a heading as text.
    attrs: { disable: true },
    codeTransformers: [
      makeHovers(programs(), startProgram()),
      {
        name: "lines-of-sources",
        line(node, line) {
          // The reference links to the lines of the files of the repository.
          if (this.options.meta?.__raw === "source") node.properties["id"] = `L${line}`
        }
      }
    ],
    anchor: { slugify },
    config: (md) => {
      // An empty cell heads nothing.
      md.core.ruler.push("empty-heads", ({ tokens }) => {
        tokens.forEach(({ type }, index) => {
          const [open, content, close] = tokens.slice(index, index + 3)
          if (type === "th_open" && content?.content === "") open!.tag = close!.tag = "td"
        })
      })
      const fence = md.renderer.rules.fence!
      md.renderer.rules.fence = (tokens, index, options, env, self) => {
        const token = tokens[index]!
        // Colors are half of the time of a rendering, and a search finds no colors.
        if (env.isSearched === true) return `<pre><code>${escape(token.content)}</code></pre>`
        return token.info.trim() === "mermaid"
          ? `<Diagram code="${escape(encodeURIComponent(token.content))}" />`
          : fence(tokens, index, options, env, self)
      }
      // Text such as {{ value }} is text, not a template of Vue.
      md.renderer.rules.text = (tokens, index) => escape(tokens[index]!.content).replaceAll("{{", "&#123;&#8203;{")
    }
  },
  themeConfig: {
    // Not every page has a translation: the theme finds it.
    i18nRouting: false,
    logo: { src: "/icon.svg", alt: "" },
    nav: [
      { text: "Guide", link: "/introduction" },
      { text: "Try it", link: "/playground" },
      { text: "Reference", link: "/api/contents" },
      { text: `v${version}`, link: "/versions" }
    ],
    sidebar: {
      "/api/": [{ text: "Modules", link: "/api/contents" }, ...reference()],
      "/": [{ text: "Try it in the browser", link: "/playground" }, ...sections()]
    },
    outline: [2, 3],
    search: {
      provider: "local",
      options: {
        _render: (source, env, md) => {
          const html = md.render(source, Object.assign(env, { isSearched: true }))
          return env.frontmatter?.["search"] === false ? "" : tasksOf(env.relativePath, html)
        },
        miniSearch: { options: { processTerm }, searchOptions }
      }
    }
  },
  vite: {
    // Tree shaking is a quarter of the time of a build, and removes less than 1 % of the files.
    build: {
      chunkSizeWarningLimit: 4000,
      rollupOptions: {
        treeshake: false,
        // The chunks of VitePress are fixed, and two of them import each other.
        onwarn: (warning, report) => (warning.code === "CIRCULAR_CHUNK" ? undefined : report(warning))
      }
    },
    plugins: [
      {
        // The compiler runs in a worker. The extensions of the editor import it for their other half.
        name: "compiler-in-worker",
        enforce: "pre",
        resolveId: (id) => (id === "typescript" ? "\0virtual:typescript" : null),
        load: (id) => (id === "\0virtual:typescript" ? "export default { ScriptElementKind: {} }" : null)
      },
      {
        name: "bots",
        resolveId: (id) => (id === "virtual:bots" ? `\0${id}` : null),
        load: (id) =>
          id === "\0virtual:bots"
            ? `export const bots = ${JSON.stringify(bots())}\nexport const project = ${JSON.stringify(project())}`
            : null
      }
    ]
  }
})
