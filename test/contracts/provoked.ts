/** Provokes failures in a test file with a module of every kind of definition. */
import { runTests } from '../../src/language/contracts/repl/run.ts'

const MODULE = `(begin-tx)
(interface face (defun f:string (x:string)))
(module m G
  (defcap G () true)
  (defschema s a:integer)
  (deftable t:{s})
  (deftable u:{s})
  (defun f:string (x:string) x)
  (defun two (x y) x)
  (defun mgr:integer (held:integer asked:integer) (- held asked))
  (defcap PLAIN (x:string) true)
  (defcap EVENT () @event true)
  (defcap AUTO () @managed true)
  (defcap MANAGED (n:integer) @managed n mgr true)
  (defun need () (require-capability (PLAIN "a")))
  (defun use-managed () (with-capability (MANAGED 1) true))
  (defun use-auto () (with-capability (AUTO) true))
  (defun held () (enforce-guard (create-capability-guard (PLAIN "a"))))
  (defun emit () (emit-event (PLAIN "a")))
  (defpact child () (step-with-rollback 1 2) (step 3))
  (defpact plain () (step 1) (step 2))
  (defpact long () (step 1) (step 2) (step 3))
  (defpact mixed () (step (child)) (step 2))
  (defpact counts () (step (long)) (step 2))
  (defpact forgets () (step (plain)) (step 2))
  (defpact late () (step 1) (step (plain)))
  (defpact twice () (step [(plain) (plain)]) (step 2))
  (defpact unyielded () (step 1) (step (resume {"a" := a} a)))
  (defpact crossing () (step (yield {"a": 1} "7")) (step (resume {"a" := a} a)))
  (defpact back () (step-with-rollback (yield {"a": 1} "7") 1) (step 2))
  (defpact guarded () (step (yield {"g": (create-pact-guard "g")})) (step 2)))
(create-table t)
(insert t "a" {"a": 1})
`

/** The failure of the code, in both wordings: of test files first. */
export function provoked(code: string): readonly [runner: string, wire: string] {
  const { stopped } = runTests('provoked.repl', { resolve: (_, path) => path, read: () => `${MODULE}${code}` })
  if (stopped === null) throw new Error(`nothing fails: ${code}`)
  return [stopped.message, stopped.wireMessage]
}

/** Hash of the module `m`. */
export const MODULE_HASH = hashOfModule()

function hashOfModule(): string {
  const { output } = runTests('hash.repl', {
    resolve: (_, path) => path,
    read: () => `${MODULE}(print (at 'hash (describe-module "m")))`,
  })
  return JSON.parse(output[0])
}
