/** Texts of failures while code is loaded: names, modules and interfaces. */
import { expect, it } from 'vitest'
import type { FailureKey } from '../../src/language/contracts/failures/tables.ts'
import { provoked } from './provoked.ts'

const PROVOKED: Partial<Record<FailureKey, readonly [code: string, runner: string, wire: string]>> = {
  NO_MODULE_AT_LOAD: [
    'x',
    'Cannot find module:  x (no variable, member, import or module has this name)',
    'Cannot find module:  x',
  ],
  UNBOUND_VARIABLE: [
    'x::f',
    'Unbound variable x (the left side of :: is a parameter or variable)',
    'Unbound variable: x',
  ],
  NO_MEMBER: ['(m.x)', 'Module m has no such member: x', 'Module m has no such member: x'],
  FORM_IN_DEFCAP: [
    '(module n G (defcap G () (with-capability (C) true)) (defcap C () true))',
    'with-capability form not allowed within defcap (compose-capability grants a capability there)',
    'with-capability form not allowed within a defcap declaration.',
  ],
  RECURSIVE_MODULE: [
    '(module n G (defcap G () true) (defun a () (b)) (defun b () (a)))',
    'Recursive cycle detected in Module n in the following functions: [a, b]',
    'Recursive cycle detected in module n in the following functions: a, b',
  ],
  NO_VALUE: [
    'm.s',
    'Invalid definition in term variable position: s (a schema is not a value)',
    'Invalid definition in variable position: s',
  ],
  NO_ARGUMENT: [
    '(module n G (defcap G () true) (defcap M (x) @managed y h true) (defun h (a b) a))',
    'Invalid Managed arg: no such arg with name y',
    'Invalid managed argument. No argument with the name: y',
  ],
  NO_IMPORTS: [
    '(module n G (defcap G () true) (use m [nothing f lost]))',
    'Invalid imports, module or interface m does not implement the following members: [lost, nothing]',
    'Invalid imports. Module or interface m does not implement the following members: lost, nothing',
  ],
  WRONG_BLESSING: [
    '(module n G (defcap G () true) (bless "x"))',
    'Invalid blessed hash, incorrect format: x (43 characters of base64url are expected)',
    'Invalid blessed hash, incorrect format: x',
  ],
  INTERFACE_AS_MODULE: [
    '(acquire-module-admin face)',
    'Invalid Interface attempted to be used as module reference: face (it is an interface; a module is expected)',
    'Attempt to use an interface as a module reference failed: face',
  ],
  DYNAMIC_CALL: [
    '(module n G (defcap G () true) (defun g () 1) (defun f () (g::x)))',
    'Invalid dynamic call: g::x (the left side of :: is a parameter or variable)',
    'Invalid dynamic call: g::x',
  ],
  DEFINED_TWICE: [
    '(module n G (defcap G () true) (defun f () 1) (defun f () 1))',
    'Duplicate definition: n.f',
    'Duplicate definition: n.f',
  ],
  ROLLBACK_IN_LAST_STEP: [
    '(module n G (defcap G () true) (defpact p () (step-with-rollback 1 2)))',
    "rollbacks aren't allowed on the last step in: n.p",
    "Rollbacks aren't allowed on the last step in: n.p",
  ],
  NOT_IMPLEMENTED: [
    '(module n G (defcap G () true) (implements face))',
    'Interface member not implemented, module n does not implement interface face member: f',
    'Interface member not implemented. Module n does not implement interface face member: f',
  ],
  WRONG_GOVERNANCE: [
    '(module n f (defun f () 1))',
    'Invalid governance. Must be a 0-argument defcap or a keyset. Found n.f',
    'Invalid governance. Must be a 0-argument defcap or a keyset. Found: n.f',
  ],
}

it.each(Object.entries(PROVOKED))('loading %s fails with the texts of runner and node', (_, [code, runner, wire]) => {
  expect(provoked(code)).toEqual([runner, wire])
})
