import {
  type StateKey,
  type StateStore,
  type StateWrite,
  type StoredState,
  userOfScope
} from "@colloquy/core/inbox/InboxStore"
import { decodeText, encodeText, type Query } from "../../../base/internal/database.ts"

type StateRow = {
  readonly scope: string
  readonly revision: string
  readonly version: number
  readonly expires_at: number | null
  readonly text: string
}

const toStored = ({ expires_at, revision, text, version }: StateRow): StoredState => ({
  text: decodeText(text),
  version,
  expiresAt: expires_at ?? undefined,
  revision
})

const columns = "scope, revision, version, expires_at, text"

/** The values of the state. */
export const makeStates = (query: Query) => {
  const get = ({ name, scope }: StateKey): StoredState | undefined => {
    const [row] = query<StateRow>(
      `SELECT ${columns} FROM colloquy_states WHERE name = ? AND scope = ?`,
      encodeText(name),
      encodeText(scope)
    )
    return row === undefined ? undefined : toStored(row)
  }

  const put = ({ name, revision, scope, value }: StateWrite): void => {
    const key = [encodeText(name), encodeText(scope)]
    if (value === undefined) {
      query("DELETE FROM colloquy_states WHERE name = ? AND scope = ?", ...key)
      return
    }
    const user = userOfScope(scope)
    query(
      `INSERT OR REPLACE INTO colloquy_states (name, scope, revision, version, expires_at, user, text)
        VALUES (?, ?, ?, ?, ?, ?, ?)`,
      ...key,
      revision,
      value.version,
      value.expiresAt ?? null,
      user === undefined ? null : encodeText(user),
      encodeText(value.text)
    )
  }

  return {
    get,
    /** Whether the stored revisions match the expected revisions. */
    isExpected: (writes: ReadonlyArray<StateWrite>): boolean =>
      writes.every((write) => get(write)?.revision === write.expected),
    write: (writes: ReadonlyArray<StateWrite>): void => writes.forEach(put),
    page: ({ after, limit, name }: Parameters<StateStore["page"]>[0]): ReadonlyArray<StateKey & StoredState> =>
      query<StateRow>(
        `SELECT ${columns} FROM colloquy_states WHERE name = ? AND scope > ? ORDER BY scope LIMIT ?`,
        encodeText(name),
        after === undefined ? "" : encodeText(after),
        limit
      ).map((row) => ({ name, scope: decodeText(row.scope), ...toStored(row) })),
    forget: (user: string): number =>
      query("DELETE FROM colloquy_states WHERE user = ? RETURNING 1", encodeText(user)).length,
    cleanup: (expiredBefore: number): void =>
      void query("DELETE FROM colloquy_states WHERE expires_at < ?", expiredBefore)
  }
}
