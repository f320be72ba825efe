/** Reads single keys of a terminal while it shows lines. */
import { readFileSync } from 'node:fs'
import type { ReadStream } from 'node:tty'

/** A terminal that sends keys. */
export type Keyboard = Pick<ReadStream, 'isTTY' | 'setRawMode' | 'on' | 'off' | 'resume' | 'pause' | 'unref'>

const CONTROL_C = '\u0003'
const CONTROL_Z = '\u001a'

export interface KeyHandlers {
  /** Called with each other character, in lower case. */
  readonly onKey: (character: string) => void
  /** Control-C, which a terminal in raw mode does not turn into a signal. */
  readonly onInterrupt: () => void
  /** Control-Z. */
  readonly onSuspend: () => void
}

/**
 * Reads keys. @returns a function that ends this, or null if there is no terminal, or if the process is in the
 * background, where a read would stop it.
 */
export function readKeys(keyboard: Keyboard, { onKey, onInterrupt, onSuspend }: KeyHandlers): (() => void) | null {
  if (!keyboard.isTTY || isInBackground()) return null
  const onData = (data: Buffer) => {
    for (const character of data.toString()) {
      if (character === CONTROL_C) onInterrupt()
      else if (character === CONTROL_Z) onSuspend()
      else onKey(character.toLowerCase())
    }
  }
  const listen = () => {
    keyboard.setRawMode(true)
    keyboard.resume()
  }
  listen()
  keyboard.on('data', onData)
  // After a stop, the shell has reset the terminal.
  process.on('SIGCONT', listen)
  return () => {
    process.off('SIGCONT', listen)
    keyboard.off('data', onData)
    keyboard.setRawMode(false)
    keyboard.pause()
  }
}

/** Whether another process group has the terminal. Known on Linux only; elsewhere always false. */
function isInBackground(): boolean {
  if (process.platform !== 'linux') return false
  try {
    // The name, in parentheses, may hold anything; after it: state, parent, group, session, terminal, its group.
    const [, , group, , , foreground] = readFileSync('/proc/self/stat', 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
    return group !== foreground
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === undefined) throw error
    // Without /proc the answer is unknown. A stopped miner would be worse than one without keys.
    return true
  }
}
