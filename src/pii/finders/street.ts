import type { Finding } from '../finding.ts';
import type { Scan } from '../scan.ts';

export function* findStreets(_scan: Scan): Generator<Finding> {}
