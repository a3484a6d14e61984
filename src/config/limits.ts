import type { Path, YamlDocument } from '../base/yaml/document.ts';
import type { Finding } from '../base/yaml/finding.ts';
import { integerAt } from '../base/yaml/read.ts';

/** Refuses limits that this system cannot hold anybody to; `path` is that of the mapping with `limits`. */
export function checkLimits(
  document: YamlDocument,
  path: Path,
  platform: NodeJS.Platform = process.platform,
): Finding[] {
  if (platform === 'linux') return [];
  return linuxOnly
    .map((key) => [...path, 'limits', key])
    .filter((key) => integerAt(document, key) !== undefined)
    .map((key) => ({
      severity: 'error',
      path: key,
      message: `cannot be enforced on ${platform}`,
      hint: 'Only Linux counts the memory and the processes of what a process starts.',
    }));
}

const linuxOnly = ['memory_mb', 'processes'];
