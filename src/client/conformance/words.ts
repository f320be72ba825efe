/** Words of the cases that options name too. */

/** Permissions and abilities of a node that cases may need. A public node offers `read-only` alone. */
export const caseNeeds = ['read-only', 'funded-account', 'mine', 'pending', 'reorg', 'devnet-orders'] as const
/** A permission or an ability of a node that a case needs. */
export type CaseNeed = (typeof caseNeeds)[number]

/** Whose rules apply where the description of the interface and nodes differ. */
export const caseReleases = ['spec', 'live 2.32', 'live 3.2', 'newcut'] as const
/** Rules that a case judges by: those of the description, of a release of live nodes, or of newcut. */
export type Release = (typeof caseReleases)[number]
