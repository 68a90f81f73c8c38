/** The search of the site: what people want to do leads to the page that says how. */

/** The words that people use for an idea of the pages, by the place that describes the idea. */
const tasks: Readonly<Record<string, string>> = {
  introduction: "getting started, quick start, install, installation, first bot, hello world, tutorial, comparison",
  project: "create a project, new project, scaffold, template, setup, tsconfig",
  "effect-primer": "learn effect, effect tutorial, generators, pipe, async await, promises",
  handlers: "answer a message, reply to a message, on message, react to updates, group chat, members joined, deep link",
  "handlers#commands": "slash command, /start, command arguments, menu of commands, bot commands",
  "handlers#buttons-and-deep-links": "button pressed, callback button, inline button payload, deep link, referral",
  "handlers#errors-and-services": "catch errors, error handling in a handler",
  "handlers#filters": "middleware, only admins, permission",
  delivery: "retry, retries, lost updates, guarantee, at least once, offline",
  "delivery#failures-of-handlers": "handler fails, retry, dead letter, error handling",
  once: "duplicate messages, same message twice, twice,  idempotent, exactly once, payment",
  "once#rows-of-your-own-tables": "write to the database, insert rows, own table, transaction, sql",
  state: "remember, session, store data, user data, save a value, settings of a user, delete data, gdpr",
  conversations: "ask a question, wait for an answer, wait for a message, form, survey, wizard, dialog, ask for a name",
  "conversations#timeouts": "no answer, user does not answer, timeout of a question",
  menus: "buttons, inline keyboard, keyboard, menu, pages of buttons, pagination, toggle, settings",
  scenes: "state machine, steps of a form, finite automaton",
  "live-messages": "streaming answer, language model, chatgpt, openai, llm, ai, typing indicator, progress bar",
  "live-messages#an-assistant": "assistant, chatbot, ai agent, tools, function calling",
  timers: "reminder, schedule a message, cron, send later, delay, every day, repeat",
  sources: "cron job, serverless, several bots, lambda",
  limits: "rate limit, 429, too many requests, throttle, flood, slow down",
  uploads:
    "send a photo, send an image, send a picture, upload a file, send a video, send a document, attach a file, audio",
  downloads: "receive a file, download a photo, save a file, get a photo, picture of a user, voice message",
  recipes: "how to, cookbook, snippets, examples, long message, announcement, forward a message",
  "recipes#send-a-message-to-all-users-at-a-time": "announcement, newsletter, all users at a time",
  "recipes#copy-messages-to-another-chat": "forward a message, copy a message, repost",
  "recipes#send-texts-of-more-than-4000-characters": "long message, text too long, split a text",
  languages: "translate, i18n, localization, several languages, translation",
  chats: "list of chats, all users, which chats, list of users",
  broadcast: "send to all users, mass message, newsletter, mailing, notify everybody",
  emulator: "test a bot, test my bot, mock, unit test, without a token, fake platform, simulate, record",
  "emulator#from-a-test": "test a bot, unit test, vitest, write a test",
  ci: "continuous integration, github actions, python bot, go bot",
  "mini-apps": "web app, mini app, init data, verify a user",
  stores: "redis, postgres, postgresql, sqlite, database of the inbox, replicas, several processes, scale",
  webhook: "webhook, https, certificate, express, receive updates by http, production server",
  cli: "command line, operator, dead letters, inspect",
  operations:
    "deploy, deploy a bot, deployment, production, docker, kubernetes, monitoring, metrics, logs, backup, alerts, hosting, run in production",
  "operations#upgrade": "update the bot, new version, migrate",
  runtimes: "bun, deno, cloudflare workers, durable objects, edge",
  settings: "bot token, token of the bot, environment variables, configuration, proxy"
}

/**
 * Adds the words of people to the HTML of a page, for the index of the search. The words of a page are a section of their
 * own before the page, because a short section counts more than a long one.
 */
export const tasksOf = (path: string, html: string): string => {
  const page = path.replace(/\.md$/, "")
  return html.replaceAll(/<h([1-6]) id="([^"]*)"[^>]*>([^<]*)[\s\S]*?<\/h\1>/g, (heading, level, id, title) => {
    const words = tasks[level === "1" ? page : `${page}#${id}`]
    if (words === undefined) return heading
    return level === "1" ? `<h1>${title}<a href="#"></a></h1><p>${words}</p>${heading}` : `${heading}<p>${words}</p>`
  })
}

/**
 * Returns a term of the index for a word, or nothing for a word that says nothing. The page receives the text of this
 * function, so the function refers to nothing outside of itself.
 */
export const processTerm = (term: string): string | null => {
  const fillers =
    " a an and any are as at be by can do does for from get how i if in into is it me my of on one or that the their them then there this to use want what when where which who with you your "
  const word = term.toLowerCase().replace(/[’']s$/, "")
  if (word === "" || fillers.includes(` ${word} `)) return null
  // "photos" and "photo" are one term.
  return word.length > 3 ? word.replace(/(?<![su])s$/, "") : word
}

/** How much a place counts: the words of people first, a guide before the reference, and facts about the platform last. */
const boostDocument = (id: string): number => {
  // Only the words of a page have no heading.
  if (!id.includes("#")) return 5
  if (/\/(?:assumptions|fidelity)\.html/.test(id)) return 0.15
  if (/\/(?:api\/|errors\.html|architecture\.html|simulation\.html|store-protocol\.html|performance\.html)/.test(id))
    return 0.4
  return /\/(?:ru\/|contents\.html)/.test(id) ? 0.5 : 1
}

export const searchOptions = {
  boost: { title: 4, text: 1, titles: 1 },
  fuzzy: (term: string): number | boolean => (term.length > 4 ? 0.2 : false),
  prefix: (term: string): boolean => term.length > 2,
  boostDocument
}
