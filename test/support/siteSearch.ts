/** The search of the built site, with what people look for. */
import MiniSearch from "../../site/node_modules/minisearch/dist/es/index.js"
import { processTerm, searchOptions } from "../../site/internal/search.ts"

/** What people look for, and the places of which the first result has to be one. */
export const questions: ReadonlyArray<readonly [query: string, ...places: ReadonlyArray<string>]> = [
  ["send a photo", "uploads", "recipes"],
  ["upload a file", "uploads"],
  ["getting started", "introduction", "project"],
  ["buttons", "menus", "handlers"],
  ["wait for an answer", "conversations"],
  ["deploy", "operations"],
  ["inline keyboard", "menus"],
  ["ask a question", "conversations"],
  ["install", "introduction", "project"],
  ["new project", "project"],
  ["hello world", "introduction"],
  ["rate limit", "limits"],
  ["429", "limits", "operations"],
  ["too many requests", "limits"],
  ["reminder", "timers"],
  ["send later", "timers"],
  ["cron", "timers", "sources"],
  ["remember the user", "state"],
  ["session", "state"],
  ["database", "stores", "once", "delivery", "state"],
  ["postgres", "stores", "recipes", "delivery"],
  ["redis", "stores", "limits", "delivery"],
  ["docker", "operations", "emulator", "project"],
  ["test my bot", "emulator", "introduction", "handlers"],
  ["mock the platform", "emulator"],
  ["webhook", "webhook"],
  ["environment variables", "settings"],
  ["bot token", "settings", "operations", "introduction"],
  ["error handling", "handlers", "delivery", "errors", "effect-primer"],
  ["retry", "delivery"],
  ["duplicate messages", "once", "delivery"],
  ["newsletter to all users", "broadcast", "recipes"],
  ["chatgpt", "live-messages"],
  ["streaming answer", "live-messages"],
  ["download a photo", "downloads"],
  ["translate", "languages"],
  ["slash commands", "handlers"],
  ["long message", "recipes"],
  ["cloudflare workers", "runtimes"],
  ["python", "ci", "emulator"]
]

/** Searches in the index of a site as its page does. Returns the page of the first result. */
export const makeSearch = (index: string): ((query: string) => string | undefined) => {
  const search = MiniSearch.loadJSON<{ id: string }>(index, {
    fields: ["title", "titles", "text"],
    storeFields: ["title", "titles"],
    processTerm,
    searchOptions
  })
  return (query) => /([\w-]+)\.html/.exec(String(search.search(query)[0]?.id))?.[1]
}
