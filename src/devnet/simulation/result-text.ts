/** Results of simulated commands as JSON text, with all digits of their numbers. */
import type { LayerEntry, ReadableState } from '#language/contracts/machine/state.ts'
import type { ObjectValue } from '#language/contracts/values/value.ts'
import { valueToJson } from '#language/contracts/values/wire.ts'

const TABLE = 'table:'

/** The rows among the writes of a command, as they were and as they are. @param state state before the command */
export function changedRowsText(state: ReadableState, writes: readonly LayerEntry[]): string {
  const rows = writes
    .filter(({ domain }) => domain.startsWith(TABLE))
    .map(({ domain, key, value }) => {
      const place = JSON.stringify({ table: domain.slice(TABLE.length), key })
      const before = rowText(state.get<ObjectValue>(domain, key))
      return `${place.slice(0, -1)},"before":${before},"after":${rowText(value as ObjectValue)}}`
    })
  return `[${rows.join(',')}]`
}

const rowText = (row: ObjectValue | undefined) => (row === undefined ? 'null' : valueToJson(row))

/** JSON text of the result of a command that no block takes. */
export function refusedText(reqKey: string, message: string): string {
  const error = { callStack: [], type: 'Refused', message, info: '' }
  const nothing = { logs: null, metaData: null, continuation: null, txId: null }
  return JSON.stringify({ gas: 0, result: { status: 'failure', error }, reqKey, ...nothing })
}
