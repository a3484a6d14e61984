import { readFileSync } from 'node:fs';

/**
 * The modules that `main` needs as the text of one script, each before those that import it and in a scope of its own.
 * They may import names from each other, without `as`, and export functions and constants where they are declared.
 * Throws when a file cannot be read.
 */
export function bundleScript(main: URL): string {
  const scopes = new Map<string, string>();
  const names = new Map<string, string>();
  const add = (url: URL): string => {
    const known = names.get(url.href);
    if (known !== undefined) return known;
    const source = readFileSync(url, 'utf8').replaceAll(importLine, (_line, imported, specifier) => {
      return `const {${imported}} = ${add(new URL(specifier, url))};\n`;
    });
    const name = `module${names.size}`;
    names.set(url.href, name);
    scopes.set(url.href, scopeOf(name, source));
    return name;
  };
  add(main);
  return `\n${[...scopes.values()].join('\n')}`;
}

const importLine = /^import \{([^}]*)\} from '(\.\/[^']+)';\n/gm;
const exported = /^export (?=(?:function\*?|const) (\w+))/gm;

function scopeOf(name: string, source: string): string {
  const exports = [...source.matchAll(exported)].map(([, declared]) => declared);
  const body = source.replaceAll(exported, '').trim();
  return `const ${name} = (() => {\n${body}\nreturn { ${exports.join(', ')} };\n})();\n`;
}
