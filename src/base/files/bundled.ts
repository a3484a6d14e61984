import { readFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../json/json.ts';
import { followLinks } from './real-path.ts';

/** How a program of this package is started: Node, and its arguments in front of those of the command. */
export interface BundledProgram {
  readonly path: string;
  readonly leading: readonly string[];
  /** The file in this package. */
  readonly file: string;
}

/** The program of that name in the `bin` of this package; undefined if it has none. */
export function findBundled(name: string): BundledProgram | undefined {
  if (!name.startsWith('signalbox')) return undefined;
  const file = bundledPrograms().get(name);
  if (file === undefined) return undefined;
  // An embedder, such as Electron, does not run a script that it is given.
  const isNode = /^node(?:\.exe)?$/.test(basename(process.execPath));
  return isNode ? { path: process.execPath, leading: [file], file } : { path: file, leading: [], file };
}

/** The names of the programs in this package. */
export function bundledNames(): readonly string[] {
  return [...bundledPrograms().keys()];
}

/** The folders that a program of this package reads its code from; none for any other file. */
export function bundledFolders(file: string): readonly string[] {
  if (![...bundledPrograms().values()].includes(file)) return [];
  // Dependencies stand inside the package, or beside it in the outermost node_modules.
  const inside = followLinks(root).split('/');
  const outermost = inside.indexOf('node_modules');
  return [...new Set([root, outermost === -1 ? root : inside.slice(0, outermost + 1).join('/')])];
}

const root = dirname(dirname(dirname(dirname(fileURLToPath(import.meta.url)))));

let known: ReadonlyMap<string, string> | undefined;

function bundledPrograms(): ReadonlyMap<string, string> {
  known ??= readPrograms();
  return known;
}

/** None where a bundler has moved this module out of the package. */
function readPrograms(): ReadonlyMap<string, string> {
  try {
    const { name, bin }: Record<string, unknown> = JSON.parse(
      readFileSync(join(root, 'package.json'), 'utf8'),
    );
    if (name !== 'signalbox' || !isObject(bin)) return new Map();
    return new Map(Object.entries(bin).map(([program, file]) => [program, join(root, String(file))]));
  } catch {
    return new Map();
  }
}
