import { statSync } from 'node:fs';
import { resolve } from 'node:path';
import { createExecutableFinder } from '../../../base/files/executable.ts';
import { findInterpreterFault, findLineEndFault } from '../../../base/files/interpreter.ts';
import { findScript, isShell } from '../../../base/files/script.ts';
import type { SourceLocation } from '../../../base/yaml/problem.ts';
import type { Binding, HookEndpoint } from '../../../process/binding.ts';
import { findPython } from '../../../process/fork/python.ts';
import { urlForMessages } from '../../../process/http-request.ts';
import type { Entries } from '../../stages/resolve.ts';
import { type Check, found } from './check.ts';

/** An entry of the config that starts a process. */
export interface ProcessEntry {
  readonly subject: string;
  readonly place: SourceLocation;
  readonly binding: Binding;
  readonly missingEnv: readonly string[];
}

/** Every entry that starts a process, in the order of the file’s sections. */
export function processEntries({ tools, evals, hooks, foreign }: Entries): ProcessEntry[] {
  const ofTools = tools.flatMap(({ config, resolved }) =>
    resolved === undefined
      ? []
      : [{ ...resolved, subject: `tool ${config.name}`, place: config.exec?.position ?? config.position }],
  );
  const ofEvals = evals.map(({ config, resolved }) => ({
    ...resolved,
    subject: `eval ${config.name}`,
    place: config.exec.position,
  }));
  const ofHooks = hooks.map(({ config, resolved }) => ({
    ...resolved,
    subject: `hook ${config.name}`,
    place: config.exec.position,
  }));
  const ofForeign = foreign.flatMap(({ config, resolved: { binding, missingEnv } }) =>
    binding === undefined
      ? []
      : [
          {
            binding,
            missingEnv,
            subject: `hook ${config.name}`,
            place: config.exec?.position ?? config.source,
          },
        ],
  );
  return [...ofTools, ...ofEvals, ...ofHooks, ...ofForeign];
}

/** Whether each entry could be started, by its command, folder, script and environment. Starts nothing. */
export function checkEntries(entries: readonly ProcessEntry[]): Check[] {
  const findExecutable = createExecutableFinder();
  return entries.flatMap((entry) => [
    checkCommand(entry, findExecutable),
    ...checkScript(entry),
    ...checkEnv(entry),
    ...checkFork(entry),
  ]);
}

function checkCommand(
  { subject, place, binding }: ProcessEntry,
  findExecutable: ReturnType<typeof createExecutableFinder>,
): Check {
  const { command, cwd, env, refused, endpoint } = binding;
  const about = { check: 'command', subject, place };
  if (endpoint !== null) return checkEndpoint(endpoint, { ...about, check: 'endpoint' });
  if (refused !== null) return found('error', { ...about, message: refused });
  if (kindOf(cwd) !== 'folder') {
    const hint = 'It is the folder in which the process starts: make it, or correct `cwd`.';
    return found('error', { ...about, message: `${cwd} is no folder`, hint });
  }
  try {
    const searchPath = env['PATH'] ?? '';
    const executable = findExecutable(command, cwd, searchPath);
    if (!executable.found)
      return found('error', { ...about, message: executable.reason, hint: executable.hint });
    const fault = findInterpreterFault(executable.path, { cwd, searchPath });
    if (fault !== undefined) return found('error', { ...about, message: fault.reason, hint: fault.hint });
    return found('ok', { ...about, message: executable.leading?.[0] ?? executable.path });
  } catch (thrown) {
    // A script that only the system may read can be started nevertheless.
    const message = `could not be looked at: ${thrown instanceof Error ? thrown.message : String(thrown)}`;
    return found('warning', { ...about, message, hint: 'Check the path and its permissions.' });
  }
}

/** Asks nobody: a question is an event. */
function checkEndpoint(
  { url, ca }: HookEndpoint,
  about: Omit<Parameters<typeof found>[1], 'message'>,
): Check {
  if (ca !== null && kindOf(ca) !== 'file') {
    const hint = 'It is a file of certificates in PEM: correct `ca`. Until then every question fails.';
    return found('error', { ...about, message: `${ca} is no file`, hint });
  }
  const address = urlForMessages(new URL(url));
  return found('ok', { ...about, message: `${address}: its address is well formed; it is not called` });
}

function checkScript({ subject, place, binding }: ProcessEntry): Check[] {
  const { command, args, cwd } = binding;
  const index = findScript(command, args);
  const script = index === undefined ? undefined : args[index];
  if (script === undefined) return [];
  const about = { check: 'script', subject, place };
  const path = resolve(cwd, script);
  if (kindOf(path) === 'nothing') {
    const hint = `${command} starts in ${cwd}: correct the path in \`args\`.`;
    return [found('error', { ...about, message: `${path} does not exist`, hint })];
  }
  const fault = isShell(command) ? findLineEndFault(path, command) : undefined;
  if (fault !== undefined) return [found('error', { ...about, message: fault.reason, hint: fault.hint })];
  return [found('ok', { ...about, message: path })];
}

function checkEnv({ subject, place, missingEnv }: ProcessEntry): Check[] {
  return missingEnv.map((name) =>
    found('warning', {
      ...{ check: 'env', subject, place, message: `the environment has no ${name}` },
      hint: `Set ${name}, or take it out of \`env\`; it is left out.`,
    }),
  );
}

function checkFork({ subject, place, binding }: ProcessEntry): Check[] {
  if (!binding.isForked) return [];
  const about = { check: 'fork', subject, place };
  const python = findPython(binding);
  if ('reason' in python) {
    const hint = 'It runs as `runtime: exec`.';
    return [found('warning', { ...about, message: `cannot be forked: ${python.reason}`, hint })];
  }
  return [found('ok', { ...about, message: `forks ${python.command}` })];
}

function kindOf(path: string): 'folder' | 'file' | 'nothing' {
  try {
    return statSync(path).isDirectory() ? 'folder' : 'file';
  } catch {
    return 'nothing';
  }
}
