import { accessSync, constants, readFileSync, type Stats, statSync } from 'node:fs';
import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObject } from '../json/json.ts';
import { suggest } from '../text/suggest.ts';
import { findHeadFault, interpreters, isFile, tryReadHead } from './interpreter.ts';
import { followLinks, nearFileHint } from './paths.ts';

type Executable =
  | {
      readonly found: true;
      readonly path: string;
      readonly leading?: readonly string[];
    }
  | {
      readonly found: false;
      readonly reason: string;
      readonly hint: string;
      /** The script exists but its first line is wrong, so that every later call fails too. */
      readonly isMisspelt: boolean;
    };

/**
 * Finds the file that `command` starts. A command with a slash is a path relative to `folder`. A bare name is a program
 * of this package or is looked up on `searchPath`. No shell is involved: `"python3 x.py"` is one program name.
 */
export function findExecutable(command: string, folder: string, searchPath: string): Executable {
  if (command === '') return missing('the command is empty', 'Set `command` to a program.');
  if (!command.includes('/')) return findOnPath(command, folder, searchPath);
  const [path = command] = candidatesOf(command, folder, searchPath);
  return (
    inspect(path, () => splitHint(command, folder) ?? nearFileHint(command, folder)) ?? { found: true, path }
  );
}

/** A caching `findExecutable`. It searches again only if the file or an earlier candidate has changed. */
export function createExecutableFinder(): typeof findExecutable {
  const known = new Map<string, Known>();
  return (command, folder, searchPath) => {
    const key = `${command}\0${folder}\0${searchPath}`;
    const last = known.get(key);
    if (last?.candidates.every(isUnchanged)) return last.executable;
    // Read the file states before the search, so that the next call notices changes made during it.
    const candidates = candidatesOf(command, folder, searchPath).map(
      (path): Candidate => [path, statOf(path)],
    );
    const executable = findExecutable(command, folder, searchPath);
    if (!executable.found) known.delete(key);
    else {
      if (known.size >= MAX_KNOWN) known.clear();
      const end = candidates.findIndex(([path]) => path === executable.path) + 1;
      known.set(key, { executable, candidates: candidates.slice(0, end) });
    }
    return executable;
  };
}

const MAX_KNOWN = 1000;

interface Known {
  readonly executable: Executable;
  readonly candidates: readonly Candidate[];
}

type Candidate = readonly [path: string, stats: Stats | undefined];

/** Every change of permissions or contents updates ctime. */
export function isUnchanged([path, stats]: Candidate): boolean {
  const now = statOf(path);
  if (now === undefined || stats === undefined) return now === stats;
  return (
    now.ctimeMs === stats.ctimeMs &&
    now.ino === stats.ino &&
    now.dev === stats.dev &&
    now.mtimeMs === stats.mtimeMs &&
    now.size === stats.size
  );
}

function statOf(path: string): Stats | undefined {
  try {
    return statSync(path, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

function candidatesOf(command: string, folder: string, searchPath: string): string[] {
  if (command.includes('/')) return [isAbsolute(command) ? command : resolve(folder, command)];
  const bundled = findBundled(command);
  if (bundled !== undefined) return [bundled.file, bundled.path];
  // Relative entries are relative to Signalbox's working directory, not that of the process.
  const directories = searchPath.split(delimiter).filter((directory) => directory !== '');
  return directories.map((directory) => resolve(directory, command));
}

function findOnPath(command: string, folder: string, searchPath: string): Executable {
  const bundled = findBundled(command);
  if (bundled !== undefined) {
    const { file, path, leading } = bundled;
    return inspect(file) ?? { found: true, path, leading };
  }
  let refusal: Executable | undefined;
  for (const path of candidatesOf(command, folder, searchPath)) {
    const problem = inspect(path);
    if (problem === undefined) return { found: true, path };
    if (isFile(path)) refusal ??= problem;
  }
  if (refusal) return refusal;
  const hint =
    splitHint(command, folder) ??
    sameFolderHint(command, folder) ??
    ownNamesHint(command) ??
    suggest(command, interpreters).hint ??
    'Install it, or give a path that contains a slash.';
  return missing(`"${command}" is not on PATH`, hint);
}

function sameFolderHint(command: string, folder: string): string | undefined {
  if (!isFile(resolve(folder, command))) return undefined;
  return `${folder} has a file ${command}: did you mean \`./${command}\`?`;
}

function ownNamesHint(command: string): string | undefined {
  return command.startsWith('signalbox') ? `Commands of Signalbox: ${bundledNames().join(', ')}.` : undefined;
}

function inspect(path: string, near = (): string | undefined => undefined): Executable | undefined {
  if (!isFile(path)) {
    const obstacle = findObstacle(path);
    if (obstacle !== undefined) return missing(`${path} cannot be reached: ${obstacle}`, reachHint);
    return isDirectory(path)
      ? missing(`${path} is a folder`, 'Name the program inside it.')
      : missing(
          `${path} does not exist`,
          near() ?? 'Check the path; it is relative to the config file’s folder.',
        );
  }
  if (!isAccessible(path)) return missing(`${path} is not executable`, `Run \`chmod +x ${path}\`.`);
  const head = tryReadHead(path);
  const fault = head && findHeadFault(path, head);
  return fault && { found: false, ...fault };
}

function missing(reason: string, hint: string): Executable {
  return { found: false, reason, hint, isMisspelt: false };
}

function splitHint(command: string, folder: string): string | undefined {
  const path = resolve(folder, command.trim());
  // Folders that exist may have spaces in their names.
  let known = dirname(path);
  while (statOf(known)?.isDirectory() !== true && known !== dirname(known)) known = dirname(known);
  const [, ...rest] = path.slice(known.length).split(/\s+/);
  if (rest.length === 0) return undefined;
  return `\`command\` is one program name; put the other words into \`args: [${rest.join(', ')}]\`.`;
}

function findObstacle(path: string): string | undefined {
  try {
    statSync(path, { throwIfNoEntry: false });
    return undefined;
  } catch (error) {
    return error instanceof Error && 'code' in error ? String(error.code) : String(error);
  }
}

const reachHint = 'Check the links and the permissions of the folders on its path.';

function isDirectory(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isDirectory() ?? false;
}

export function isAccessible(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

interface BundledProgram {
  readonly path: string;
  readonly leading: readonly string[];
  readonly file: string;
}

function findBundled(name: string): BundledProgram | undefined {
  if (!name.startsWith('signalbox')) return undefined;
  const file = bundledPrograms().get(name);
  if (file === undefined) return undefined;
  // An embedder, such as Electron, does not run a script that it is given.
  const isNode = /^node(?:\.exe)?$/.test(basename(process.execPath));
  return isNode ? { path: process.execPath, leading: [file], file } : { path: file, leading: [], file };
}

function bundledNames(): readonly string[] {
  return [...bundledPrograms().keys()];
}

/** The folders from which a program of this package loads code; empty for other files. */
export function bundledFolders(file: string): readonly string[] {
  if (![...bundledPrograms().values()].includes(file)) return [];
  // Dependencies are inside the package or beside it in the outermost node_modules.
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

/** Empty if a bundler has moved this module out of the package. */
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
