/** Failures of loading code: names, modules and interfaces. */
import { fatal } from './row.ts'

export const LOAD_FAILURES = {
  UNBOUND_VARIABLE: fatal('Unbound variable: {name}', 'Unbound variable {name}'),
  UNBOUND_TYPE: fatal('Unbound type variable: {name}', 'Unbound type variable {name}'),
  NO_MEMBER: fatal('Module {module} has no such member: {member}'),
  NO_MODULE_AT_LOAD: fatal('Cannot find module:  {module}'),
  NO_INTERFACE: fatal('Cannot find interface:  {module}'),
  FORM_IN_DEFCAP: fatal(
    '{form} form not allowed within a defcap declaration.',
    '{form} form not allowed within defcap',
  ),
  OUTSIDE_MODULE: fatal('{form} not allowed outside of a module.', '{form} not allowed outside of a module'),
  WRONG_IMPLEMENTATION: fatal(
    'Module {module} does not correctly implement the function {member} from the interface: {interface}',
    'Module {module} does not correctly implement the function {member} from Interface {interface}',
  ),
  NOT_IMPLEMENTED: fatal(
    'Interface member not implemented. Module {module} does not implement interface {interface} member: {member}',
    'Interface member not implemented, module {module} does not implement interface {interface} member: {member}',
  ),
  RECURSIVE_MODULE: fatal(
    'Recursive cycle detected in module {module} in the following functions: {names}',
    'Recursive cycle detected in Module {module} in the following functions: [{names}]',
  ),
  WRONG_GOVERNANCE: fatal(
    'Invalid governance. Must be a 0-argument defcap or a keyset. Found: {name}',
    'Invalid governance. Must be a 0-argument defcap or a keyset. Found {name}',
  ),
  NO_VALUE: fatal(
    'Invalid definition in variable position: {name}',
    'Invalid definition in term variable position: {name}',
  ),
  INTERFACE_AS_MODULE: fatal(
    'Attempt to use an interface as a module reference failed: {module}',
    'Invalid Interface attempted to be used as module reference: {module}',
  ),
  EMPTY_BINDING: fatal('Bind expression lacks an accompanying body.', 'Bind expression lacks an accompanying body'),
  ROLLBACK_IN_LAST_STEP: fatal(
    "Rollbacks aren't allowed on the last step in: {name}",
    "rollbacks aren't allowed on the last step in: {name}",
  ),
  NO_ARGUMENT: fatal(
    'Invalid managed argument. No argument with the name: {name}',
    'Invalid Managed arg: no such arg with name {name}',
  ),
  OTHER_HASH: fatal(
    'Import error for module {module} . The module hash has not been blessed: {hash}',
    'Import error for module {module} , hash not blessed: {hash}',
  ),
  NO_SCHEMA: fatal(
    'definition in defschema position: {name} is not a valid schema.',
    'Invalid def in defschema position: {name} is not a valid schema',
  ),
  DYNAMIC_CALL: fatal('Invalid dynamic call: {name}'),
  DEFINED_TWICE: fatal('Duplicate definition: {name}'),
  SHADOWED_NATIVE: fatal(
    'Variable {name} shadows native with same name',
    'Variable {name} shadows native with the same name',
  ),
  WRONG_MANAGER: fatal(
    '{name} is not a valid managed capability manager function. {name} must be a defun',
    '{name} is not a valid managed capability manager function. {name} must be a defun',
  ),
  BOUND_VARIABLE: fatal(
    'Expected free variable in expression, found locally bound variable:  {name}',
    'Expected free variable in expression, found locally bound:  {name}',
  ),
  WRONG_BLESSING: fatal('Invalid blessed hash, incorrect format: {hash}'),
  NO_IMPORTS: fatal(
    'Invalid imports. Module or interface {module} does not implement the following members: {names}',
    'Invalid imports, module or interface {module} does not implement the following members: [{names}]',
  ),
  ENTITY_IN_STEP: fatal(
    'Pact 5 does not support entity expressions in defpact {name}.  ' +
      'Please ensure your defpact steps have the correct number of expressions',
    'Pact 5 does not support entity expressions in defpact {name}. ' +
      'Please ensure your defpact steps have the correct number of expressions',
  ),
  WRONG_FORM: fatal('Desugar syntax failure: {rule}'),
}
