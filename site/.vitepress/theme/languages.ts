import { computed, type App } from "vue"
import { dataSymbol, useData } from "vitepress"

/**
 * Makes the switch of the language lead to the same page in the other language: a translation has an original, and the front
 * matter of an original that is translated has the place of its translation. Any other page leads to the first translated page.
 */
export const linkLanguages = (app: App): void => {
  const data = app.runWithContext(useData)
  const site = computed(() => {
    const { locales } = data.site.value
    const translation: unknown = data.frontmatter.value["translation"]
    const [other, link] =
      data.localeIndex.value === "ru"
        ? ["root", data.page.value.relativePath.replace(/^ru\/(.*)\.md$/, "/$1")]
        : ["ru", translation]
    return typeof link === "string"
      ? { ...data.site.value, locales: { ...locales, [other]: { ...locales[other]!, link } } }
      : data.site.value
  })
  app.provide(dataSymbol, { ...data, site })
}
