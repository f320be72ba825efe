/** All operators, in the order of reports. */
import type { Operator } from './fault.ts'
import { conditions } from './operators/conditions.ts'
import { effects } from './operators/effects.ts'
import { rights } from './operators/rights.ts'
import { values } from './operators/values.ts'

export const operators: readonly Operator[] = [...rights, ...conditions, ...values, ...effects]

export const operatorNames: readonly string[] = operators.map(({ name }) => name)
