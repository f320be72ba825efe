/**
 * Who may change a module and reach into its tables: a command that is its administrator. A command becomes one by
 * deploying the module, or by `acquire-module-admin`, which asks the governance; touching the module does not suffice
 * (language 5).
 */
import { evalError } from '../errors.ts'
import { CapabilityToken } from '../values/value.ts'
import type { Module } from './definitions.ts'
import { enforceKeysetNamed } from './guards.ts'
import type { Machine } from './machine.ts'

/** Throws EvalError unless the command has become administrator of the module before. */
export function requireAdmin(machine: Machine, module: Pick<Module, 'name'>): void {
  if (machine.admin.has(module.name)) return
  throw evalError(
    `Module admin necessary for operation but has not been acquired: ${module.name}`,
    null,
    `Module admin is necessary for operation but has not been acquired: ${module.name}`,
  )
}

/**
 * Makes the command administrator of the module until it ends. Throws ContractError unless the governance of the module
 * agrees.
 */
export function acquireAdmin(machine: Machine, module: Module): void {
  if (machine.admin.has(module.name)) return
  if (module.isInterface) throw evalError(`Interfaces have no administrator: ${module.name}`)
  const { governance } = module
  if ('keyset' in governance) enforceKeysetNamed(machine, governance.keyset)
  else machine.capabilities.asGovernance(new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  machine.admin.add(module.name)
}
