/** Random programs: transactions that deploy, use, upgrade and redeploy modules, and start and continue pacts. */
import {
  type Data,
  type Expr,
  type Form,
  make,
  type Program,
  type SignedCapability,
  type Transaction,
} from '../program/tree.ts'
import { Dice } from './dice.ts'
import { EMPTY, Expressions, restartNames } from './expressions.ts'
import { type FaceInfo, type ModuleInfo, makeInterface, makeModule, type PactInfo } from './module.ts'

const { call, str, v } = make

const SIGNERS = ['a', 'b', 'c'].map((digit) => digit.repeat(64))
const [FIRST, SECOND, THIRD] = SIGNERS
const keysOf = (...keys: string[]): Data => ({ list: keys })

interface StartedPact {
  readonly transaction: number
  readonly pact: PactInfo
  next: number
}

export function makeProgram(seed: number): Program {
  restartNames()
  return new Programs(new Dice(seed), new Dice(-seed)).make()
}

class Programs {
  readonly #dice: Dice
  readonly #names: Dice
  readonly #x: Expressions
  readonly #transactions: Transaction[] = []
  readonly #faces: FaceInfo[] = []
  #modules: ModuleInfo[] = []
  readonly #pacts: StartedPact[] = []
  readonly #later: ((x: Expressions) => Expr)[] = []
  readonly #namespace: string | null
  /** Three of four programs have a module or two, so that many of them are tried. */
  readonly #isSmall: boolean
  #count = 0

  /** @param names chance of names in another form */
  constructor(dice: Dice, names: Dice) {
    this.#dice = dice
    this.#names = names
    this.#x = new Expressions(dice)
    this.#namespace = dice.chance(0.4) ? 'free' : null
    this.#isSmall = dice.chance(0.75)
  }

  make(): Program {
    const dice = this.#dice
    this.#begin()
    if (dice.chance(0.1)) this.#keepGuardOfAnother()
    const rounds = this.#isSmall ? dice.between(1, 2) : dice.between(2, 6)
    for (let i = 0; i < rounds; i++)
      dice.pick([
        () => this.#use(),
        () => this.#use(),
        () => this.#use(),
        () => this.#deploy(),
        () => this.#upgrade(),
        () => this.#start(),
        () => this.#continue(),
        () => this.#continue(),
        () => this.#compute(),
      ])()
    for (const later of dice.shuffle(this.#later).slice(0, 3)) this.#run([this.#expr(later(this.#x))])
    return { areResultsChecked: dice.chance(0.5), transactions: this.#transactions }
  }

  #run(forms: Form[]): void {
    this.#transactions.push({ run: { forms }, signers: this.#signers(), data: this.#data() })
  }

  #signers(): Transaction['signers'] {
    const limits = this.#modules.flatMap(({ capabilities }) => capabilities)
    const scoped: SignedCapability[] = limits.map(({ name, amount }) => ({
      name,
      args: ['alice', { decimal: `${amount}.0` }],
    }))
    const third = scoped.length > 0 && this.#dice.chance(0.5) ? [{ key: THIRD, capabilities: scoped }] : []
    return [
      { key: FIRST, capabilities: [] },
      ...(this.#dice.chance(0.8) ? [{ key: SECOND, capabilities: [] }] : []),
      ...third,
    ]
  }

  #data(): Transaction['data'] {
    const dice = this.#dice
    const module = this.#modules.find(({ form }) => form.defs.some(({ name }) => name === 'half'))
    const data: [string, Data][] = [
      [
        'admin',
        {
          object: [
            ['keys', keysOf(FIRST)],
            ['pred', 'keys-all'],
          ],
        },
      ],
      [
        'ks',
        {
          object: [
            ['keys', keysOf(FIRST, SECOND)],
            ['pred', 'keys-all'],
          ],
        },
      ],
      [
        'any',
        {
          object: [
            ['keys', keysOf(SECOND, THIRD)],
            ['pred', 'keys-any'],
          ],
        },
      ],
      [
        'two',
        {
          object: [
            ['keys', keysOf(FIRST, SECOND, THIRD)],
            ['pred', 'keys-2'],
          ],
        },
      ],
      ['list', keysOf(FIRST)],
      [
        'custom',
        {
          object: [
            ['keys', keysOf(FIRST, THIRD)],
            ['pred', module === undefined ? 'keys-any' : `${module.name}.half`],
          ],
        },
      ],
      ['n', BigInt(dice.below(1000))],
      ['digits', '77'],
      ['amount', { decimal: '12.75' }],
      ['s', 'given'],
    ]
    return data
  }

  /** Keysets, perhaps a namespace, interfaces and the first modules. */
  #begin(): void {
    const dice = this.#dice
    const first: Form[] = [this.#expr(call('define-keyset', str('admin'), call('read-keyset', str('admin'))))]
    if (this.#namespace !== null) {
      const guard = (): Expr => call(dice.chance(0.5) ? 'read-keyset' : 'keyset-ref-guard', str('admin'))
      first.push(this.#expr(call('define-namespace', str(this.#namespace), guard(), guard())))
    }
    this.#run(first)
    const forms: Form[] = []
    const faces = dice.between(0, this.#isSmall ? 1 : 2)
    const modules = dice.between(1, this.#isSmall ? 1 : 2)
    for (let i = 0; i < faces; i++) forms.push(this.#interface())
    for (let i = 0; i < modules; i++) forms.push(...this.#module())
    this.#run([...this.#entering(), ...forms])
  }

  #entering(): Form[] {
    return this.#namespace === null ? [] : [this.#expr(call('namespace', str(this.#namespace)))]
  }

  #expr(expr: Expr): Form {
    return { f: 'expr', expr }
  }

  #interface(): Form {
    const { form, ...face } = makeInterface(this.#x, `face${this.#faces.length}`, this.#namespace, this.#faces)
    this.#faces.push(face)
    return form
  }

  #module(forced: { readonly guards?: true } = {}): Form[] {
    const dice = this.#dice
    const module = makeModule(this.#x, {
      bare: `mod${this.#count++}`,
      namespace: this.#namespace,
      faces: dice.some(this.#faces, 0.6),
      others: dice.some(this.#modules, 0.7),
      keyset: dice.chance(0.3) ? 'admin' : null,
      share: this.#isSmall ? 0.25 : 0.45,
      hasGuards: forced.guards === true,
      names: this.#names,
    })
    this.#modules.push(module)
    return [module.form, ...this.#tables(module)]
  }

  /** A guard that one module made and another one keeps is enforced where only the other one is loaded. */
  #keepGuardOfAnother(): void {
    const dice = this.#dice
    const modules = [1, 2].map(() => this.#module({ guards: true }))
    this.#run([...this.#entering(), ...modules.flat()])
    const [one, other] = this.#modules.slice(-2)
    this.#run([this.#expr(call(`${other.name}.keep`, str('kept'), dice.pick(one.guards)(this.#x)))])
    this.#run([this.#expr(call(`${other.name}.enforce-kept`, str('kept')))])
  }

  #tables({ name, tables }: ModuleInfo): Form[] {
    return tables.map((table) => this.#expr(call('create-table', v(`${name}.${table}`))))
  }

  #deploy(): void {
    const forms: Form[] = []
    if (this.#dice.chance(0.3)) forms.push(this.#interface())
    forms.push(...this.#module())
    this.#run([...this.#entering(), ...this.#uses(1), ...forms, ...this.#uses(2)])
  }

  /** The same module again, or another one of its name; modules that name it keep the old definitions. */
  #upgrade(): void {
    const dice = this.#dice
    const old = dice.pick(this.#modules)
    const others = this.#modules.slice(0, this.#modules.indexOf(old))
    const isSame = dice.chance(0.3)
    const next = isSame
      ? { ...old, form: structuredClone(old.form) }
      : makeModule(this.#x, {
          bare: old.bare,
          namespace: this.#namespace,
          faces: old.faces,
          others: dice.some(others, 0.6),
          keyset: dice.chance(0.3) ? 'admin' : null,
          share: this.#isSmall ? 0.25 : 0.45,
          hasGuards: false,
          names: this.#names,
        })
    const tables = isSame
      ? []
      : this.#tables({ ...next, tables: next.tables.filter((each) => !old.tables.includes(each)) })
    this.#modules = this.#modules.map((each) => (each === old ? next : each))
    this.#run([...this.#entering(), ...this.#uses(1), next.form, ...tables, ...this.#uses(2)])
  }

  #use(): void {
    const dice = this.#dice
    const forms = dice.chance(0.3) ? this.#entering() : []
    if (this.#namespace !== null && dice.chance(0.1))
      forms.push(this.#expr(call('describe-namespace', str(this.#namespace))))
    // Rows that an earlier transaction wrote are read before anything names their modules.
    if (this.#later.length > 0 && dice.chance(0.7)) forms.push(this.#expr(dice.pick(this.#later)(this.#x)))
    this.#run([...forms, ...this.#uses(4)])
  }

  /** Up to this many calls, imports and nested calls. */
  #uses(most: number): Form[] {
    return Array.from({ length: this.#dice.below(most + 1) }, () => this.#oneUse())
  }

  #oneUse(): Form {
    const dice = this.#dice
    const module = dice.pick(this.#modules)
    if (dice.chance(0.1)) {
      const names = module.funs.length > 0 && dice.chance(0.5) ? [module.funs[0].name] : null
      return { f: 'use', module: module.name, names }
    }
    const action = dice.pick(module.actions)
    const expr = action.make(this.#x)
    if (action.later !== undefined) this.#later.push(action.later)
    if (action.writes !== true && dice.chance(0.15)) return this.#expr(call('try', str('failed'), expr))
    return this.#expr(expr)
  }

  #start(): void {
    const dice = this.#dice
    const pacts = this.#modules.flatMap((module) => module.pacts)
    if (pacts.length === 0) {
      this.#use()
      return
    }
    const pact = dice.pick(pacts)
    this.#pacts.push({ transaction: this.#transactions.length, pact, next: 1 })
    this.#run([...this.#uses(1), this.#expr(pact.start(this.#x))])
  }

  #continue(): void {
    const started = this.#pacts.filter(({ next, pact }) => next < pact.steps.length)
    if (started.length === 0) {
      this.#start()
      return
    }
    const each = this.#dice.pick(started)
    const rollback = each.pact.steps[each.next - 1] && this.#dice.chance(0.4)
    const step = rollback ? each.next - 1 : each.next
    this.#transactions.push({
      run: { startedBy: each.transaction, step, rollback },
      signers: this.#signers(),
      data: this.#data(),
    })
    each.next = rollback ? each.pact.steps.length : each.next + 1
  }

  /** Expressions without modules. */
  #compute(): void {
    const x = this.#x
    const scope = { ...EMPTY, hasData: true }
    this.#run(Array.from({ length: this.#dice.between(1, 4) }, () => this.#expr(x.of(x.sort(), scope, 4))))
  }
}
