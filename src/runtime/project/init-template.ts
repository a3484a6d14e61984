import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError } from '../../base/errors.ts';
import { makeFolders } from '../../base/files/paths.ts';

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));
const examples = join(ownRoot, 'examples');
const template = join(examples, 'quickstart');

const authors = join(ownRoot, 'authors');

/** How the quickstart in another language differs from the one in Python. */
interface Variant {
  readonly folder: string;
  /** The file of a script, and the command that starts it. */
  readonly source: string;
  readonly command: string;
  readonly needs: string;
  readonly needsOnly: string;
}

const variants = {
  python: undefined,
  node: {
    folder: 'quickstart-node',
    source: 'scripts/$1.mjs',
    command: './scripts/$1.mjs',
    needs: 'Node without any package',
    needsOnly: 'They need only Node.',
  },
  go: {
    folder: 'quickstart-go',
    source: '$1/main.go',
    command: './bin/$1',
    needs: 'Go without any module, built with `go build -o bin/ ./...`',
    needsOnly: 'Build them first, and after each change: `go build -o bin/ ./...`.',
  },
  sh: {
    folder: 'quickstart-sh',
    source: 'scripts/$1.sh',
    command: './scripts/$1.sh',
    needs: 'shell scripts that use jq',
    needsOnly: 'They need only a POSIX shell and jq.',
  },
} as const satisfies Record<string, Variant | undefined>;

export type TemplateLanguage = keyof typeof variants;

/** The helper of each language, in `authors` and in a project. */
const helpers: Readonly<Record<TemplateLanguage, readonly [source: string, target: string]>> = {
  python: ['signalbox.py', 'signalbox.py'],
  node: ['signalbox.mjs', 'signalbox.mjs'],
  go: ['go/signalbox.go', 'signalbox/signalbox.go'],
  sh: ['signalbox.sh', 'signalbox.sh'],
};

/**
 * Copies the helper for authors into `folder`, in place of an older copy. Returns its name. Throws USAGE if the file is
 * no copy of the helper, or if the folder cannot be written.
 */
export function writeHelper(folder: string, language: TemplateLanguage): string {
  const [source, target] = helpers[language];
  const file = join(folder, target);
  return inWritable(folder, () => {
    if (existsSync(file) && !readFileSync(file, 'utf8').includes('signalbox helper ')) {
      const hint = 'Choose another folder, or rename the file.';
      throw new RuntimeError('USAGE', `${file} exists, and is no copy of the helper`, { hint });
    }
    return writeCopy({ file, source: join(authors, source), edit: asItIs }, file, '');
  });
}

/**
 * Copies the quickstart into `folder` and returns the names of the files. Throws USAGE if one exists, and then writes
 * nothing, or if the folder cannot be written.
 */
export function writeTemplate(folder: string, language: TemplateLanguage = 'python'): string[] {
  const copies = copiesFor(variants[language]);
  const existing = copies.map(({ file }) => file).filter((file) => existsSync(join(folder, file)));
  if (existing.length > 0) {
    const hint = 'Choose an empty folder: `signalbox init NEW_FOLDER`.';
    throw new RuntimeError(
      'USAGE',
      `${join(folder, existing[0] ?? '')} already exists; nothing was written`,
      { hint },
    );
  }
  return inWritable(folder, () => {
    const ownFolder = packageFolderFor(folder);
    return copies.map((copy) => writeCopy(copy, join(folder, copy.file), ownFolder));
  });
}

function inWritable<Result>(folder: string, write: () => Result): Result {
  try {
    return write();
  } catch (error) {
    if (error instanceof RuntimeError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new RuntimeError('USAGE', `${folder} cannot be written (${reason})`, {
      hint: 'Choose a writable folder.',
      cause: error,
    });
  }
}

interface Copy {
  readonly file: string;
  readonly source: string;
  readonly edit: (text: string) => string;
}

function copiesFor(variant: Variant | undefined): Copy[] {
  const own = copiesOf(template);
  if (variant === undefined) return own;
  const shared = own.filter(({ file }) => !file.startsWith('scripts/'));
  const translated = shared.map((copy) => ({ ...copy, edit: (text: string) => translate(text, variant) }));
  return [...translated, ...copiesOf(join(examples, variant.folder))];
}

function copiesOf(folder: string): Copy[] {
  return listFiles(folder).map((source) => ({ file: relative(folder, source), source, edit: asItIs }));
}

function asItIs(text: string): string {
  return text;
}

function translate(text: string, { source, command, needs, needsOnly }: Variant): string {
  return text
    .replaceAll(/\.\/scripts\/(\w+)\.py\b/g, command)
    .replaceAll(/\bscripts\/(\w+)\.py\b/g, source)
    .replace('Python 3 without any package', needs)
    .replace('They need only Python 3.', needsOnly);
}

/**
 * The path of this package from `folder`: in the nearest node_modules that has it, or absolute for a global installation.
 */
function packageFolderFor(folder: string): string {
  const start = resolve(folder);
  for (let above = start; ; above = dirname(above)) {
    if (existsSync(join(above, INSTALLED, 'schema'))) return `${relative(start, above) || '.'}/${INSTALLED}`;
    if (above === dirname(above)) return resolve(ownRoot);
  }
}

const INSTALLED = 'node_modules/signalbox';

function writeCopy({ source, edit }: Copy, target: string, ownFolder: string): string {
  makeFolders(dirname(target));
  const text = edit(readFileSync(source, 'utf8'));
  writeFileSync(
    target,
    text.replaceAll(/\.\.\/\.\.\/(?=(?:schema|docs)\/)/g, () => `${ownFolder}/`),
  );
  // Package managers may install read-only files; the copies must be writable.
  chmodSync(target, statSync(source).mode | 0o600);
  return target;
}

function listFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).toSorted((one, other) =>
    one.name < other.name ? -1 : 1,
  );
  return entries.flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory())
      return entry.name === '.signalbox' || entry.name === '__pycache__' ? [] : listFiles(path);
    return [path];
  });
}
