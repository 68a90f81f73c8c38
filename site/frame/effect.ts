export * from "effect"
