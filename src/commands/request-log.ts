/** The log of requests: an event for each. */
import { printable } from '../base/printable.ts'
import type { ConsoleEvent } from '../cli/notices.ts'
import type { ServedRequest } from '../compose/devnet.ts'

/** The longest path to show, in characters. */
const MAX_SHOWN_PATH = 200

export function requestEvent({ method, path, status, milliseconds, bytes }: ServedRequest): ConsoleEvent {
  const ms = Math.round(milliseconds * 10) / 10
  return { type: 'request', method, path: printable(path, MAX_SHOWN_PATH), status, ms, bytes }
}
