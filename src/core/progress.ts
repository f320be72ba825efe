/** How far something is that may take long. */

export interface Progress {
  /** What is done, such as `loading blocks`, or the name of an order. */
  readonly what: string
  readonly done: number
  readonly total: number
}

/** Hears of it many times a second; null: it is over. */
export type OnProgress = (progress: Progress | null) => void
