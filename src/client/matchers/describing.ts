/** Shows a result in the message of a failed assertion. */
import { type ReadResult, readDecimal } from './reading.ts'

/** Maximum number of events, and of characters of a value, that a message shows. */
const MAX_EVENTS = 20
const MAX_VALUE = 200

/** @param index position in a simulation; null for a result on its own */
export function describeResult({ error, data, gas, events, name }: ReadResult, index: number | null): string[] {
  const title = index === null ? [] : [`command ${index}${name === null ? '' : ` ${name}`}`]
  const outcome = error === null ? [`result  ${valueText(data)}`] : [`error   ${error.type}: ${error.message}`]
  const at = error === null || error.info === '' ? [] : [`at      ${error.info}`]
  return [
    ...title,
    ...outcome,
    ...at,
    `gas     ${readDecimal(gas)?.toString() ?? 'unknown'}`,
    ...eventLines(events),
    '',
  ]
}

function eventLines(events: ReadResult['events']): string[] {
  if (events.length === 0) return ['events  none']
  const lines = events.slice(0, MAX_EVENTS).map(({ name, params }) => `${name} ${params.map(valueText).join(' ')}`)
  const rest = events.length - lines.length
  return [...lines, ...(rest > 0 ? [`and ${rest} more`] : [])].map(
    (line, i) => `${i === 0 ? 'events' : '      '}  ${line}`,
  )
}

function valueText(value: unknown): string {
  const number = readDecimal(value)
  const text = number === null ? (JSON.stringify(value) ?? String(value)) : number.toString()
  return text.length > MAX_VALUE ? `${text.slice(0, MAX_VALUE - 1)}…` : text
}
