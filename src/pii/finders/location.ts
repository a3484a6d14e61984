import type { Finding } from '../finding.ts';
import type { Scan } from '../scan.ts';

export function* findLocations(_scan: Scan): Generator<Finding> {}
