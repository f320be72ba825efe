/** A workspace of files in memory, all in one folder. */
import type { ModuleTexts } from '../../src/editor/live-modules.ts'
import { Workspace, type WorkspaceFiles } from '../../src/editor/workspace.ts'

/** @param moduleTexts modules of a network; null for none */
export function workspaceOf(
  texts: Readonly<Record<string, string>>,
  moduleTexts: ModuleTexts | null = null,
): Workspace {
  const files: WorkspaceFiles = {
    read: (file) => texts[file] ?? null,
    resolve: (_, path) => path,
    list: () => [],
    refresh: () => undefined,
    systemFile: (name) => `/system/${name}.pact`,
  }
  const live = { areVirtual: true, onArrival: () => undefined, onTrouble: () => undefined }
  const workspace = new Workspace(files, moduleTexts, live)
  for (const [file, text] of Object.entries(texts)) workspace.change(file, text)
  return workspace
}
