import { useState } from "preact/hooks"
import { Button, Submit } from "../parts/Button.tsx"
import { Field, valuesOf } from "../parts/Field.tsx"
import { Modal } from "../parts/Modal.tsx"
import { OpenRow } from "../parts/rows.tsx"
import { act, useView } from "./client.ts"
import { Code, List, momentOf } from "./List.tsx"

const Progress = () => {
  const { data } = useView("status")
  const replay = data?.replay
  return replay === undefined ? null : (
    <div class="row" role="status">
      <span>
        Replays: {replay.done} of {replay.total}
      </span>
      <progress max={replay.total} value={replay.done} aria-label="Progress of the replay" />
      <Button onClick={() => void act("stop-replay")}>Stop</Button>
    </div>
  )
}

const ReplayAll = ({ cause, onClose }: { readonly cause: string | undefined; readonly onClose: () => void }) => (
  <Modal title="Replay dead letters" onClose={onClose}>
    <form
      class="form"
      onSubmit={(event) => {
        void act("replay-all", { cause, rate: valuesOf(event)["rate"] })
        onClose()
      }}
    >
      <p>
        {cause === undefined
          ? "All dead letters are handled again."
          : `All dead letters whose error contains “${cause}” are handled again.`}
      </p>
      <Field label="Dead letters a second" hint="so that the bot does other work as well">
        <input name="rate" type="number" min={1} step={1} required value={10} />
      </Field>
      <Submit>Replay</Submit>
    </form>
  </Modal>
)

const Drop = ({ id, onClose }: { readonly id: string; readonly onClose: () => void }) => (
  <Modal title="Delete a dead letter" onClose={onClose}>
    <p>The update of the dead letter {id} is lost.</p>
    <div class="row">
      <Button
        class="danger"
        onClick={() => {
          void act("drop", { id })
          onClose()
        }}
      >
        Delete
      </Button>
    </div>
  </Modal>
)

/** The dead letters, which can be replayed one by one or all at a rate, and deleted. */
export const DeadLetters = () => {
  const [cause, setCause] = useState<string | undefined>()
  const [isReplaying, setReplaying] = useState(false)
  const [dropped, setDropped] = useState<string | undefined>()
  return (
    <>
      <Progress />
      <div class="inline-form">
        <Field label="Error contains">
          <input type="search" onInput={({ currentTarget }) => setCause(currentTarget.value || undefined)} />
        </Field>
        <Button onClick={() => setReplaying(true)}>Replay all…</Button>
      </div>
      <List name="dead" query={{ cause }} nothing="There is no dead letter.">
        {({ attempts, chat, error, failed_at, id, kind, update }) => (
          <OpenRow
            key={id}
            status={kind}
            kind="bad"
            title={error.split("\n", 1)[0]!}
            line={`${chat === undefined ? "no chat" : `chat ${chat}`}, attempts: ${attempts}, id ${id}`}
            aside={momentOf(failed_at)}
          >
            <div class="row">
              <Button onClick={() => void act("replay", { id })}>Replay</Button>
              <Button class="danger" onClick={() => setDropped(id)}>
                Delete…
              </Button>
            </div>
            <Code label="Error" value={error} />
            <Code label="Update" value={update} />
          </OpenRow>
        )}
      </List>
      {isReplaying ? <ReplayAll cause={cause} onClose={() => setReplaying(false)} /> : null}
      {dropped === undefined ? null : <Drop id={dropped} onClose={() => setDropped(undefined)} />}
    </>
  )
}
