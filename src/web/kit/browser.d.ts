/** What browsers and Node.js have, and the types of the language lack. */
declare global {
  interface ErrorConstructor {
    /** Number of frames that a new error records. */
    stackTraceLimit: number
  }
}

export {}
