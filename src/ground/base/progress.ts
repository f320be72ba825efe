/** Progress of long operations. */

export interface Progress {
  /** Name of the operation, such as `loading blocks`. */
  readonly what: string
  readonly done: number
  /** 0 while it is unknown. */
  readonly total: number
  /** The unit, such as `suites`, if `what` does not name it. Items of a unit differ in size, so no time is predicted. */
  readonly unit?: string
}

/** Called many times a second; null when the operation ends. */
export type OnProgress = (progress: Progress | null) => void
