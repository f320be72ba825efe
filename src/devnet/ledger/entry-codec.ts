/** Serializes entries of the state to JSON and back. References to modules become ids of their versions. */
import { FunctionDefinition, type Module, type PactState } from '#language/contracts/machine/ast.ts'
import type { ExpansionProbe } from '#language/contracts/machine/expand/probe.ts'
import type { Namespace } from '#language/contracts/machine/state.ts'
import { type ModuleSource, moduleSource, reloadModule } from '#language/contracts/stored-modules.ts'
import { decodeStoredValue, encodeStoredValue, type StoredValue } from '#language/contracts/values/keep.ts'
import type { Guard, ObjectValue, Value } from '#language/contracts/values/value.ts'

/** Id of a module version: its name for one of the first block, a number for all others. */
export type ModuleId = string | number

/** Maps module versions to ids, and ids to module versions. */
export interface ModuleNumbers {
  idOf(module: Module): ModuleId
  moduleOf(id: ModuleId): Module
}

export type EncodedModule = Omit<ModuleSource, 'constants' | 'modules' | 'scope'> & {
  readonly constants: readonly (readonly [name: string, value: StoredValue])[]
  readonly modules: readonly (readonly [name: string, module: ModuleId])[]
  readonly scope: readonly (readonly [name: string, module: ModuleId])[]
}

interface EncodedPact {
  readonly id: string
  readonly module: ModuleId
  readonly fun: string
  readonly args: StoredValue
  readonly step: number
  readonly yielded: { readonly data: StoredValue; readonly provenance: unknown; readonly source: string | null } | null
  readonly nested: readonly EncodedPact[]
}

export function encodeEntry(domain: string, value: unknown, modules: ModuleNumbers): unknown {
  switch (domain) {
    case 'tables':
    case 'counters':
      return value
    case 'modules':
      return modules.idOf(value as Module)
    case 'namespaces': {
      const { user, admin } = value as Namespace
      return [encodeStoredValue(user), encodeStoredValue(admin)]
    }
    case 'pacts':
      return value === null ? null : encodePact(value as PactState, modules)
    default:
      return encodeStoredValue(value as Value)
  }
}

export function decodeEntry(domain: string, json: unknown, modules: ModuleNumbers): unknown {
  switch (domain) {
    case 'tables':
    case 'counters':
      return json
    case 'modules':
      return modules.moduleOf(json as ModuleId)
    case 'namespaces': {
      const [user, admin] = (json as StoredValue[]).map((guard) => decodeStoredValue(guard) as Guard)
      return { user, admin } satisfies Namespace
    }
    case 'pacts':
      return json === null ? null : decodePact(json as EncodedPact, modules)
    default:
      return decodeStoredValue(json as StoredValue)
  }
}

function encodePact({ id, fun, args, step, yielded, nested }: PactState, modules: ModuleNumbers): EncodedPact {
  return {
    id,
    module: modules.idOf(fun.module),
    fun: fun.name,
    args: encodeStoredValue(args),
    step,
    yielded: yielded === null ? null : { ...yielded, data: encodeStoredValue(yielded.data) },
    nested: [...nested.values()].map((each) => encodePact(each, modules)),
  }
}

function decodePact({ id, module, fun, args, step, yielded, nested }: EncodedPact, modules: ModuleNumbers): PactState {
  const definition = modules.moduleOf(module).get(fun)
  if (!(definition instanceof FunctionDefinition))
    throw new Error(`the module of the pact ${id} has no function ${fun}`)
  return {
    id,
    fun: definition,
    args: decodeStoredValue(args) as readonly Value[],
    step,
    yielded: decodeYield(yielded),
    nested: new Map(nested.map((each) => [each.id, decodePact(each, modules)])),
  }
}

function decodeYield(kept: EncodedPact['yielded']): PactState['yielded'] {
  if (kept === null) return null
  const { data, source } = kept
  const provenance = kept.provenance as NonNullable<PactState['yielded']>['provenance']
  return { data: decodeStoredValue(data) as ObjectValue, provenance, source: provenance === null ? null : source }
}

export function encodeModule(module: Module, modules: ModuleNumbers): EncodedModule {
  const { constants, modules: dependencies, scope, ...rest } = moduleSource(module)
  return {
    ...rest,
    constants: [...constants].map(([name, value]) => [name, encodeStoredValue(value)]),
    modules: [...dependencies].map(([name, each]) => [name, modules.idOf(each)]),
    scope: [...scope].map(([name, each]) => [name, modules.idOf(each)]),
  }
}

/**
 * Restores a module.
 * @param probe follows its code; default: nothing does
 * @throws ContractError if the record does not load
 */
export function decodeModule(
  { constants, modules, scope, ...rest }: EncodedModule,
  numbers: ModuleNumbers,
  probe: ExpansionProbe | null = null,
): Module {
  const source: ModuleSource = {
    ...rest,
    constants: new Map(constants.map(([name, value]) => [name, decodeStoredValue(value)])),
    modules: new Map(modules.map(([name, id]) => [name, numbers.moduleOf(id)])),
    scope: new Map(scope.map(([name, id]) => [name, numbers.moduleOf(id)])),
  }
  return probe === null ? reloadModule(source) : reloadModule(source, undefined, undefined, probe)
}
