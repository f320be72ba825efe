/** Watches a file for changes, whether it is written in place or replaced. */
import { unwatchFile, watchFile } from 'node:fs'

/** Polling interval. Polls the path, not the inode, so it notices a replacement too. */
const LOOK_MS = 500
/** Debounce: `onChange` waits until the file has not changed for this long. */
const SETTLE_MS = 300

/**
 * Calls `onChange` after each change, including creation and deletion.
 * @returns a function that stops watching
 */
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
