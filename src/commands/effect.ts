/** Refuses flags that would have no effect: whoever types one expects an effect. */
import type { Config } from '../cli/config.ts'
import { NewcutError } from '../core/errors.ts'

/** Options, and why they have no effect here. */
export interface Idle {
  readonly names: readonly string[]
  readonly reason: string
  readonly hint?: string
}

/**
 * Throws NewcutError BAD_OPTION for the first of these options that was typed as a flag. A file or the environment may
 * hold them, since it serves several commands.
 */
export function refuseIdle(
  { values, origins }: Pick<Config<unknown>, 'origins'> & { values: object },
  idle: Idle[],
): void {
  for (const { names, reason, hint } of idle) {
    const name = names.find((each) => origins.get(each) === 'flag')
    if (name === undefined) continue
    const flag = flagOf(name, (values as Readonly<Record<string, unknown>>)[name])
    throw new NewcutError('BAD_OPTION', `${flag} has no effect: ${reason}`, { hint })
  }
}

/** Options of TLS that have no effect on the connection to this node. */
export function idleForTls(node: string, fingerprint: string | undefined): Idle[] {
  const idle: Idle[] = []
  if (!node.startsWith('https:')) {
    const hint = 'use an https:// address'
    idle.push({ names: ['insecure', 'ca', 'fingerprint'], reason: `there is no TLS on ${node}`, hint })
  }
  if (fingerprint !== undefined) {
    idle.push({ names: ['insecure', 'ca'], reason: '--fingerprint decides which certificate is accepted' })
  }
  return idle
}

/** The flag as it was typed, without its value. */
function flagOf(name: string, value: unknown): string {
  return value === false ? `--no-${name}` : `--${name}`
}
