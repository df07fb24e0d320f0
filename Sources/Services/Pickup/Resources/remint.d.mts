/** The types of remint.mjs and remint.js. The gateway's description, openapi.json, has the same answers. */

/** A token of the signed-in user, and the call of the vendor's SDK that accepts it. */
export interface Answer {
  app: string
  vendor: string
  /** The vendor's token, a compact JWS. The token is a secret: keep it in memory only. */
  token: string
  /** The expiry of the token in Unix seconds, by the gateway's clock. */
  expires_at: number
  /** The remaining life of the token in seconds, counted from the answer, for devices whose clock is wrong. */
  expires_in: number
  /** The time of the gateway's clock, in Unix seconds. */
  server_time: number
  /** The version of the token. A newer token of a user has a higher version. */
  version: number
  /** The challenge that the token answers, for vendors with challenges such as Dotdigital. */
  challenge?: string
  apply: { call: string; identifier?: string }
}

/**
 * A refusal that another try cannot change, or a note about a call or stream that continues. The error contains no token and no
 * session.
 */
export declare class RemintError extends Error {
  readonly name: 'RemintError'
  readonly app: string
  /** The status of the answer, 400 to 499; 0 if there was no such answer. */
  readonly status: number
  /**
   * The gateway's code, such as `invalid_session` (401), `identity_mismatch` (403) or `unknown_app` (404). Codes of the client:
   * `refused` (a refusal without a code), `no_session` (`session()` returned nothing), `closed` (`close()` was called), and
   * `no_answer` (five minutes without an answer; the call continues).
   */
  readonly code: string
  readonly detail?: string
  /** The time before the next try in seconds, if the gateway named one. */
  readonly retryAfter?: number
}

/** The parameters of a connection. */
export interface Options {
  /** The address of the gateway, such as `https://tokens.example.com`. */
  url: string
  /** An app of the gateway's configuration. */
  app: string
  /**
   * Returns the user's current session. Without this function, the browser's cookies are the session. If the function throws, the
   * client tries again.
   */
  session?: () => string | null | undefined | Promise<string | null | undefined>
  /** Passes `answer.token` to the SDK. The client calls it for reports and for the tokens of a stream. */
  apply?: (answer: Answer) => void
  /** The device's name: 1 to 128 printable ASCII characters without spaces. */
  device?: string
  /** Receives each refusal, even if the app does not await the promise of the call. */
  onProblem?: (problem: RemintError) => void
}

export interface Client {
  /**
   * Reports a failure of the SDK, waits for the new token and applies it. Equal reports at the same time share one call.
   *
   * Rejects with a RemintError if the gateway refuses the report, or with the reason of `signal`.
   */
  report(failure: unknown, options?: { signal?: AbortSignal }): Promise<Answer>
  /**
   * Returns a token with more than `minLife` seconds (0 to 86400, 60 by default) of life, for SDKs that ask the app. In the last
   * tenth to fifth of a token's life, at most an hour, it returns the known token and renews it in the background. It does
   * not call `apply`. Callers at the same time share one call.
   *
   * Rejects with a RemintError if the gateway refuses the call, or with the reason of `signal`.
   */
  token(options?: { minLife?: number; signal?: AbortSignal }): Promise<Answer>
  /** Applies each newer token. Resolves after `close()`, and rejects with a RemintError if the gateway refuses the stream. */
  stream(): Promise<void>
  /**
   * Tries again at once, unless the gateway named a time, and replaces a silent stream. Outside of browsers, call this function when
   * the app returns to the foreground (React Native's `AppState`).
   */
  resume(): void
  /** Cancels every call and the stream, and deletes the known tokens. Call this function at sign-out. */
  close(): void
}

/** Returns a client for one app and one user. The client makes no call yet. */
export declare function connect(options: Options): Client

declare const remint: { connect: typeof connect; RemintError: typeof RemintError }
export default remint

declare global {
  /** The exports of the module. The script remint.js sets this variable. */
  var remint: { connect: typeof connect; RemintError: typeof RemintError }
}
