/** Failures of tables, keysets, namespaces and modules in the database. */
import { fatal, refusal } from './row.ts'

export const DATABASE_FAILURES = {
  NO_ROW: refusal(
    'No value found in table {table} for key: {key:10}',
    'No value found in table {table} for key: {key}',
  ),
  ROW_EXISTS: fatal(
    'Error during database operation: Insert failed because the value already exists in the table: {table} ' +
      'at key "{key:10}"',
    'Error during database operation: Value already found while in Insert mode in table {table} at key "{key}"',
  ),
  NO_ROW_TO_UPDATE: fatal(
    'Error during database operation: Update failed because no row was found in table: {table} at key "{key:10}"',
    'Error during database operation: No row found during update in table {table} at key {key}',
  ),
  NO_TABLE: fatal(
    'Error during database operation: Table access failed because table {table} was not found.',
    'Error during database operation: Table {table} not found',
  ),
  TABLE_EXISTS: fatal(
    'Error during database operation: Creation of user table {table} failed because the table already exists.',
    'Error during database operation: Table {table} already exists',
  ),
  READ_ONLY: fatal(
    'Error during database operation: Operation is not allowed in read-only or system-only mode.',
    'Error during database operation: Operation disallowed in read-only or sys-only mode',
  ),
  NO_TRANSACTION: fatal(
    'Error during database operation: Cannot execute {command} because no transaction is currently in progress.',
    'Error during database operation: No Transaction currently in progress, cannot execute "{command}"',
  ),
  NOT_BLESSED: fatal(
    'Execution aborted, hash not blessed for module: {module} with hash {hash}',
    'Execution aborted, hash not blessed for module {module}: {hash}',
  ),
  OTHER_FIELDS: fatal(
    'Insert failed because of a schema mismatch with {schema}',
    'Attempted insert failed due to schema mismatch. Expected: {fields}, received {row}',
  ),
  NO_KEYSET: fatal('Cannot find keyset in the database: {name}', "Cannot find keyset in database: '{name}"),
  WRONG_KEYSET: fatal(
    'Invalid keyset format. Check that keys have the right length and signature scheme.',
    'Invalid keyset format: {keyset}',
  ),
  OUTSIDE_NAMESPACE: fatal(
    'Cannot define keyset outside of a namespace.',
    'Cannot define keyset outside of a namespace',
  ),
  OTHER_NAMESPACE: fatal(
    'Defining keyset failed because of a namespace mismatch. Expected namespace: {namespace}',
    'Error defining keyset, namespace mismatch, expected {namespace}',
  ),
  NO_NAMESPACE: fatal('Namespace not found: {namespace}'),
  CLOSED_ROOT: fatal(
    'Namespace installation failed. Cannot install modules in the root namespace.',
    'Namespace installation error: cannot install in root namespace',
  ),
  FIXED_INTERFACE: fatal('Interface cannot be upgraded: {module}'),
}
