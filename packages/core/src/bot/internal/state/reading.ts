/** The member of a state that has the operations of `State.stream` and `State.top`. */
export const reading: unique symbol = Symbol("@colloquy/core/State/reading")
