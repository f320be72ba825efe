/** Who may change a module and reach into its tables: whoever satisfies its governance. */
import { evalError } from '../errors.ts'
import { CapabilityToken } from '../values/value.ts'
import type { Module } from './definitions.ts'
import { enforceKeysetNamed } from './guards.ts'
import type { Machine } from './machine.ts'

/** Throws where the command may not administrate the module. Once it may, it may until its end. */
export function requireAdmin(machine: Machine, module: Module): void {
  if (machine.admin.has(module.name)) return
  if (module.isInterface) throw evalError(`Interfaces have no administrator: ${module.name}`)
  const { governance } = module
  if ('keyset' in governance) enforceKeysetNamed(machine, governance.keyset)
  else machine.capabilities.asGovernance(new CapabilityToken(`${module.name}.${governance.capability}`, []), module)
  machine.admin.add(module.name)
}
