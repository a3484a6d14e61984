import { chmodSync, existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RuntimeError } from '../../base/errors.ts';
import { makeFolders } from '../../base/files/paths.ts';

const ownRoot = fileURLToPath(new URL('../../..', import.meta.url));
const examples = join(ownRoot, 'examples');
const template = join(examples, 'quickstart');

export type TemplateLanguage = 'python' | 'node' | 'sh';

const languages: Readonly<Record<TemplateLanguage, Overlay | undefined>> = {
  python: undefined,
  node: {
    folder: join(examples, 'quickstart-node'),
    extension: '.mjs',
    needs: 'Node without any package',
    needsOnly: 'They need only Node.',
    babble: "console.log('hi')",
  },
  sh: {
    folder: join(examples, 'quickstart-sh'),
    extension: '.sh',
    needs: 'shell scripts that use jq',
    needsOnly: 'They need only a POSIX shell and jq.',
    babble: 'echo hi',
  },
};

interface Overlay {
  readonly folder: string;
  readonly extension: string;
  readonly needs: string;
  readonly needsOnly: string;
  readonly babble: string;
}

/**
 * Copies the quickstart into `folder` and returns the names of the files. Throws USAGE if one exists, and then writes
 * nothing, or if the folder cannot be written.
 */
export function writeTemplate(folder: string, language: TemplateLanguage = 'python'): string[] {
  const copies = copiesFor(languages[language]);
  const existing = copies.map(({ file }) => file).filter((file) => existsSync(join(folder, file)));
  if (existing.length > 0) {
    const hint = 'Choose an empty folder: `signalbox init NEW_FOLDER`.';
    throw new RuntimeError(
      'USAGE',
      `${join(folder, existing[0] ?? '')} already exists; nothing was written`,
      { hint },
    );
  }
  try {
    const ownFolder = packageFolderFor(folder);
    return copies.map((copy) => writeCopy(copy, join(folder, copy.file), ownFolder));
  } catch (error) {
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

function copiesFor(overlay: Overlay | undefined): Copy[] {
  const files = listFiles(template).map((file) => relative(template, file));
  if (overlay === undefined)
    return files.map((file) => ({ file, source: join(template, file), edit: asItIs }));
  return files.map((file) => {
    if (!file.endsWith('.py'))
      return { file, source: join(template, file), edit: (text) => translate(text, overlay) };
    const script = file.replace(/\.py$/, overlay.extension);
    return { file: script, source: join(overlay.folder, script), edit: asItIs };
  });
}

function asItIs(text: string): string {
  return text;
}

function translate(text: string, { extension, needs, needsOnly, babble }: Overlay): string {
  return text
    .replaceAll(/\.py\b/g, extension)
    .replace('Python 3 without any package', needs)
    .replace('They need only Python 3.', needsOnly)
    .replace('print("hi")', babble);
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
