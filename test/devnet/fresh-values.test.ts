/**
 * Gas and results do not depend on how a node stores its values. A node that decodes every row again, as from disk, gets
 * the same results as one that keeps its objects in memory. Otherwise two nodes would disagree about a block.
 */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { decodeEntry, encodeEntry, type ModuleNumbers } from '../../src/devnet/ledger/entry-codec.ts'
import { MemoryVersions, type Version } from '../../src/devnet/ledger/versions.ts'
import type { Module } from '../../src/language/contracts/machine/ast.ts'
import { LedgerGround, resultOf, type TestCommand } from './ledger-ground.ts'

/** Modules stay the same objects; the index in the list is the number of a version. */
class Numbers implements ModuleNumbers {
  readonly #modules: Module[] = []

  idOf(module: Module): number {
    if (!this.#modules.includes(module)) this.#modules.push(module)
    return this.#modules.indexOf(module)
  }

  moduleOf(id: number): Module {
    return this.#modules[id]
  }
}

/** Decodes each value again for every reader, as if it came from disk. */
class FreshVersions extends MemoryVersions {
  readonly #numbers = new Numbers()

  override newest(chain: number, domain: string, key: string): Version | null {
    return this.#fresh(domain, super.newest(chain, domain, key))
  }

  #fresh(domain: string, version: Version | null): Version | null {
    if (version === null) return null
    const { record, value } = version
    const text = JSON.stringify(encodeEntry(domain, value, this.#numbers))
    return {
      record,
      value: decodeEntry(domain, JSON.parse(text), this.#numbers),
      older: this.#fresh(domain, version.older),
    }
  }
}

const PROBE = `
  (namespace "free")
  (module probe G
    (defcap G () true)
    (defschema box n:integer l:list o:object g:guard s:string)
    (deftable boxes:{box})
    (defcap TOLD (what:string l:list o:object) @event true)
    (defcap USED (n:integer) @managed n spend (enforce (>= n 0) "below zero"))
    (defun spend:integer (left:integer asked:integer) (enforce (<= asked left) "too many") (- left asked))
    (defun never:bool (n:integer) (enforce (= n n) "no"))
    (defun put:string (id:string n:integer)
      (write boxes id
        { "n": n
        , "l": (map (lambda (i) (format "item {}" [i])) (enumerate 0 n))
        , "o": { "a": (enumerate 0 n), "b": { "c": (make-list n "x") } }
        , "g": (if (= 0 (mod n 2)) (create-user-guard (never n)) (create-capability-guard (USED n)))
        , "s": (hash n) }))
    (defun copy:string (from:string to:string) (write boxes to (read boxes from)))
    (defun same:list (a:string b:string)
      (with-read boxes a { "l" := la, "o" := oa, "g" := ga }
        (with-read boxes b { "l" := lb, "o" := ob, "g" := gb }
          [ (= la lb) (= oa ob) (= ga gb) (= (read boxes a) (read boxes a)) (contains oa [ob oa])
            (length (distinct [la lb la])) (= (hash oa) (hash ob)) (length (+ la lb)) (take 1 (sort la)) ])))
    (defun grow:string (a:string b:string)
      (update boxes a { "l": (take 40 (+ (at "l" (read boxes b)) (at "l" (read boxes a)))), "o": (at "o" (read boxes b)) }))
    (defun tell:string (a:string) (with-read boxes a { "l" := l, "o" := o } (emit-event (TOLD a l o)) "told"))
    (defun all:integer (n:integer) (length (select boxes (where "n" (<= n)))))
    (defun use-it:string (a:string)
      (let ((n (at "n" (read boxes a))))
        (install-capability (USED n))
        (with-capability (USED n) (enforce-guard (at "g" (read boxes a))) "used")))
    (defpact move:string (a:string b:string)
      (step (with-read boxes a { "o" := o, "l" := l } (yield { "o": o, "l": l }) "sent"))
      (step (resume { "o" := o, "l" := l } (update boxes b { "o": o, "l": l }) (format "{}" [(= o (at "o" (read boxes a)))])))))
  (create-table boxes)
  (put "0" 0) (put "1" 3) (put "2" 3) (put "3" 8)`

const steps = fc.record({
  kind: fc.constantFrom('put', 'copy', 'same', 'same', 'grow', 'tell', 'all', 'use', 'move', 'next', 'new-module'),
  a: fc.nat({ max: 3 }),
  b: fc.nat({ max: 3 }),
  n: fc.nat({ max: 12 }),
})

it('gas and outputs equal those of a node that decodes every value again', () => {
  const succeeded = new Map<string, number>()
  const property = fc.property(fc.array(steps, { minLength: 10, maxLength: 25 }), (moves) => {
    const [ground, other] = [new LedgerGround('singleton'), new LedgerGround('singleton', new FreshVersions())]
    // The clock of the other node is ahead, so no block comes from its future.
    other.wait(86_400)
    const pacts: string[] = []
    const done = (kind: string, command: TestCommand) => {
      const { header, payload } = ground.grow(0, [command])
      // The other node executes the block and refuses it if the outputs differ.
      const addition = other.chains.insert(header, payload)
      expect(
        'why' in addition ? addition.why : addition.status,
        `${kind} ${Buffer.from(payload.transactions[0].output)}`,
      ).toBe('added')
      expect(other.chains.adopt(new Map([[0, header]]))).toBe(true)
      const { result, continuation } = resultOf(payload.transactions[0].output)
      if (result.status === 'success') succeeded.set(kind, (succeeded.get(kind) ?? 0) + 1)
      if (result.status === 'success' && kind === 'move' && continuation !== null) pacts.push(continuation.pactId)
      return result
    }
    const costly = { gasLimit: 100_000 }
    expect(done('load', ground.command(0, PROBE, costly))).toMatchObject({ status: 'success' })
    const goOn = () => {
      const pactId = pacts.shift()
      if (pactId !== undefined)
        done('next', ground.command(0, '', { ...costly, cont: { pactId, step: 1, proof: null } }))
    }
    for (const { kind, a, b, n } of moves) {
      if (kind === 'next') goOn()
      else done(kind, ground.command(0, codeOf(kind, `${a}`, `${b}`, n), costly))
    }
    goOn()
  })
  fc.assert(property, { numRuns: 8 })
  for (const kind of ['put', 'copy', 'same', 'grow', 'tell', 'all', 'use', 'move', 'next', 'new-module']) {
    expect(succeeded.get(kind) ?? 0, kind).toBeGreaterThan(0)
  }
})

function codeOf(kind: string, a: string, b: string, n: number): string {
  switch (kind) {
    case 'put':
      return `(free.probe.put "${a}" ${n})`
    case 'all':
      return `(free.probe.all ${n})`
    case 'tell':
      return `(free.probe.tell "${a}")`
    case 'use':
      // The word \`use\` itself names no function.
      return `(free.probe.use-it "${a}")`
    case 'new-module':
      return `(namespace "free") (module user G (defcap G () true) (use free.probe) (defconst N ${n}) (defun f () (+ N 1)))`
    default:
      return `(free.probe.${kind} "${a}" "${b}")`
  }
}
