import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// Keeps only the compiler's declarations that are reachable from the exports of the package.
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { exports } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const reached = new Set<string>(
  Object.values<{ types?: string } | string>(exports).flatMap((target) =>
    typeof target === 'object' && target.types !== undefined ? [join(root, target.types)] : [],
  ),
);
for (const file of reached) {
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:\bfrom |\bimport\()['"](\.[^'"]+)['"]/g,
  )) {
    reached.add(join(file, '..', specifier.replace(/\.[jt]s$/, '.d.ts')));
  }
}
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.d.ts') && !reached.has(join(dist, file))) rmSync(join(dist, file));
}
