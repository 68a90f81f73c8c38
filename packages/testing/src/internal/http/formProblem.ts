import * as Multipart from "effect/http/Multipart"
import type { MultipartError } from "effect/http/MultipartParser"

const headerProblems = {
  TooManyHeaders: "has too many headers",
  HeaderTooLarge: "has headers that are too large",
  InvalidHeaderName: "has a malformed header",
  InvalidHeaderValue: "has a malformed header"
}

const problemOf = (error: MultipartError): string => {
  switch (error._tag) {
    case "InvalidBoundary":
      return "The form's content-type has no boundary"
    case "BadHeaders":
      return `A part of the form ${headerProblems[error.error.reason]}`
    case "InvalidDisposition":
      return "A part of the form has no content-disposition with a name"
    case "ReachedLimit":
      return "A field of the form is too large"
    case "EndNotReached":
      return "The form ends before its last boundary"
  }
}

/** What is wrong with a form, where its body could be read. */
export const formProblem = (error: unknown): string | undefined =>
  Multipart.isMultipartError(error) && error.reason._tag !== "InternalError"
    ? problemOf(error.reason.cause as MultipartError)
    : undefined
