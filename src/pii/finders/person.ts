import type { Finding } from '../finding.ts';
import type { Scan } from '../scan.ts';

export function* findPersons(_scan: Scan): Generator<Finding> {}
