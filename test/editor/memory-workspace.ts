/** A workspace of files in memory, all in one folder. */
import type { ModuleTexts } from '../../src/language/editor/workspace/live-modules.ts'
import { Workspace, type WorkspaceFiles } from '../../src/language/editor/workspace/workspace.ts'

/**
 * @param texts open documents
 * @param moduleTexts modules of a network; null for none
 * @param closed files of the folder that are not open
 */
export function workspaceOf(
  texts: Readonly<Record<string, string>>,
  moduleTexts: ModuleTexts | null = null,
  closed: Readonly<Record<string, string>> = {},
): Workspace {
  const files: WorkspaceFiles = {
    read: (file) => texts[file] ?? closed[file] ?? null,
    resolve: (_, path) => path,
    list: () => Object.keys(closed),
    refresh: () => undefined,
    systemFile: (name) => `/system/${name}.pact`,
  }
  const live = { areVirtual: true, onArrival: () => undefined, onTrouble: () => undefined }
  const workspace = new Workspace(files, moduleTexts, live)
  for (const [file, text] of Object.entries(texts)) workspace.change(file, text)
  return workspace
}
