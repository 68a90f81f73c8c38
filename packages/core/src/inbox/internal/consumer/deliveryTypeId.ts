/** Identifies a delivery. */
export const TypeId = "~@colloquy/core/Delivery"
