/** `import 'newcut'` loads this module: the package has an entry for each task, and none for all of them. */

import { operatingError } from '#ground/base/errors.ts'
import { composeErrors } from './errors.ts'

throw operatingError(composeErrors.noRootEntry)
