/** All failures that live nodes and test files word, by name. */
import { DATABASE_FAILURES } from './database.ts'
import { LOAD_FAILURES } from './loading.ts'
import { PACT_FAILURES } from './pacts.ts'
import { RUN_FAILURES } from './running.ts'

export const FAILURES = { ...LOAD_FAILURES, ...RUN_FAILURES, ...DATABASE_FAILURES, ...PACT_FAILURES }

export type FailureKey = keyof typeof FAILURES
