/** make-backup and check-backup (PROTOCOL.md E.1), at the documented root paths and at the paths of live nodes. */
import { TEXT } from '#ground/schema/operation.ts'
import { operations } from '#ground/schema/operations.ts'
import type { BackupJobs } from '../../data/backup.ts'
import { writeRefusal } from '../app.ts'
import type { HttpRefusal } from '../refusal.ts'
import type { Handler, Router } from '../router.ts'

const disabled: HttpRefusal = { status: 404, message: 'backups are not enabled: start the node with `backupDir`' }

/** Adds the routes. If `jobs` is null, backups are disabled, and the routes respond 404. */
export function addBackupRoutes(router: Router, jobs: BackupJobs | null): void {
  const { makeBackup, checkBackup } = operations
  const start =
    (status: number): Handler<typeof makeBackup> =>
    ({ query }, reply) => {
      if (jobs === null) return writeRefusal(reply, disabled)
      return reply
        .code(status)
        .type(TEXT)
        .send(jobs.start(query.backupPact !== undefined))
    }
  router.serve(makeBackup, start(200))
  router.serveAt(router.prefix + makeBackup.path, makeBackup, start(202))
  const check: Handler<typeof checkBackup> = async ({ params }, reply) => {
    if (jobs === null) return writeRefusal(reply, disabled)
    const status = await jobs.status(params.backupId)
    if (status === undefined) return writeRefusal(reply, { status: 404, message: 'no such backup' })
    return reply.type(TEXT).send(status)
  }
  router.serve(checkBackup, check)
  router.serveAt(router.prefix + checkBackup.path, checkBackup, check)
}
