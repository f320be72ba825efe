/** Tells when a file changes, however it is written: in place, or replaced by another of its name. */
import { unwatchFile, watchFile } from 'node:fs'

/** How often the file is looked at. Its path is looked at, not the file behind it, so that a replacement is seen too. */
const LOOK_MS = 500
/** A file that is being written is left alone until nothing has happened to it for this long. */
const SETTLE_MS = 300

/** Calls `onChange` after each change, also when the file goes away or comes, until the function returned is called. */
export function onFileChange(path: string, onChange: () => void): () => void {
  let timer: NodeJS.Timeout | undefined
  const listener = () => {
    clearTimeout(timer)
    timer = setTimeout(onChange, SETTLE_MS).unref()
  }
  watchFile(path, { interval: LOOK_MS, persistent: false }, listener)
  return () => {
    clearTimeout(timer)
    unwatchFile(path, listener)
  }
}
