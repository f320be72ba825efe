/** For each operator, a fault that a good test notices and a weak one does not. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { operatorNames, operators } from '../../src/language/mutation/operators.ts'
import { changesOf, judge, moduleOf, mutantsIn, passes } from './planted.ts'

interface Case {
  readonly operator: string
  readonly members: string
  /** Part of the changes of the mutant, if the operator makes several. */
  readonly change?: string
  /** Notices nothing. */
  readonly weak: string
  readonly good: string
}

/** An account with its guard. A row that is missing has another error than a row that is refused. */
const TABLE = `(defschema row n:integer g:guard)
(deftable rows:{row})
(defun get (k:string) (at "n" (read rows k)))`
const KEYS = `(env-data {"a": ["alice"], "b": ["bob"]}) (env-keys ["alice"])`
const CREATE = '(create-table m.rows)'

const cases: readonly Case[] = [
  {
    operator: 'remove-enforce',
    members: '(defun pay (n:integer) (enforce (> n 0) "positive") n)',
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(expect-failure "positive" "positive" (m.pay -1))',
  },
  {
    operator: 'remove-guard',
    members: '(defun own (g:guard) (enforce-guard g))',
    weak: `${KEYS} (expect "alice may" true (m.own (read-keyset "a")))`,
    good: `${KEYS} (expect-failure "bob may not" "Keyset failure" (m.own (read-keyset "b")))`,
  },
  {
    operator: 'remove-branch',
    members: '(defun either (n:integer) (enforce-one "neither" [(enforce (= n 1) "one") (enforce (= n 2) "two")]))',
    change: '(enforce (= n 1) "one") ',
    weak: '(expect "two" true (m.either 2))',
    good: '(expect "one" true (m.either 1))',
  },
  {
    operator: 'remove-require',
    members:
      '(defcap C () true) (defun inner () (require-capability (C)) 1) (defun outer () (with-capability (C) (inner)))',
    weak: '(expect "outer" 1 (m.outer))',
    good: '(expect-failure "inner" "not granted" (m.inner))',
  },
  {
    operator: 'remove-capability',
    members: '(defcap C (n:integer) (enforce (> n 0) "positive")) (defun pay (n:integer) (with-capability (C n) n))',
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(expect-failure "positive" "positive" (m.pay -1))',
  },
  {
    operator: 'empty-capability',
    members: `(defcap C (n:integer) (enforce (> n 0) "positive") (enforce (< n 9) "small"))
      (defun pay (n:integer) (with-capability (C n) n))`,
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(expect-failure "small" (m.pay 10))',
  },
  {
    operator: 'remove-compose',
    members: `(defcap I () true) (defcap C () (compose-capability (I))) (defun inner () (require-capability (I)) 1)
      (defun outer () (with-capability (C) (try 0 (inner))))`,
    weak: '(expect-that "outer" (<= 0) (m.outer))',
    good: '(expect "outer" 1 (m.outer))',
  },
  {
    operator: 'open-guard',
    members: '(defcap C () true) (defun guard () (create-capability-guard (C)))',
    weak: '(expect-that "a guard" (!= "") (typeof (m.guard)))',
    good: '(expect-failure "closed" (enforce-guard (m.guard)))',
  },
  {
    operator: 'open-guard',
    members: `${TABLE} (defun open (k:string g:guard) (insert rows k {"n": 1, "g": g}))
      (defun own (k:string) (enforce-guard (at "g" (read rows k))))`,
    weak: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (expect "alice may" true (m.own "x"))`,
    good: `${KEYS} ${CREATE} (m.open "x" (read-keyset "b")) (expect-failure "alice may not" (m.own "x"))`,
  },
  {
    operator: 'remove-managed',
    members: '(defcap C (k:string) @managed true) (defun pay (k:string) (with-capability (C k) 1))',
    weak: '(env-sigs [{"key": "k", "caps": [(m.C "x")]}]) (expect "pays" 1 (m.pay "x"))',
    good: '(expect-failure "not installed" (m.pay "x"))',
  },
  {
    operator: 'keep-managed',
    members: `(defcap C (n:integer) @managed n left true) (defun left (managed:integer asked:integer)
      (enforce (<= asked managed) "exceeded") (- managed asked)) (defun pay (n:integer) (with-capability (C n) n))`,
    weak: '(env-sigs [{"key": "k", "caps": [(m.C 2)]}]) (expect "pays" 2 (m.pay 2))',
    good: '(env-sigs [{"key": "k", "caps": [(m.C 2)]}]) (m.pay 2) (expect-failure "no more" "exceeded" (m.pay 1))',
  },
  {
    operator: 'remove-install',
    members: `(defcap C (k:string) @managed true)
      (defun pay (k:string) (install-capability (C k)) (with-capability (C k) 1))`,
    weak: '(env-sigs [{"key": "k", "caps": [(m.C "x")]}]) (expect "pays" 1 (m.pay "x"))',
    good: '(expect "pays" 1 (m.pay "x"))',
  },
  {
    operator: 'remove-event',
    members: '(defcap PAID (n:integer) @event true) (defun pay (n:integer) (emit-event (PAID n)) n)',
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(m.pay 1) (expect "an event" 1 (length (env-events true)))',
  },
  {
    operator: 'remove-event',
    members: '(defcap PAID (n:integer) @event true) (defun pay (n:integer) (with-capability (PAID n) n))',
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(m.pay 1) (expect "an event" 1 (length (env-events true)))',
  },
  {
    operator: 'boundary',
    members: '(defun small (n:integer) (< n 5))',
    weak: '(expect "4" true (m.small 4)) (expect "6" false (m.small 6))',
    good: '(expect "5" false (m.small 5))',
  },
  {
    operator: 'opposite',
    members: '(defun same (a:integer b:integer) (= a b))',
    weak: '(expect "a boolean" "bool" (typeof (m.same 1 1)))',
    good: '(expect "same" true (m.same 1 1))',
  },
  {
    operator: 'and-or',
    members: '(defun both (a:bool b:bool) (and a b))',
    weak: '(expect "both" true (m.both true true))',
    good: '(expect "one" false (m.both true false))',
  },
  {
    operator: 'remove-not',
    members: '(defun no (a:bool) (not a))',
    weak: '(expect "a boolean" "bool" (typeof (m.no true)))',
    good: '(expect "no" false (m.no true))',
  },
  {
    operator: 'force-condition',
    members: '(defun name (n:integer) (if (= n 1) "one" "many"))',
    change: '=> true',
    weak: '(expect "one" "one" (m.name 1))',
    good: '(expect "many" "many" (m.name 2))',
  },
  {
    operator: 'force-condition',
    members: '(defun name (n:integer) (cond ((= n 1) "one") ((= n 2) "two") "many"))',
    change: '(= n 2) => false',
    weak: '(expect "one" "one" (m.name 1)) (expect-that "not one" (!= "one") (m.name 2))',
    good: '(expect "two" "two" (m.name 2))',
  },
  {
    operator: 'swap-branches',
    members: '(defun name (n:integer) (if (< n 2) "one" "many"))',
    weak: '(expect-that "a name" (!= "") (m.name 1))',
    good: '(expect "one" "one" (m.name 1))',
  },
  {
    operator: 'flip-boolean',
    members: '(defun yes () true)',
    weak: '(expect "a boolean" "bool" (typeof (m.yes)))',
    good: '(expect "yes" true (m.yes))',
  },
  {
    operator: 'negate-filter',
    members: '(defun large (all:[integer]) (filter (< 5) all))',
    weak: '(expect "one" 1 (length (m.large [1 9])))',
    good: '(expect "9" [9] (m.large [1 9]))',
  },
  {
    operator: 'negate-filter',
    members: `${TABLE} (defun add (k:string n:integer g:guard) (insert rows k {"n": n, "g": g}))
      (defun large () (map (at "n") (select rows (where "n" (< 5)))))`,
    weak: `${KEYS} ${CREATE} (m.add "x" 1 (read-keyset "a")) (m.add "y" 9 (read-keyset "a"))
      (expect "one" 1 (length (m.large)))`,
    good: `${KEYS} ${CREATE} (m.add "x" 1 (read-keyset "a")) (m.add "y" 9 (read-keyset "a"))
      (expect "9" [9] (m.large))`,
  },
  {
    operator: 'off-by-one',
    members: '(defun ten () 10)',
    weak: '(expect-that "large" (< 5) (m.ten))',
    good: '(expect "ten" 10 (m.ten))',
  },
  {
    operator: 'off-by-one',
    members: '(defconst RATE:decimal 0.25) (defun fee (n:decimal) (floor (* n RATE) 8))',
    change: '0.25 => 0.26',
    weak: '(expect-that "less" (> 1.0) (m.fee 1.0))',
    good: '(expect "a quarter" 0.25 (m.fee 1.0))',
  },
  {
    operator: 'off-by-one',
    members: '(defun half (n:decimal) (/ n 2.0))',
    change: '(+ 0.000000000001',
    weak: '(expect "about 2" 2.0 (round (m.half 4.0) 4))',
    good: '(expect "2" 2.0 (m.half 4.0))',
  },
  {
    operator: 'constant',
    members: '(defun begin () 0)',
    weak: '(expect "a number" "integer" (typeof (m.begin)))',
    good: '(expect "0" 0 (m.begin))',
  },
  {
    operator: 'arithmetic',
    members: '(defun sum (a:integer b:integer) (+ a b))',
    weak: '(expect "2 and 0" 2 (m.sum 2 0))',
    good: '(expect "2 and 3" 5 (m.sum 2 3))',
  },
  {
    operator: 'rounding',
    members: '(defun whole (n:decimal) (floor n))',
    weak: '(expect "2" 2 (m.whole 2.0))',
    good: '(expect "2" 2 (m.whole 2.5))',
  },
  {
    operator: 'empty-string',
    members: '(defun name () "one")',
    weak: '(expect "a string" "string" (typeof (m.name)))',
    good: '(expect "one" "one" (m.name))',
  },
  {
    operator: 'take-drop',
    members: '(defun start (text:string) (take 2 text))',
    weak: '(expect "2" 2 (length (m.start "abcd")))',
    good: '(expect "ab" "ab" (m.start "abcd"))',
  },
  {
    operator: 'exchange-write',
    members: `${TABLE} (defun open (k:string g:guard) (insert rows k {"n": 1, "g": g}))`,
    weak: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (expect "1" 1 (m.get "x"))`,
    good: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (expect-failure "once" (m.open "x" (read-keyset "a")))`,
  },
  {
    operator: 'remove-write',
    members: `${TABLE} (defun open (k:string g:guard) (write rows k {"n": 1, "g": g}) k)`,
    weak: `${KEYS} ${CREATE} (expect "x" "x" (m.open "x" (read-keyset "a")))`,
    good: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (expect "1" 1 (m.get "x"))`,
  },
  {
    operator: 'remove-default',
    members: `${TABLE} (defun open (k:string g:guard) (write rows k {"n": 1, "g": g}))
      (defun count (k:string) (with-default-read rows k {"n": 0} {"n" := n} n))`,
    weak: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (expect "1" 1 (m.count "x"))`,
    good: `${KEYS} ${CREATE} (expect "0" 0 (m.count "x"))`,
  },
  {
    operator: 'remove-call',
    members: '(defun check (n:integer) (enforce (> n 0) "positive")) (defun pay (n:integer) (check n) n)',
    weak: '(expect "pays" 1 (m.pay 1))',
    good: '(expect-failure "positive" (m.pay 0))',
  },
  {
    operator: 'swap-arguments',
    members: '(defun less (a:integer b:integer) (- a b)) (defun left (all:integer paid:integer) (less all paid))',
    weak: '(expect "0" 0 (m.left 2 2))',
    good: '(expect "1" 1 (m.left 3 2))',
  },
  {
    operator: 'wrong-account',
    members: `${TABLE} (defun open (k:string g:guard) (write rows k {"n": 1, "g": g}))
      (defun raise (from:string to:string) (update rows from {"n": 2}))`,
    weak: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (m.open "y" (read-keyset "a"))
      (expect "raises" "Write succeeded" (m.raise "x" "y"))`,
    good: `${KEYS} ${CREATE} (m.open "x" (read-keyset "a")) (m.open "y" (read-keyset "a"))
      (m.raise "x" "y") (expect "2" 2 (m.get "x"))`,
  },
  {
    operator: 'remove-rollback',
    members: '(defpact sale () (step-with-rollback "sold" "returned") (step "sent"))',
    weak: '(env-hash (hash "a")) (m.sale) (expect "sent" "sent" (continue-pact 1))',
    good: '(env-hash (hash "a")) (m.sale) (expect "returned" "returned" (continue-pact 0 true))',
  },
  {
    operator: 'yield-field',
    members: '(defpact move (n:decimal) (step (yield {"n": n})) (step (resume {"n" := m} m)))',
    weak: '(env-hash (hash "a")) (m.move 2.0) (expect-that "some" (<= 0.0) (continue-pact 1))',
    good: '(env-hash (hash "a")) (m.move 2.0) (expect "2" 2.0 (continue-pact 1))',
  },
  {
    operator: 'yield-field',
    members: `(defpact move (k:string) (step (let ((all {"k": k})) (yield all))) (step (resume {"k" := m} m)))`,
    weak: '(env-hash (hash "a")) (m.move "x") (expect-that "some" (!= "y") (continue-pact 1))',
    good: '(env-hash (hash "a")) (m.move "x") (expect "x" "x" (continue-pact 1))',
  },
  {
    operator: 'yield-target',
    members: '(defpact move (c:string) (step (yield {"n": 1} c)) (step (resume {"n" := m} m)))',
    weak: `(env-chain-data {"chain-id": "0"}) (env-hash (hash "a")) (m.move "1")
      (env-chain-data {"chain-id": "1"}) (expect "1" 1 (continue-pact 1))`,
    good: `(env-chain-data {"chain-id": "0"}) (env-hash (hash "a")) (m.move "1")
      (env-chain-data {"chain-id": "2"}) (expect-failure "only there" (continue-pact 1))`,
  },
]

describe('operators', () => {
  it('operators stand in LANGUAGE.md, in this order and with these words', () => {
    const [, list] = /## Planted faults\n[^|]*((?:\|.*\n)+)/.exec(readFileSync('docs/LANGUAGE.md', 'utf8')) ?? []
    const rows = operators.map(({ name, change }) => `| \`${name}\` | ${change} |`)
    expect(list).toBe(`${['| operator | fault |', '|---|---|', ...rows].join('\n')}\n`)
  })

  it('operators have a case each', () => {
    expect([...new Set(cases.map(({ operator }) => operator))].toSorted()).toEqual([...operatorNames].toSorted())
  })

  for (const { operator, members, change = '', weak, good } of cases) {
    it(`the operator ${operator} makes a fault that a good test notices: ${members.replace(/\s+/g, ' ').slice(0, 60)}`, () => {
      const contract = moduleOf(members)
      const mutant = mutantsIn(contract).find((each) => {
        return each.operator === operator && changesOf(contract, each).join(' ').includes(change)
      })
      if (mutant === undefined) throw new Error('the operator makes no such mutant')
      for (const test of [weak, good]) expect(passes(contract, test)).toEqual({ kind: 'survived' })
      expect(judge(contract, mutant, weak)).toEqual({ kind: 'survived' })
      expect(judge(contract, mutant, good)).toMatchObject({ kind: 'killed' })
    })
  }
})
