/** The log of requests: a line, or a JSON object, for each. */
import { linePrinter, type Output } from '../cli/line.ts'
import type { Surroundings } from '../cli/program.ts'
import type { ServedRequest } from '../compose/devnet.ts'
import { printable } from '../core/printable.ts'

/** Most characters of a path that are shown. */
const MAX_SHOWN_PATH = 200

/** What writes a request to `out`, in the format of the other records. */
export function requestLog(
  format: 'text' | 'json',
  out: Output,
  { environment, nowMs }: Pick<Surroundings, 'environment' | 'nowMs'>,
): (request: ServedRequest) => void {
  const print = linePrinter(out, environment, nowMs)
  return ({ method, path: asked, status, milliseconds, bytes }) => {
    const path = printable(asked, MAX_SHOWN_PATH)
    const ms = Math.round(milliseconds * 10) / 10
    if (format === 'json') {
      const time = new Date(nowMs()).toISOString()
      out.write(`${JSON.stringify({ level: 'info', time, event: 'request', method, path, status, ms, bytes })}\n`)
      return
    }
    const text = `${method} ${path}  ${status ?? 'no answer'}  ${ms} ms  ${bytes} bytes`
    print({ label: 'request', style: 'dim', text })
  }
}
