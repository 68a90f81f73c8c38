export { bot } from "./orderProgram.ts"
