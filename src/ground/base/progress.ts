/** Progress of long operations. */

export interface Progress {
  /** Name of the operation, such as `loading blocks`. */
  readonly what: string
  readonly done: number
  readonly total: number
}

/** Called many times a second; null when the operation ends. */
export type OnProgress = (progress: Progress | null) => void
