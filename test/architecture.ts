import { posix } from 'node:path';
import type { Module } from './source.ts';

/** The folders of src from top to bottom. A file imports only from its own folder or one above it. */
export const folders = [
  ...['base', 'contract', 'process', 'builtins', 'dialects', 'config', 'calls'],
  ...[
    'models',
    'store',
    'upstreams',
    'pipelines',
    'gateway',
    'suites',
    'runtime',
    'mcp',
    'console',
    'cli',
    'index.ts',
  ],
];

/** Returns a sentence with the file name for each violation. */
export type Rule = (modules: readonly Module[]) => string[];

export const everyFileHasAFolder: Rule = (modules) =>
  modules
    .filter(({ file }) => levelOf(file) === -1)
    .map(({ file }) => `${file} belongs to no folder of the list in test/architecture.ts`);

export const importsPointUp: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ from, to }) => levelOf(from) !== -1 && levelOf(to) > levelOf(from))
    .map(({ from, to }) => `${from} imports ${to}, which is below it`);

export const dialectsAreStrangers: Rule = (modules) => strangersIn('dialects', modules);

export const importedFormatsAreStrangers: Rule = (modules) => strangersIn('suites/import', modules, 'suite');

/** Separate programs: neither they nor the command line import each other. */
const programs = ['guards', 'vitest'];

export const programsAreSeparate: Rule = (modules) =>
  edgesOf(modules)
    .filter(
      ({ from, to }) => from.startsWith('cli/') && to.startsWith('cli/') && programOf(from) !== programOf(to),
    )
    .map(({ from, to }) => `${from} imports ${to}, which is of another program`);

function programOf(file: string): string {
  const [, name = ''] = file.split('/');
  return programs.find((program) => program === (name === 'pii' ? 'guards' : name)) ?? 'the command line';
}

/** Surfaces that the command line starts. It loads only their entry files. */
const surfaces: Readonly<Record<string, readonly string[]>> = {
  mcp: ['mcp/serve.ts'],
  console: ['console/serve.ts', 'console/remote.ts'],
};

export const programsSeeTheRuntimeOnly: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ from, to }) => isOfProgram(from) && !isOpenToPrograms(from, to))
    .map(
      ({ from, to }) =>
        `${from} imports ${to}; a program sees ${isGuard(from) ? 'builtins' : 'runtime, contract'} and base`,
    );

function isOfProgram(file: string): boolean {
  const [folder = ''] = file.split('/', 1);
  return folder === 'cli' || folder in surfaces;
}

/** Code of browsers. The node code does not import it; rolldown.config.ts builds it. */
const browserFolders = /^(base|suites\/report\/html|console)\/page\//;

export const browserCodeIsApart: Rule = (modules) => [
  ...edgesOf(modules)
    .filter(({ from, to }) => browserFolders.test(to) && !browserFolders.test(from))
    .map(({ from, to }) => `${from} imports ${to}, which only browsers run`),
  ...modules
    .filter(({ file }) => browserFolders.test(file))
    .flatMap(({ file, imports }) =>
      imports
        .filter((specifier) => specifier.startsWith('node:'))
        .map((specifier) => `${file} imports ${specifier}, which browsers lack`),
    ),
];

export const onlyLaunchStartsProcesses: Rule = (modules) =>
  modules
    .filter(({ file }) => !file.startsWith('process/launch/'))
    .flatMap(({ file, imports }) =>
      imports
        .filter((specifier) =>
          /^(execa|koffi|node:child_process|child_process|node:cluster)(\/|$)/.test(specifier),
        )
        .map((specifier) => `${file} imports ${specifier}; processes start in process/launch/ only`),
    );

export const environmentIsReadOnce: Rule = (modules) =>
  modules
    .filter(({ file, globals }) => globals.has('process.env') && !isEnvironmentReader(file))
    .map(({ file }) => `${file} reads process.env; only process/env.ts and the programs do`);

export const programsAreFunctions: Rule = (modules) =>
  modules
    .filter(
      ({ file, usesProcess }) => usesProcess && file.startsWith('cli/') && !file.startsWith('cli/vitest/'),
    )
    .filter(({ file }) => !isProgram(file))
    .map(({ file }) => `${file} uses process; what it needs of it is a parameter of main()`);

export const onlyProgramsPrint: Rule = (modules) =>
  modules
    .filter(({ file, globals }) => globals.has('console') && !file.startsWith('cli/'))
    .map(({ file }) => `${file} uses console; emit an event instead`);

export const nothingImportsTheIndex: Rule = (modules) =>
  edgesOf(modules)
    .filter(({ to }) => to === 'index.ts')
    .map(({ from }) => `${from} imports index.ts, which is for users of the library`);

export const importsFormNoCycle: Rule = (modules) =>
  cyclesIn(edgesOf(modules)).map((cycle) => `import cycle: ${cycle}`);

/** Sub-folders import each other in one direction. Files directly in the folder are its vocabulary and entries. */
export const subfoldersFormNoCycle: Rule = (modules) => {
  const edges = edgesOf(modules).flatMap(({ from, to }) => {
    const [one, other] = [subfolderOf(from), subfolderOf(to)];
    const isInside = one?.split('/', 1)[0] === other?.split('/', 1)[0];
    return one === undefined || other === undefined || one === other || !isInside
      ? []
      : [{ from: one, to: other }];
  });
  return cyclesIn(edges).map((cycle) => `sub-folders import each other: ${cycle}`);
};

function cyclesIn(edges: readonly Edge[]): string[] {
  const targets = new Map<string, Set<string>>();
  for (const { from, to } of edges) targets.set(from, (targets.get(from) ?? new Set()).add(to));
  const done = new Set<string>();
  const cycles = new Set<string>();
  const visit = (node: string, trail: readonly string[]): void => {
    const since = trail.indexOf(node);
    if (since !== -1) cycles.add([...trail.slice(since), node].join(' -> '));
    if (since !== -1 || done.has(node)) return;
    for (const target of targets.get(node) ?? []) visit(target, [...trail, node]);
    done.add(node);
  };
  for (const node of targets.keys()) visit(node, []);
  return [...cycles];
}

function subfolderOf(file: string): string | undefined {
  const [top, room, ...rest] = file.split('/');
  return rest.length > 0 ? `${top}/${room}` : undefined;
}

/** Files that name a dialect without its rules: choices and examples of the command line, and model APIs. */
const namesWithoutRules: readonly string[] = [
  'cli/commands/hook.ts',
  'cli/commands/hook-agent.ts',
  'cli/commands/mcp.ts',
  // The key in which a client repeats the id of a call.
  'mcp/client.ts',
  'config/provider-types.ts',
  'runtime/telemetry/attributes.ts',
  'models/open/provider-kinds.ts',
  'cli/commands/serve.ts',
  'cli/commands/agents.ts',
  // The systems whose events a resident answers, and the one that can post them.
  ...['cli/process/ask-resident.ts', 'cli/resident/answer.ts', 'cli/resident/http.ts'],
  // The system for which the program provides hooks.
  'builtins/guards/prompt/guard.ts',
  // The targets of injection attempts.
  'builtins/guards/injection/patterns.ts',
];

/** Folders with a `config/` are foreign dialects. All other code uses the registry. */
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

/** Features of Node 24 that 22.18, the oldest supported version, lacks. */
const tooNew =
  /\b(?:Async)?DisposableStack\b|\bSuppressedError\b|\bRegExp\.escape\b|\bError\.isError\b|\bFloat16Array\b|\bPromise\.try\b/g;

export const oldestNodeSuffices: Rule = (modules) =>
  modules.flatMap(({ file, text }) =>
    [...text.matchAll(tooNew)].map(([name]) => `${file} uses ${name}, which Node 22.18 does not have`),
  );

export interface Edge {
  readonly from: string;
  readonly to: string;
}

/** The relative imports as paths inside src. Those that leave src begin with `../`. */
export function edgesOf(modules: readonly Module[]): Edge[] {
  return modules.flatMap(({ file, imports }) =>
    imports
      .filter((specifier) => specifier.startsWith('.'))
      .map((specifier) => ({ from: file, to: posix.join(posix.dirname(file), specifier) })),
  );
}

function levelOf(file: string): number {
  return folders.indexOf(file.split('/', 1)[0] ?? '');
}

function strangersIn(folder: string, modules: readonly Module[], shared?: string): string[] {
  const roomOf = (file: string): string | undefined => {
    const [room, ...rest] = file.startsWith(`${folder}/`) ? file.slice(folder.length + 1).split('/') : [];
    return rest.length > 0 ? room : undefined;
  };
  return edgesOf(modules)
    .filter(({ from, to }) => {
      const rooms = [roomOf(from), roomOf(to)];
      return rooms[0] !== undefined && rooms[1] !== undefined && rooms[0] !== rooms[1] && rooms[1] !== shared;
    })
    .map(({ from, to }) => `${from} imports ${to}; the folders of ${folder}/ do not know each other`);
}

/** Guards are programs without a runtime that use builtins/. Those that call a model share its judge. */
function isOpenToPrograms(from: string, to: string): boolean {
  const [own = ''] = from.split('/', 1);
  const open = isGuard(from) ? ['base', 'builtins', 'cli'] : ['base', 'contract', 'runtime', own];
  if (open.includes(to.split('/', 1)[0] ?? '')) return true;
  return isGuard(from)
    ? to.startsWith('runtime/judge/')
    : own === 'cli' && Object.values(surfaces).flat().includes(to);
}

function isGuard(file: string): boolean {
  return /^cli\/(pii|guards)\//.test(file);
}

function isEnvironmentReader(file: string): boolean {
  return file === 'process/env.ts' || isProgram(file);
}

function isProgram(file: string): boolean {
  return /^cli\/(main\.ts|process\/|(pii|guards\/\w+)\/main\.ts$)/.test(file);
}
