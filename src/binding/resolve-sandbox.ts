import { existsSync } from 'node:fs';
import { dirname, isAbsolute, resolve } from 'node:path';
import { stateFolderOf } from '../config/build/state-store.ts';
import type { RuntimeConfig } from '../config/config.ts';
import { findExecutable } from '../files/executable.ts';
import { holds } from '../files/holds.ts';
import { followLinks } from '../files/real-path.ts';
import type { HostEnv } from './env.ts';
import type { BubblewrapSandbox, RefusedSandbox, Sandbox } from './sandbox.ts';

/** What a sandbox is resolved with. */
export interface SandboxContext {
  readonly config: Pick<
    RuntimeConfig,
    'file' | 'overlays' | 'folder' | 'sandboxes' | 'stateStore' | 'providers'
  >;
  readonly host: HostEnv;
  /** Where the process starts. */
  readonly cwd: string;
  /** `env` of the entry. */
  readonly env: readonly string[];
  /** Those that its dialect sets; what they name is shown. */
  readonly variables: Readonly<Record<string, string>>;
}

/** The sandbox of that name with every path and program final; null for a direct one. */
export function resolveSandbox(name: string, context: SandboxContext): Sandbox | null {
  const { config, host, env } = context;
  const declared = config.sandboxes.find((candidate) => candidate.name === name);
  if (declared === undefined)
    return refused(name, `its sandbox "${name}" is not declared under spec.sandboxes`);
  switch (declared.mode) {
    case 'direct':
      return null;
    case 'refused':
      return refused(name, declared.reason);
    case 'command': {
      const { command, args, envFlag, kill } = declared;
      const program = findProgram(command, context);
      if (program === undefined)
        return refused(name, `${command}, which its sandbox "${name}" starts, is not there`);
      const killer = kill && resolveKill(kill, command, { program, context });
      if (killer === null)
        return refused(name, `${kill?.[0]}, which ends what runs in its sandbox "${name}", is not there`);
      const named = env.map((entry) => entry.split('=', 1)[0] ?? '');
      return {
        ...{ mode: 'command', name, program, args, env: declared.env, envFlag, named, own: clientEnv(host) },
        kill: killer ?? null,
      };
    }
    case 'bubblewrap': {
      const program = findProgram('bwrap', context);
      if (program === undefined)
        return refused(name, `bubblewrap, which its sandbox "${name}" needs, is not installed`);
      const { network, read, write } = declared;
      return {
        ...{ mode: 'bubblewrap', name, program, network },
        read: [...implicitPaths(context), ...read.map((path) => resolve(config.folder, path))],
        write: write.map((path) => resolve(config.folder, path)),
        hide: hiddenPaths(config),
      };
    }
  }
}

function refused(name: string, reason: string): RefusedSandbox {
  return { mode: 'refused', name, reason };
}

/** The program that ends commands, found as the one that starts them; null where it is not there. */
function resolveKill(
  [first = '', ...rest]: readonly string[],
  command: string,
  { program, context }: { readonly program: string; readonly context: SandboxContext },
): readonly string[] | null {
  const found = first === command ? program : findProgram(first, context);
  return found === undefined ? null : [found, ...rest];
}

/** Looked for on the PATH of this process: that of the entry is not to choose what keeps it in. */
function findProgram(command: string, { config, host }: SandboxContext): string | undefined {
  const found = findExecutable(command, config.folder, host['PATH'] ?? '');
  return found.found ? found.path : undefined;
}

/** What clients of containers are told where their service is by. */
const clientNames = [
  ...['DOCKER_HOST', 'DOCKER_CONTEXT', 'DOCKER_CONFIG', 'DOCKER_TLS_VERIFY', 'DOCKER_CERT_PATH'],
  ...['CONTAINER_HOST', 'KUBECONFIG', 'XDG_RUNTIME_DIR'],
];

function clientEnv(host: HostEnv): Readonly<Record<string, string>> {
  return Object.fromEntries(
    clientNames.flatMap((name): [string, string][] => {
      const value = Object.hasOwn(host, name) ? host[name] : undefined;
      return value === undefined ? [] : [[name, value]];
    }),
  );
}

/** The folder of the file and that of the process, and what the dialect names; never more than one project. */
function implicitPaths({ config, host, cwd, variables }: SandboxContext): string[] {
  const named = Object.values(variables).filter((value) => isAbsolute(value) && existsSync(value));
  const shown = [config.folder, cwd, ...named].filter((path) => !isTooBroad(path, host['HOME']));
  // Not even where the folder may be written: what it says decides what runs without a sandbox.
  return [...new Set([...shown, ...(isTooBroad(config.folder, host['HOME']) ? [] : configFiles(config))])];
}

function configFiles({ file, overlays = [] }: SandboxContext['config']): string[] {
  return [file, ...overlays].map((each) => resolve(each));
}

const sharedFolders = [
  '/',
  '/etc',
  '/home',
  '/media',
  '/mnt',
  '/opt',
  '/root',
  '/run',
  '/srv',
  '/tmp',
  '/usr',
  '/var',
  '/var/tmp',
];

/** Whether a folder holds so much, a home folder for one, that it is only shown where the file says so itself. */
export function isTooBroad(path: string, home = ''): boolean {
  return sharedFolders.includes(path) || (home !== '' && home !== '/' && holds(path, home));
}

/** Approvals, runs and keys are for this process alone. */
function hiddenPaths({ folder, stateStore, providers }: SandboxContext['config']): string[] {
  const credentials = providers.flatMap(({ credential: { file } }) =>
    file === undefined ? [] : [resolve(folder, file)],
  );
  const state = stateFolderOf(stateStore);
  return [...(state === undefined ? [] : [state]), ...credentials];
}

/** The sandbox, in which a folder of the hook’s own may be written. */
export function withWritable(sandbox: Sandbox | null, path: string): Sandbox | null {
  return sandbox?.mode === 'bubblewrap' ? { ...sandbox, write: [...sandbox.write, path] } : sandbox;
}

/** Why what must stay hidden would be shown, if so, as the end of a sentence about the sandbox. */
export function findExposure({ read, write, hide }: BubblewrapSandbox): string | undefined {
  for (const hidden of hide.map(followLinks)) {
    const same = [...read, ...write].find((path) => followLinks(path) === hidden);
    if (same !== undefined) return `it shows ${same}, in which Signalbox keeps its state`;
    const movable = write.map(followLinks).find((path) => holds(path, hidden) && dirname(hidden) !== path);
    if (movable !== undefined)
      return `it may write ${movable}, and so move away what stays hidden at ${hidden}`;
  }
  return undefined;
}
