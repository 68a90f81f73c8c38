import { call, type Success } from "../api.ts"
import { useRead } from "../parts/useRead.ts"

const titles: Readonly<Record<string, string>> = {
  command: "Commands",
  conversation: "Conversations",
  menu: "Menus",
  scene: "Scenes",
  timer: "Timers",
  button: "Buttons",
  link: "Deep links",
  handler: "Other updates"
}

type Parts = Success<"listParts">

/** The parts of the bot, as its module exports them. */
export const Parts = () => {
  const read = useRead<Parts>(
    () => call("listParts", undefined).catch((error) => ({ parts: [], problem: String(error) })),
    []
  )
  if (read === undefined) return <p class="empty">Reading…</p>
  if (read.problem !== undefined) return <p class="empty">{read.problem}</p>
  return (
    <>
      {[...Map.groupBy(read.parts, ({ kind }) => kind)].map(([kind, parts]) => (
        <section key={kind}>
          <h3>{titles[kind] ?? kind}</h3>
          <ul class="plain">
            {parts.map(({ description, name }, index) => (
              <li key={index}>
                <code>
                  {kind === "command" ? "/" : ""}
                  {name}
                </code>{" "}
                {description}
              </li>
            ))}
          </ul>
        </section>
      ))}
    </>
  )
}
