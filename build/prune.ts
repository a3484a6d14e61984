import { readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Removes outdated files of earlier builds from dist/: modules and source maps that neither this bundle nor another
 * build step writes.
 */
export function prune(): Plugin {
  return {
    name: 'prune',
    writeBundle({ dir = '' }, files) {
      for (const file of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
        const isOurs =
          file in files ||
          file.startsWith('validators/') ||
          file.endsWith('-page.js') ||
          /^cli\/main\.js/.test(file);
        if (/\.js(?:\.map)?$/.test(file) && !isOurs) rmSync(join(dir, file), { force: true });
      }
    },
  };
}
