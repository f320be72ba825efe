/** Reads the JSON files of a folder that a schema describes: cases of nodes, and situations of clients. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, fileProblem, NewcutError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { readUserText } from '#ground/base/user-file.ts'
import type { Static, TSchema } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'

/** A file of the folder, whose content fits the schema. */
interface JsonFile<Content> {
  readonly path: string
  /** Name of the file without `.json`. */
  readonly group: string
  readonly content: Content
}

/** Words for the content of the files, in errors. */
interface FolderWords {
  /** Completes "the folder of ...". */
  readonly of: string
  /** Completes "FOLDER has no ...". */
  readonly files: string
}

/**
 * Reads all JSON files of a folder, in the order of their names.
 * @throws NewcutError BAD_INPUT that names the folder, or the file and its fault
 */
export function readJsonFolder<Schema extends TSchema>(
  folder: string,
  schema: Schema,
  { of, files }: FolderWords,
): JsonFile<Static<Schema>>[] {
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (error) {
    throw new NewcutError('BAD_INPUT', `cannot read the folder of ${of} ${folder}: ${fileProblem(error)}`)
  }
  if (names.length === 0) {
    throw new NewcutError('BAD_INPUT', `${folder} has no ${files}`, { hint: 'their names end in .json' })
  }
  const validator = validatorOf(schema)
  return names.toSorted().map((name) => {
    const path = join(folder, name)
    let content: unknown
    try {
      content = parsePlainJson(readUserText(path))
    } catch (error) {
      throw new NewcutError('BAD_INPUT', `${path}: ${describeError(error)}`)
    }
    if (!validator.accepts(content)) throw new NewcutError('BAD_INPUT', `${path}: ${validator.complaint(content)}`)
    return { path, group: name.slice(0, -'.json'.length), content: content as Static<Schema> }
  })
}
