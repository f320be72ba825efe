/** Reads the JSON files of a folder that a schema describes: cases of nodes, and situations of clients. */
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describeError, fileProblem, operatingError } from '#ground/base/errors.ts'
import { parsePlainJson } from '#ground/base/json.ts'
import { readUserText } from '#ground/base/user-file.ts'
import type { Static, TSchema } from '#ground/schema/typebox.ts'
import { validatorOf } from '#ground/schema/validator.ts'
import { conformanceErrors } from './errors.ts'

/** A file of the folder, whose content fits the schema. */
interface JsonFile<Content> {
  readonly path: string
  /** Name of the file without `.json`. */
  readonly group: string
  readonly content: Content
}

/** Words for the content of the files, in errors. */
interface FolderDescription {
  /** Completes "the folder of ...". */
  readonly content: string
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
  words: FolderDescription,
): JsonFile<Static<Schema>>[] {
  let names: string[]
  try {
    names = readdirSync(folder).filter((name) => name.endsWith('.json'))
  } catch (error) {
    throw operatingError(
      conformanceErrors.unreadableFolder,
      { content: words.content, folder, why: fileProblem(error) },
      error,
    )
  }
  if (names.length === 0) {
    throw operatingError(conformanceErrors.emptyFolder, { folder, files: words.files })
  }
  const validator = validatorOf(schema)
  return names.toSorted().map((name) => {
    const path = join(folder, name)
    const content = readJsonFile(path)
    if (!validator.accepts(content)) {
      throw operatingError(conformanceErrors.badFile, { place: path, fault: validator.complaint(content) })
    }
    return { path, group: name.slice(0, -'.json'.length), content: content as Static<Schema> }
  })
}

function readJsonFile(path: string): unknown {
  let text: string
  try {
    text = readUserText(path)
  } catch (error) {
    throw operatingError(conformanceErrors.unreadableFile, { path, why: fileProblem(error) }, error)
  }
  try {
    return parsePlainJson(text)
  } catch (error) {
    throw operatingError(conformanceErrors.notJson, { path, why: describeError(error) }, error)
  }
}
