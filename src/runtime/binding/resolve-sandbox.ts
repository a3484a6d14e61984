import { existsSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { findExecutable } from '../../base/files/executable.ts';
import { followLinks, holds } from '../../base/files/paths.ts';
import type { RuntimeConfig } from '../../config/config.ts';
import { stateFolderOf } from '../../config/store.ts';
import {
  type BubblewrapSandbox,
  isTooBroad,
  type RefusedSandbox,
  type Sandbox,
} from '../../process/binding.ts';
import type { HostEnv } from '../../process/env.ts';

export interface SandboxContext {
  readonly config: Pick<
    RuntimeConfig,
    'file' | 'overlays' | 'folder' | 'sandboxes' | 'stateStore' | 'providers' | 'environment'
  >;
  readonly host: HostEnv;
  readonly cwd: string;
  readonly env: readonly string[];
  /** The sandbox shows the paths that these name. */
  readonly variables: Readonly<Record<string, string>>;
}

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
        return refused(name, `${command}, the program of its sandbox "${name}", does not exist`);
      const killer = kill && resolveKill(kill, command, { program, context });
      if (killer === null)
        return refused(name, `${kill?.[0]}, the kill program of its sandbox "${name}", does not exist`);
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
      const { network, read } = declared;
      const write = writtenBy(declared, config.folder);
      const others = config.sandboxes.filter((each) => each !== declared);
      return {
        ...{ mode: 'bubblewrap', name, program, network, write },
        read: [...implicitPaths(context, write), ...read.map((path) => resolve(config.folder, path))],
        writtenElsewhere: others.flatMap((each) => writtenBy(each, config.folder)),
        fixed: isTooBroad(config.folder, host['HOME']) ? [] : configFiles(config),
        ...hiddenPaths(config),
      };
    }
  }
}

function writtenBy(declared: RuntimeConfig['sandboxes'][number], folder: string): string[] {
  return declared.mode === 'bubblewrap' ? declared.write.map((path) => resolve(folder, path)) : [];
}

function refused(name: string, reason: string): RefusedSandbox {
  return { mode: 'refused', name, reason };
}

function resolveKill(
  [first = '', ...rest]: readonly string[],
  command: string,
  { program, context }: { readonly program: string; readonly context: SandboxContext },
): readonly string[] | null {
  const found = first === command ? program : findProgram(first, context);
  return found === undefined ? null : [found, ...rest];
}

/** Uses the PATH of this process, because an entry must not choose the program that confines it. */
function findProgram(command: string, { config, host }: SandboxContext): string | undefined {
  const found = findExecutable(command, config.folder, host['PATH'] ?? '');
  return found.found ? found.path : undefined;
}

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

/**
 * The folders of the config file and of the process, and paths that the dialect names. Folders that hold more than one
 * project are left out.
 */
function implicitPaths(
  { config, host, cwd, variables }: SandboxContext,
  write: readonly string[],
): readonly string[] {
  const named = Object.values(variables).filter((value) => isAbsolute(value) && existsSync(value));
  const isShown = (path: string) => write.some((folder) => holds(folder, path));
  const isBroad = (path: string) =>
    isTooBroad(path, host['HOME']) || isTooBroad(followLinks(path), host['HOME']);
  return [...new Set([config.folder, cwd, ...named])].filter((path) => !isShown(path) && !isBroad(path));
}

/** Read-only, because these files decide what runs without a sandbox. */
function configFiles({ file, overlays = [] }: SandboxContext['config']): string[] {
  return [file, ...overlays].map((each) => resolve(each));
}

/** Approvals, runs and keys are visible to this process only. */
function hiddenPaths({
  folder,
  stateStore,
  providers,
  environment,
}: SandboxContext['config']): Pick<BubblewrapSandbox, 'hide' | 'secrets'> {
  const credentials = providers.flatMap(({ credential: { file } }) =>
    file === undefined ? [] : [resolve(folder, file)],
  );
  const state = stateFolderOf(stateStore);
  const secrets = [...credentials, ...(environment?.file === undefined ? [] : [environment.file])];
  return { hide: state === undefined ? [] : [state], secrets };
}
