/**
 * Capabilities that the language itself grants while it enforces a keyset or a namespace. A signer can limit a
 * signature to one of them.
 */
import { evalError } from '../../errors.ts'
import { CapabilityToken } from '../../values/value.ts'
import type { Run } from '../ast.ts'
import { isGranted, withGranted } from './capabilities.ts'

/**
 * `DEFINE_KEYSET`: changes a keyset. `MODULE_KEYSET`: loads or upgrades a module that a keyset governs.
 * `DEFINE_NAMESPACE`: changes a namespace. `NAMESPACE`: defines keysets and installs modules in a namespace.
 */
type LanguageCapability = 'DEFINE_KEYSET' | 'MODULE_KEYSET' | 'DEFINE_NAMESPACE' | 'NAMESPACE'

/** Module that names the capabilities. No contract can have this name on the public network. */
const MODULE = 'pact'

/**
 * Runs `body` with a capability of the language granted.
 * @param subject name of the keyset, module or namespace
 * @throws EvalError if the capability is granted already
 */
export function withLanguageCapability<T>(run: Run, name: LanguageCapability, subject: string, body: () => T): T {
  if (!run.block.rules.isLanguage52) return body()
  const token = new CapabilityToken(`${MODULE}.${name}`, [subject])
  if (isGranted(run, token)) throw evalError(`magic cap already acquired: ${name}`)
  return withGranted(run, [token], body)
}
