import { posix, relative } from 'node:path';
import type { Plugin } from 'rolldown';

/**
 * Bundles each package that src loads lazily with `createRequire` into one file in dist/packages/, which replaces the
 * dozens of files that Node would resolve. Packages that `isBesideUs` names are not bundled.
 */
export function lazyPackages(source: string, isBesideUs: (specifier: string) => boolean): Plugin {
  return {
    name: 'lazy-packages',
    transform(code, id) {
      const file = relative(source, id);
      if (file.startsWith('..')) return null;
      const toPackages = posix.relative(posix.dirname(file), 'packages');
      const loaders = [...code.matchAll(loader)].map(([, name = '']) => name);
      const calls = loaders.flatMap((name) => [
        ...code.matchAll(new RegExp(`\\b${name}\\('([^'#]+)'\\)`, 'g')),
      ]);
      let changed = code;
      for (const [call, specifier = ''] of calls) {
        if (isBesideUs(specifier)) continue;
        const name = `${specifier.replace(/\.js$/, '').replaceAll(/\W+/g, '-').replace(/^-/, '')}.js`;
        this.emitFile({ type: 'chunk', id: `${prefix}${specifier}`, fileName: `packages/${name}` });
        changed = changed.replaceAll(
          call,
          call.replace(`'${specifier}'`, `'${toPackages}/${name}'`).concat('.default'),
        );
      }
      return changed === code ? null : { code: changed, map: null };
    },
    resolveId: (specifier) => (specifier.startsWith(prefix) ? specifier : null),
    load: (id) => (id.startsWith(prefix) ? `export default require('${id.slice(prefix.length)}');` : null),
  };
}

const prefix = '\0package:';
const loader = /\bconst (\w+) = createRequire\(import\.meta\.url\);/g;
