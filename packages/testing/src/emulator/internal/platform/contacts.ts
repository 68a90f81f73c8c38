import type { Attachment } from "@colloquy/core/model/Attachment"
import * as Effect from "effect/Effect"
import type { BotState, UserState } from "./state.ts"
import { fullNameOf } from "./users.ts"

const escape = (text: string): string => text.replaceAll(/[\\,;]/g, "\\$&").replaceAll(/\r?\n/g, "\\n")

/** Returns a vCard of a name and phone numbers. */
export const vCardOf = (name: string, ...phones: ReadonlyArray<string>): string =>
  [
    "BEGIN:VCARD",
    "VERSION:3.0",
    `FN:${escape(name)}`,
    ...phones.map((phone) => `TEL;TYPE=cell:${phone}`),
    "END:VCARD"
  ].join("\r\n")

const encoder = new TextEncoder()

const hmacSha256 = async (key: string, text: string): Promise<string> => {
  const algorithm = { name: "HMAC", hash: "SHA-256" }
  const imported = await globalThis.crypto.subtle.importKey("raw", encoder.encode(key), algorithm, false, ["sign"])
  const signature = await globalThis.crypto.subtle.sign("HMAC", imported, encoder.encode(text))
  return Array.from(new Uint8Array(signature), (byte) => byte.toString(16).padStart(2, "0")).join("")
}

/**
 * The contact that a user sends when a button of a bot requests it: the contact of the user, with a signature that
 * proves the phone number to the bot.
 *
 * @assumption requestedContact
 * @assumption contactHash
 */
export const requestedContact = (
  { token }: BotState,
  { phone, profile: user }: UserState
): Effect.Effect<Attachment> => {
  const vcf_info = vCardOf(fullNameOf(user), phone)
  return Effect.map(
    Effect.promise(() => hmacSha256(token, vcf_info)),
    (hash) => ({ type: "contact", payload: { vcf_info, hash, max_info: user } })
  )
}
