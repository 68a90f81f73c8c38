/**
 * The events of a simulation: events of people, of the bot, of its processes, and of the platform.
 *
 * @since 0.1.0
 */

/**
 * A process of the bot started or ended, or something happened to it. `killed`: the process ended at once, without finalizers.
 * `stopping`: the process shuts down. `frozen`: the process does nothing until it is `continued`. `cut`: the process cannot reach
 * the store until it has `joined`. `clock`: the clock of the process was moved.
 *
 * @category models
 * @since 0.1.0
 */
export interface ProcessChanged {
  readonly type: "process"
  readonly process: string
  readonly change: "started" | "killed" | "frozen" | "continued" | "stopping" | "ended" | "clock" | "cut" | "joined"
  readonly detail?: string
}

/**
 * A process sent a request to the platform.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestSent {
  readonly type: "sent"
  readonly process: string
  /** The number of the request, which later events have too. */
  readonly request: number
  /** The run of the handler that makes the request. `undefined`: no handler makes the request. */
  readonly run: number | undefined
  readonly method: string
  readonly path: string
  /** The body, of which at most 2,000 characters are kept. */
  readonly body: string
}

/**
 * The platform carried out a request.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestExecuted {
  readonly type: "executed"
  readonly process: string
  readonly request: number
  readonly method: string
  /** The path with the query. */
  readonly path: string
  readonly status: number
  readonly body: string
  readonly answer: string
}

/**
 * A process received the response to a request, or the connection was lost.
 *
 * @category models
 * @since 0.1.0
 */
export interface RequestAnswered {
  readonly type: "answered"
  readonly process: string
  readonly request: number
  /** `undefined`: the connection was lost. */
  readonly status: number | undefined
}

/**
 * The store carried out an operation.
 *
 * @category models
 * @since 0.1.0
 */
export interface StoreApplied {
  readonly type: "store"
  readonly process: string
  readonly operation: string
  /** When the process sent the operation. */
  readonly sentAt: number
  readonly request: unknown
  readonly result: unknown
}

/**
 * The simulation injected a fault.
 *
 * @category models
 * @since 0.1.0
 */
export interface FaultInjected {
  readonly type: "fault"
  readonly process: string
  /** The kind of the fault, such as `resetAfter`. */
  readonly kind: string
  /** The target of the fault, such as `request 7`. */
  readonly detail?: string
}

/**
 * A process of the bot has logged a message.
 *
 * @category models
 * @since 0.1.0
 */
export interface Logged {
  readonly type: "log"
  readonly process: string
  readonly level: string
  readonly message: string
}

/**
 * A person did something.
 *
 * @category models
 * @since 0.1.0
 */
export interface PersonActed {
  readonly type: "did"
  /** The first name of the person. */
  readonly person: string
  readonly user_id: number
  /** The chat, if the person did something in a chat. */
  readonly chat_id: number | undefined
  /** The name of the action, which is a method of `Person`, such as `press` or `send`. */
  readonly action: string
  /** The text that the person wrote, or the text of the button that the person pressed. */
  readonly text: string
  /** The message with the button that the person pressed, or the message that the person sent. */
  readonly message_id: string | undefined
  /** The callback, if the person pressed a button that the bot has to answer. */
  readonly callback_id: string | undefined
}

/**
 * A handler of the bot began to handle an update. An update that is handled again is another run.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandlingBegan {
  readonly type: "began"
  readonly process: string
  /** Distinguishes the runs of handlers. */
  readonly run: number
  /** The update: the id of its message or callback, or its type, chat and time. */
  readonly update: string
  readonly update_type: string
  readonly chat_id: number | undefined
}

/**
 * A run of a handler ended. A handler whose process is killed does not end.
 *
 * @category models
 * @since 0.1.0
 */
export interface HandlingEnded extends Omit<HandlingBegan, "type"> {
  readonly type: "ended"
  /** `declined`: the handler does not take the update. `defect`: the handler has died of a mistake in the code. */
  readonly outcome: "success" | "declined" | "failure" | "defect" | "interrupted"
  /** Why the handler has failed. */
  readonly error?: string
}

/**
 * A handler called an endpoint. If an earlier run has made the call, the call makes no request.
 *
 * @category models
 * @since 0.1.0
 */
export interface EndpointCalled {
  readonly type: "asked"
  readonly process: string
  readonly run: number
  /** The name of the endpoint, such as `Messages.send`. */
  readonly endpoint: string
  /** The text of the request, if the request has one. */
  readonly text: string
}

/**
 * A service of the author carried out a call.
 *
 * @category models
 * @since 0.1.0
 */
export interface ServiceCalled {
  readonly type: "called"
  readonly process: string
  /** The run of the handler that makes the call. `undefined`: no handler makes the call. */
  readonly run: number | undefined
  /** The name of the service in the option `services`. */
  readonly service: string
  readonly method: string
  readonly args: ReadonlyArray<unknown>
  /** The result, or the error if `isSuccess` is `false`. */
  readonly result: unknown
  readonly isSuccess: boolean
}

/**
 * Anything that happens in a simulation, with its time in milliseconds since the beginning.
 *
 * @category models
 * @since 0.1.0
 */
export type SimulationEvent = (
  | ProcessChanged
  | PersonActed
  | HandlingBegan
  | HandlingEnded
  | EndpointCalled
  | ServiceCalled
  | RequestSent
  | RequestExecuted
  | RequestAnswered
  | FaultInjected
  | Logged
) & { readonly at: number }
