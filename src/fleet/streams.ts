/** What all that is kept in JetStream has in common: streams are only read where they are as they should be. */
import { JetStreamApiError, type JetStreamManager, type StreamConfig } from '@nats-io/jetstream'

/** How many servers of a cluster keep a copy; undefined: the number stays as it is, and is 1 for a new fleet. */
export type Replicas = number | undefined

/** Nanoseconds of a millisecond. */
export const NANOSECONDS = 1e6
/** What JetStream answers where there is no such stream, and no such consumer. */
const MISSING: readonly number[] = [10_059, 10_014]
/** What it answers while it lacks the leader that could make or change something. */
const UNAVAILABLE = 10_008

/** null: there is no such thing. */
export async function unlessMissing<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch (error) {
    if (error instanceof JetStreamApiError && MISSING.includes(error.code)) return null
    throw error
  }
}

/** The entries of `wanted` that are other in `present`. */
export function othersOf(wanted: object, present: object): [string, unknown][] {
  const values: Readonly<Record<string, unknown>> = { ...present }
  return Object.entries(wanted).filter(([key, value]) => String(values[key]) !== String(value))
}

/** Changes what is other than wanted. A cluster that lacks a server refuses, and keeps what it has. */
export async function adapt(
  manager: JetStreamManager,
  config: StreamConfig,
  wanted: Partial<StreamConfig>,
  onWarning: (message: string) => void,
): Promise<void> {
  const other = othersOf(wanted, config)
  if (other.length === 0) return
  try {
    await manager.streams.update(config.name, wanted)
  } catch (error) {
    if (!(error instanceof JetStreamApiError) || error.code === UNAVAILABLE) throw error
    const changes = other.map(([key, value]) => `${key} ${value}`).join(', ')
    onWarning(`${config.name} stays as it is, without ${changes}: ${error.message}`)
  }
}
