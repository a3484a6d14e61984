import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { addressesOf, withOwner } from './repository.ts';

// `npm run repository -- OWNER/NAME` changes the repository's name everywhere.
const [name = ''] = process.argv.slice(2);
const addresses = addressesOf(name);
rewrite('package.json', (text) => `${JSON.stringify({ ...JSON.parse(text), ...addresses }, null, 2)}\n`);
rewrite('.github/CODEOWNERS', (text) => withOwner(text, name.split('/', 1).join()));

function rewrite(file: string, change: (text: string) => string): void {
  const path = join(import.meta.dirname, '../..', file);
  writeFileSync(path, change(readFileSync(path, 'utf8')));
}
