import { posix } from 'node:path';
import type { Module } from './source.ts';

/** The house from top to bottom: a file imports from its own stratum or from one above it. */
const strata: readonly (readonly string[])[] = [
  ['errors.ts'],
  ['json/', 'text/', 'files/', 'time/'],
  ['contract/'],
  ['pii/'],
  ['guards/'],
  ['expression/'],
  ['yaml/'],
  ['inbound/'],
  ['dialects/'],
  ['config/'],
  ['binding/'],
  ['transport/'],
  ['cassette/'],
  ['capability/'],
  ['hooks/'],
  ['tool-call/'],
  ['provider/'],
  ['checks/'],
  ['store/'],
  ['dispatch/'],
  ['log/'],
  ['gateway/'],
  ['pipeline/'],
  ['suite/'],
  ['project/'],
  ['runtime/'],
  ['surface/'],
  ['index.ts'],
];

/** One rule of the house: which of these modules of src break it, each as a sentence that names the file. */
export type Rule = (modules: readonly Module[]) => string[];

export const everyFileHasAStratum: Rule = (modules) =>
  modules
    .filter(({ file }) => stratumOf(file) === -1)
    .map(({ file }) => `${file} belongs to no stratum; add it to the list in test/architecture.ts`);

export const importsPointUp: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ from, to }) => stratumOf(from) !== -1 && stratumOf(to) > stratumOf(from))
    .map(({ from, to }) => `${from} imports ${to}, which is below it`);

export const dialectsAreStrangers: Rule = (modules) => strangersIn('dialects', modules);

export const surfacesAreStrangers: Rule = (modules) => strangersIn('surface', modules);

export const surfacesSeeTheRuntimeOnly: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ from, to }) => from.startsWith('surface/') && !isOpenToSurfaces(from, to))
    .map(
      ({ from, to }) =>
        `${from} imports ${to}; a surface sees runtime/, contract/, json/, text/, files/ and errors.ts`,
    );

export const onlyLaunchStartsProcesses: Rule = (modules) =>
  modules
    .filter(({ file }) => !file.startsWith('transport/launch/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter((specifier) =>
          /^(execa|koffi|node:child_process|child_process|node:cluster)(\/|$)/.test(specifier),
        )
        .map((specifier) => `${file} imports ${specifier}; processes start in transport/launch/ only`),
    );

export const environmentIsReadOnce: Rule = (modules) =>
  modules
    .filter(({ file, globals }) => globals.has('process.env') && !isEnvironmentReader(file))
    .map(({ file }) => `${file} reads process.env; only binding/env.ts and the programs do`);

export const programsAreFunctions: Rule = (modules) =>
  modules
    .filter(({ file, usesProcess }) => usesProcess && /^surface\/(cli|pii|guards)\//.test(file))
    .filter(({ file }) => !isProgram(file))
    .map(({ file }) => `${file} uses process; what it needs of it is a parameter of main()`);

export const onlySurfacesPrint: Rule = (modules) =>
  modules
    .filter(({ file, globals }) => globals.has('console') && !file.startsWith('surface/'))
    .map(({ file }) => `${file} uses console; emit an event instead`);

export const nothingImportsTheIndex: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ to }) => to === 'index.ts')
    .map(({ from }) => `${from} imports index.ts, which is for users of the library`);

export const importsFormNoCycle: Rule = (modules) => {
  const targets = new Map<string, string[]>();
  for (const { from, to } of edgesOf(modules)) targets.set(from, [...(targets.get(from) ?? []), to]);
  const done = new Set<string>();
  const cycles: string[] = [];
  const visit = (file: string, trail: readonly string[]): void => {
    const since = trail.indexOf(file);
    if (since !== -1) cycles.push([...trail.slice(since), file].join(' -> '));
    if (since !== -1 || done.has(file)) return;
    for (const target of targets.get(file) ?? []) visit(target, [...trail, file]);
    done.add(file);
  };
  for (const { file } of modules) visit(file, []);
  return cycles.map((cycle) => `import cycle: ${cycle}`);
};

/** Where a dialect's name stands without its rules: choices and examples of the command line, and APIs of models. */
const namesWithoutRules: readonly string[] = [
  'surface/cli/commands/hook.ts',
  'surface/cli/commands/hook-import.ts',
  'config/provider-types.ts',
  'provider/open/provider-kinds.ts',
  'surface/cli/show/serving.ts',
  // For whose hooks the program is.
  'surface/guards/prompt/help.ts',
  // Whom an attempt addresses.
  'guards/injection/patterns.ts',
];

/** A foreign dialect is a folder with a `config/`: all else asks the registry. */
export const onlyItsFolderNamesADialect: Rule = (modules) => {
  const names = new Set(modules.flatMap(({ file }) => /^dialects\/([^/]+)\/config\//.exec(file)?.[1] ?? []));
  return modules
    .filter(
      ({ file }) => !/^dialects\/([^/]+\/|registry\.ts$)/.test(file) && !namesWithoutRules.includes(file),
    )
    .flatMap(({ file, text }) =>
      [...names]
        .filter((name) => text.toLowerCase().includes(name))
        .map((name) => `${file} names the dialect ${name}; ask dialects/registry.ts`),
    );
};

/** What Node 24 has and the oldest Node that the package allows, 22.18, has not. */
const tooNew =
  /\b(?:Async)?DisposableStack\b|\bSuppressedError\b|\bRegExp\.escape\b|\bError\.isError\b|\bFloat16Array\b|\bPromise\.try\b/g;

export const oldestNodeSuffices: Rule = (modules) =>
  modules.flatMap(({ file, text }) =>
    [...text.matchAll(tooNew)].map(([name]) => `${file} uses ${name}, which Node 22.18 does not have`),
  );

interface Edge {
  readonly from: string;
  readonly to: string;
}

/** The relative imports, as paths inside src; a path that leaves src begins with `../`. */
function edgesOf(modules: readonly Module[]): Edge[] {
  return modules.flatMap(({ file, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({ from: file, to: posix.join(posix.dirname(file), specifier) })),
  );
}

function stratumOf(file: string): number {
  return strata.findIndex((members) =>
    members.some((member) => (member.endsWith('/') ? file.startsWith(member) : file === member)),
  );
}

/** Imports between two sibling folders of `folder`. */
function strangersIn(folder: string, modules: readonly Module[]): string[] {
  const roomOf = (file: string): string | undefined => {
    const [top, room, ...rest] = file.split('/');
    return top === folder && rest.length > 0 ? room : undefined;
  };
  return edgesOf(modules)
    .filter(({ from, to }) => {
      const rooms = [roomOf(from), roomOf(to)];
      return rooms[0] !== undefined && rooms[1] !== undefined && rooms[0] !== rooms[1];
    })
    .map(({ from, to }) => `${from} imports ${to}; the folders of ${folder}/ do not know each other`);
}

function isOpenToSurfaces(from: string, to: string): boolean {
  const own = from.split('/').slice(0, 2).join('/');
  // The ready guards are programs of their own: what they do stands in pii/ and guards/, and needs no runtime.
  if (/^surface\/(pii|guards)$/.test(own) && /^(pii|guards)\//.test(to)) return true;
  if (to === 'errors.ts' || /^(runtime|contract|json|text|files)\//.test(to)) return true;
  return to.startsWith(`${own}/`) || to === own;
}

function isEnvironmentReader(file: string): boolean {
  return file === 'binding/env.ts' || isProgram(file);
}

/** What hands the parts of its process to a function. */
function isProgram(file: string): boolean {
  return /^surface\/(cli\/(main\.ts|process\/)|(pii|guards\/\w+)\/main\.ts$)/.test(file);
}
