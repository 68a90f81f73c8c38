import { Uploads } from "@colloquy/core"
import { Emulator } from "@colloquy/testing"
import { assert } from "@effect/vitest"
import * as Effect from "effect/Effect"
import { assumes } from "../support/fidelity.ts"
import { GET, failsWith } from "../support/http.ts"
import * as Scene from "../support/scene.ts"

assumes(
  "B",
  "Errors",
  "A fault can return 500, 502, 503 or 504 with internal.error or service.unavailable, or without JSON",
  Effect.gen(function* () {
    for (const status of [500, 502, 503, 504]) {
      yield* Emulator.setFaults([{ path: "/me", status }])
      yield* failsWith(GET("/me"), status, status === 503 ? "service.unavailable" : "internal.error")
      for (const body of ["", "<html>Bad gateway</html>"]) {
        yield* Emulator.setFaults([{ path: "/me", status, body }])
        const answer = yield* GET("/me")
        assert.deepStrictEqual([answer.status, answer.text], [status, body])
      }
    }
  })
)

assumes(
  "C",
  "POST /uploads",
  "A fault can let an upload host return 200 with {error_code, error_data}, or with a retval other than 1",
  Effect.gen(function* () {
    const { url } = yield* Uploads.create({ type: "video" })
    const path = "/upload/*"
    yield* Emulator.setFaults([{ path, status: 200, code: "video.broken", message: "It cannot be played" }])
    const failed = yield* Scene.upload({ url }, "a.mp4", "content")
    assert.strictEqual(failed.status, 200)
    assert.deepStrictEqual(JSON.parse(failed.text), { error_code: "video.broken", error_data: "It cannot be played" })
    yield* Emulator.setFaults([{ path, body: "<retval>4</retval>" }])
    assert.deepStrictEqual(yield* Scene.upload({ url }, "a.mp4", "content"), {
      status: 200,
      text: "<retval>4</retval>"
    })
    yield* Emulator.setFaults([])
    assert.strictEqual((yield* Scene.upload({ url }, "a.mp4", "content")).text, "<retval>1</retval>")
  })
)
