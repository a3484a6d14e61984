import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Plugin } from 'rolldown';

/** Writes THIRD-PARTY-LICENSES.txt: the name, version and licence of each package with code in the bundle. */
export function licences(): Plugin {
  return {
    name: 'licences',
    generateBundle(_options, files) {
      const folders = Object.values(files)
        .flatMap((file) => (file.type === 'chunk' ? file.moduleIds : []))
        .map(folderOf)
        .filter((folder) => folder !== undefined);
      const notices = [...new Set(folders)].map(noticeOf).toSorted((one, other) => one.localeCompare(other));
      const source = [title, ...new Set(notices)].join(`\n${'-'.repeat(80)}\n\n`);
      this.emitFile({ type: 'asset', fileName: 'THIRD-PARTY-LICENSES.txt', source });
    },
  };
}

const title = 'This package contains code of the packages below, under their licences.\n';

/** Returns the folder of the package that a module belongs to, or undefined for Signalbox's own modules. */
function folderOf(id: string): string | undefined {
  return /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0];
}

/** Throws Error if the package has no licence text. */
function noticeOf(folder: string): string {
  const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
  const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copying)/i.test(file));
  if (files.length === 0) throw new Error(`${name} ${version} (${license}) has no text of its licence`);
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return `${name} ${version} (${license})\n\n${texts.join('\n\n')}\n`;
}
