import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';

// Keeps only the compiler's declarations that are reachable from the exports of the package. Fails if one imports a
// package that a user may lack.
const root = join(import.meta.dirname, '..');
const dist = join(root, 'dist');
const { exports, dependencies, optionalDependencies } = JSON.parse(
  readFileSync(join(root, 'package.json'), 'utf8'),
);
const reached = new Set<string>(
  Object.values<{ types?: string } | string>(exports).flatMap((target) =>
    typeof target === 'object' && target.types !== undefined ? [join(root, target.types)] : [],
  ),
);
for (const file of reached) {
  for (const [, specifier = ''] of readFileSync(file, 'utf8').matchAll(
    /(?:\bfrom |\bimport\()['"]([^'"]+)['"]/g,
  )) {
    if (specifier.startsWith('.')) reached.add(join(file, '..', specifier.replace(/\.[jt]s$/, '.d.ts')));
    else if (!isThere(specifier, file)) throw new Error(`${file} imports ${specifier}, which may be absent`);
  }
}
for (const file of readdirSync(dist, { recursive: true, encoding: 'utf8' })) {
  if (file.endsWith('.d.ts') && !reached.has(join(dist, file))) rmSync(join(dist, file));
}

function isThere(specifier: string, file: string): boolean {
  const [scope = '', name = ''] = specifier.split('/');
  if (scope.startsWith('node:') || (scope === 'vitest' && file.includes('/cli/vitest/'))) return true;
  const [one = '', types = one] = scope.startsWith('@') ? [`${scope}/${name}`] : [scope, `@types/${scope}`];
  const installed = { ...dependencies, ...optionalDependencies };
  return one in installed || types in installed;
}
