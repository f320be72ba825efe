/** Files of situations: faults and odd answers that a client meets, and what it must do. docs/CONFORMANCE.md. */
import { operatingError } from '#ground/base/errors.ts'
import { suggestName } from '#ground/base/similar-names.ts'
import { operations } from '#ground/schema/operations.ts'
import { type Static, Type } from '#ground/schema/typebox.ts'
import { conformanceErrors } from '../errors.ts'
import { readJsonFolder } from '../json-folder.ts'
import { optionalField } from '../optional-field.ts'

const closed = { additionalProperties: false } as const
const Text = Type.String({ minLength: 1 })
const Operations = Type.Array(Text, { minItems: 1 })
const Milliseconds = Type.Integer({ minimum: 0 })

/** The fate of a connection or a stream. */
const Fault = Type.Union(['close', 'close-after', 'half', 'end'].map((name) => Type.Literal(name)))
/** The form of a true answer. */
const Shape = Type.Union(
  ['chunks', 'spaces', 'other-order', 'upper-case-headers', 'plain-type', 'late'].map((name) => Type.Literal(name)),
)

const Answer = Type.Object(
  {
    status: Type.Integer({ minimum: 200, maximum: 599 }),
    headers: Type.Optional(Type.Record(Type.String(), Type.String())),
    text: Type.Optional(Type.String()),
    json: Type.Optional(Type.Unknown()),
  },
  closed,
)

const Again = Type.Object(
  {
    by: Operations,
    same: Type.Union(['bytes', 'key', 'operation'].map((name) => Type.Literal(name))),
  },
  closed,
)
const Never = Type.Object({ forMs: Milliseconds, evenLater: Type.Optional(Type.Boolean()) }, closed)

const Situation = Type.Object(
  {
    name: Text,
    source: Text,
    on: Operations,
    after: optionalField(Type.Integer({ minimum: 0 }), 'usual answers before it'),
    times: optionalField(Type.Integer({ minimum: 1 }), 'requests that meet it'),
    busyMs: optionalField(Milliseconds, 'time in which every request meets it'),
    most: optionalField(Type.Integer({ minimum: 0 }), 'requests that the client may make in that time'),
    answer: optionalField(Answer, 'a recorded answer; the node is not asked'),
    fault: optionalField(Fault, 'what happens to the connection'),
    shape: optionalField(Shape, 'the form of the true answer'),
    merge: optionalField(
      Type.Record(Type.String(), Type.Unknown()),
      'fields of the true answer; null removes one (RFC 7396)',
    ),
    again: optionalField(Again, 'the client must ask again'),
    never: optionalField(Never, 'the client must not repeat the request'),
    mayGiveUp: optionalField(Type.Boolean(), 'whether a client may end here: nothing is lost'),
  },
  closed,
)
type SituationInFile = Static<typeof Situation>

/** The format of a file of situations. */
export const SituationFile = Type.Object(
  { $schema: Type.Optional(Type.String()), about: Text, situations: Type.Array(Situation, { minItems: 1 }) },
  closed,
)

/** A situation with the file that it stands in. */
export interface ClientSituation extends SituationInFile {
  /** Name of the file without `.json`. */
  readonly group: string
}

const ways = ['answer', 'fault', 'shape', 'merge'] as const

/**
 * Reads all files of situations of a folder, in the order of their names.
 * @throws NewcutError BAD_INPUT that names file and situation
 */
export function readSituations(folder: string): ClientSituation[] {
  const files = readJsonFolder(folder, SituationFile, { content: 'situations', files: 'files of situations' })
  return files.flatMap(({ path, group, content }) => {
    for (const each of content.situations) checkSituation(each, `${path}: "${each.name}"`)
    return content.situations.map((each) => ({ ...each, group }))
  })
}

function checkSituation(each: SituationInFile, place: string): void {
  const wrong = (fault: string) => operatingError(conformanceErrors.badFile, { place, fault })
  const found = ways.filter((way) => each[way] !== undefined)
  if (found.length !== 1) throw wrong(`expected one of ${ways.join(', ')}, got ${found.join(' and ') || 'none'}`)
  if ((each.again === undefined) === (each.never === undefined)) throw wrong('expected one of again and never')
  if ((each.busyMs === undefined) !== (each.most === undefined)) throw wrong('busyMs and most go together')
  if (
    each.busyMs !== undefined &&
    (each.answer === undefined || each.times !== undefined || each.again === undefined)
  ) {
    throw wrong('busyMs goes with answer and again, without times')
  }
  const unknown = [...each.on, ...(each.again?.by ?? [])].find((id) => !Object.hasOwn(operations, id))
  if (unknown !== undefined) {
    throw wrong(`there is no endpoint ${unknown}${suggestName(unknown, Object.keys(operations))}`)
  }
}
