/** Failures of loading code: names, modules and interfaces. */
import { fatal } from './row.ts'
export const LOAD_FAILURES = {}
