/** Types of names that browsers and Node.js have, and the language lacks. */
declare global {
  interface ErrorConstructor {
    /** Number of frames that a new error records. */
    stackTraceLimit: number
  }
}

export {}
