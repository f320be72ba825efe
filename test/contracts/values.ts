import fc from 'fast-check'
import { Decimal } from '../../src/language/contracts/values/decimal.ts'
import { CapabilityToken, Guard, ModuleRef, Time, UNIT, type Value } from '../../src/language/contracts/values/value.ts'

/** Decimals of all sizes. */
export const decimals = fc
  .tuple(fc.oneof(fc.bigInt(-1000n, 1000n), fc.bigInt(-(10n ** 40n), 10n ** 40n)), fc.integer({ min: 0, max: 60 }))
  .map(([mantissa, places]) => new Decimal(mantissa, places))

const names = fc.stringMatching(/^[a-z][a-z0-9-]{0,8}$/)
const modules = fc.oneof(
  names,
  fc.tuple(names, names).map(([ns, name]) => `${ns}.${name}`),
)
const members = fc.tuple(modules, names).map(([module, name]) => `${module}.${name}`)
/** Times from year 0 to 9999, with microseconds or without a fraction. Other fractions lose digits on the wire. */
export const times = fc
  .tuple(fc.bigInt(-62_167_219_200n, 253_402_300_799n), fc.bigInt(0n, 999n), fc.bigInt(0n, 999n))
  .map(([seconds, millis, micros]) => new Time(seconds * 1_000_000n + (micros === 0n ? 0n : millis * 1000n + micros)))

/** Nested values of all kinds. */
export const values: fc.Arbitrary<Value> = fc.letrec<{ value: Value; list: Value[] }>((tie) => ({
  list: fc.array(tie('value'), { maxLength: 4 }),
  value: fc.oneof(
    { maxDepth: 4, depthSize: 'small' },
    fc.oneof(fc.string(), fc.boolean(), fc.bigInt(), decimals, times, fc.constant(UNIT)),
    fc.oneof(
      fc
        .tuple(fc.uniqueArray(fc.string()), fc.constantFrom('keys-all', 'keys-any', 'keys-2', 'ns.mod.mine'))
        .map(([keys, predicate]) => new Guard({ kind: 'keyset', keys: keys.sort(), predicate })),
      modules.map((name) => new Guard({ kind: 'keysetRef', name })),
      fc.tuple(modules, names).map(([module, name]) => new Guard({ kind: 'module', module, name })),
      fc.tuple(names, names).map(([pactId, name]) => new Guard({ kind: 'pact', pactId, name })),
      fc.tuple(modules, fc.array(modules)).map(([name, interfaces]) => new ModuleRef(name, interfaces)),
    ),
    tie('list'),
    fc.array(fc.tuple(fc.string({ minLength: 1 }), tie('value')), { maxLength: 4 }).map((fields) => new Map(fields)),
    fc.tuple(members, tie('list')).map(([name, args]) => new CapabilityToken(name, args)),
    fc.tuple(members, tie('list')).map(([fun, args]) => new Guard({ kind: 'user', fun, args })),
    fc
      .tuple(members, tie('list'), fc.option(names))
      .map(([name, args, pactId]) => new Guard({ kind: 'capability', name, args, pactId })),
  ),
})).value
