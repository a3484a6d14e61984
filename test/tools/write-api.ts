import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { renderApiReports } from './api-report.ts';

/** Writes etc/: the public declarations of the package. A test fails if they differ. */
for (const [name, report] of Object.entries(renderApiReports())) {
  writeFileSync(join(import.meta.dirname, '../../etc', name), report);
}
