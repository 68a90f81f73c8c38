import * as Schema from "effect/Schema"

export class TrustError extends Schema.TaggedError<TrustError>()("TrustError", {
  setting: Schema.String,
  problem: Schema.Literals([
    "Unreadable",
    "NoCertificate",
    "Malformed",
    "Expired",
    "NotARoot",
    "InvalidProxy",
    "InvalidTimeout"
  ]),
  path: Schema.optionalKey(Schema.String),
  message: Schema.String
}) {}
