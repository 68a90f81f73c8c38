import type { ComponentType } from "preact"
import { render } from "preact"
import { useEffect } from "preact/hooks"
import { ChatList } from "./chat/ChatList.tsx"
import { Conversation } from "./chat/Conversation.tsx"
import { Forward } from "./chat/Forward.tsx"
import { MiniApp } from "./chat/MiniApp.tsx"
import { Button, IconButton } from "./parts/Button.tsx"
import { Divider } from "./parts/Divider.tsx"
import { Select } from "./parts/Field.tsx"
import { Icon } from "./parts/Icon.tsx"
import { Tabs } from "./parts/Tabs.tsx"
import { ThemeButton } from "./parts/ThemeButton.tsx"
import { Toasts } from "./parts/Toasts.tsx"
import { preciseTime } from "./parts/format.ts"
import { useNow } from "./parts/useNow.ts"
import {
  activePane,
  becomePerson,
  bots,
  clockAt,
  connectedBots,
  connection,
  deliveries,
  faults,
  namesOf,
  openTool,
  type Pane,
  panes,
  people,
  state,
  togglePanes,
  tool,
  type ToolName,
  toolNames,
  view
} from "./store.ts"
import { ClockTool } from "./tools/ClockTool.tsx"
import { Deliveries } from "./tools/Deliveries.tsx"
import { FaultsTool } from "./tools/FaultsTool.tsx"
import { LimitGauges } from "./tools/Limits.tsx"
import { Parts } from "./tools/Parts.tsx"
import { PeopleTool } from "./tools/PeopleTool.tsx"
import { Requests } from "./tools/Requests.tsx"
import { StateTool } from "./tools/StateTool.tsx"
import { Timeline } from "./tools/Timeline.tsx"
import { sizeStyle } from "./sizes.ts"
import type { BotView } from "./types.ts"

const tools: Readonly<Record<ToolName, { readonly label: string; readonly view: ComponentType }>> = {
  timeline: { label: "Timeline", view: Timeline },
  requests: { label: "Requests", view: Requests },
  deliveries: { label: "Updates", view: Deliveries },
  limits: { label: "Limits", view: LimitGauges },
  clock: { label: "Clock", view: ClockTool },
  faults: { label: "Faults", view: FaultsTool },
  people: { label: "People", view: PeopleTool },
  parts: { label: "Parts", view: Parts },
  state: { label: "State", view: StateTool }
}

const tabs = toolNames.map((name) => ({ name, ...tools[name] }))

const ClockChip = () => {
  const now = useNow()
  return (
    <Button class="quiet clock-chip" title="Clock of the emulator" onClick={() => openTool("clock")}>
      {preciseTime(now).slice(0, 8)}
      {clockAt.value.isRunning ? "" : " stopped"}
    </Button>
  )
}

/** Whether the bots are connected: by long polling, or by a webhook whose last delivery did not fail. */
const BotsChip = () => {
  const isConnected = ({ user, webhooks }: BotView) =>
    connectedBots.value.has(user.user_id) ||
    (webhooks.length > 0 &&
      (deliveries.value.find(({ bot_id }) => bot_id === user.user_id)?.state ?? "delivered") === "delivered")
  const count = bots.value.filter(isConnected).length
  const text =
    bots.value.length === 1
      ? count === 1
        ? "Bot connected"
        : "No bot connected"
      : `${count} of ${bots.value.length} bots connected`
  return bots.value.length === 0 ? null : (
    <Button class="quiet bots-chip" onClick={() => openTool("deliveries")}>
      <i class={count === bots.value.length ? "dot on" : "dot"} />
      <span>{text}</span>
    </Button>
  )
}

const TopBar = () => (
  <header class="top-bar">
    <h1>Colloquy emulator</h1>
    {connection.value === "lost" ? (
      <span class="lost" role="status">
        Connection lost, trying again…
      </span>
    ) : null}
    <span class="spacer" />
    <BotsChip />
    {faults.value.length === 0 ? null : (
      <Button class="quiet fault-chip" onClick={() => openTool("faults")}>
        {faults.value.length} fault{faults.value.length === 1 ? "" : "s"}
      </Button>
    )}
    <ClockChip />
    <IconButton
      icon="split"
      class="quiet wide-only"
      aria-pressed={panes.value.length === 2}
      title="Two people side by side"
      label="Two people side by side"
      onClick={togglePanes}
    />
    <IconButton
      icon="tools"
      class="quiet wide-only"
      aria-pressed={tool.value !== undefined}
      title="Tools"
      label="Tools"
      onClick={() => (tool.value = tool.value === undefined ? "timeline" : undefined)}
    />
    <ThemeButton />
  </header>
)

const PersonPicker = ({ pane }: { readonly pane: Pane }) => (
  <div class="person-picker">
    <label>
      <span>You are</span>
      <Select
        aria-label="The person you are"
        value={pane.person.value}
        onChange={({ currentTarget }) => becomePerson(pane, Number(currentTarget.value))}
        options={namesOf(people.value)}
      />
    </label>
    <IconButton
      icon="plus"
      title="New person"
      label="New person"
      onClick={() => {
        activePane.value = pane.id
        openTool("people")
      }}
    />
  </div>
)

const PaneView = ({ pane }: { readonly pane: Pane }) => {
  const isAtList = pane.chat.value === undefined && pane.starting.value === undefined
  return (
    <div class={`pane${isAtList ? " at-list" : " at-chat"}`} onFocusCapture={() => (activePane.value = pane.id)}>
      <div class="sidebar">
        <PersonPicker pane={pane} />
        <ChatList pane={pane} />
      </div>
      {panes.value.length === 2 ? null : <Divider name="sidebar" label="Width of the list of chats" />}
      <Conversation pane={pane} />
    </div>
  )
}

const Tools = () => (
  <section class="tools" aria-label="Tools">
    <Divider name="tools" label="Width of the tools" />
    <Tabs
      label="Tools"
      tabs={tabs}
      current={tool.value ?? "timeline"}
      panel="tool"
      onChange={(name) => (tool.value = name)}
    />
  </section>
)

const BottomBar = () => (
  <nav class="bottom-bar" aria-label="Views">
    <Button
      aria-current={view.value !== "tools"}
      onClick={() => (view.value = panes.value[0].chat.value === undefined ? "chats" : "chat")}
    >
      <Icon name="chats" /> Chats
    </Button>
    <Button aria-current={view.value === "tools"} onClick={() => openTool(tool.value ?? "timeline")}>
      <Icon name="tools" /> Tools
    </Button>
  </nav>
)

const App = () => {
  useEffect(() => {
    document.title = state.value === undefined ? "Colloquy emulator" : `Colloquy emulator: ${location.host}`
  }, [state.value === undefined])
  return (
    <div
      class={`app view-${view.value}${tool.value === undefined ? "" : " with-tools"}${panes.value.length === 2 ? " two-panes" : ""}`}
      style={sizeStyle()}
    >
      <TopBar />
      <main class="content">
        <div class="panes">
          {panes.value.map((pane) => (
            <PaneView key={pane.id} pane={pane} />
          ))}
          {panes.value.length === 2 ? <Divider name="split" label="Width of the first pane" /> : null}
        </div>
        {tool.value === undefined && view.value !== "tools" ? null : <Tools />}
      </main>
      <BottomBar />
      <Forward />
      <MiniApp />
      <Toasts />
    </div>
  )
}

/** Shows the page in an element, in place of the content of the element. */
export const mount = (root: Element): void => {
  root.replaceChildren()
  render(<App />, root)
}
