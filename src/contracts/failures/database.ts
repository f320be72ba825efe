/** Failures of tables and of what the database keeps. */
import { fatal } from './row.ts'

export const DATABASE_FAILURES = {
  NO_TRANSACTION: fatal(
    'Error during database operation: Cannot execute {command} because no transaction is currently in progress.',
    'Error during database operation: No Transaction currently in progress, cannot execute "{command}"',
  ),
}
