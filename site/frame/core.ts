export * from "@colloquy/core"
