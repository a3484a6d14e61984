import { lstatSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Child, Fault, Scene } from './fault.ts';
import { nativeReply, type Point } from './points.ts';
import { type Hooked, isForeign, isHook, type Target } from './targets.ts';

const bin = join(import.meta.dirname, '../fixtures/bin');

export function fixture(name: string): string {
  return join(bin, name);
}

/** A limit in milliseconds that is meant to be reached, and one that no busy machine reaches. */
const SHORT_MS = 300;
const LONG_MS = 25_000;
/** A limit that even megabytes of data do not reach. */
const HEAVY_MS = 240_000;

export interface Staged {
  readonly config: string;
  /** Must be called once the runtime is open, before the first call. */
  afterOpen(): void;
}

export function stage(fault: Fault, scene: Scene): Staged {
  const { target, folder } = scene;
  mkdirSync(folder, { recursive: true });
  const child = fault.child(scene);
  const isSwapped = child.isFile === true && isForeign(target) && target.dialect !== 'picoclaw';
  const plugin = join(folder, 'plugin');
  const hasPlugin = isSwapped || (isForeign(target) && target.dialect === 'chibi');
  if (hasPlugin)
    writeFileSync(plugin, pluginText(isSwapped ? fixture('allow.sh') : child, target), { mode: 0o755 });
  const started = hasPlugin ? { ...child, command: plugin, args: [] } : child;
  const config = join(folder, 'runtime.yaml');
  const spec = { concurrency: 16, ...specOf(fault, target, started) };
  // YAML includes JSON.
  writeFileSync(config, JSON.stringify({ apiVersion: 'signalbox/v1', kind: 'RuntimeConfig', spec }));
  return { config, afterOpen: () => isSwapped && swap(child.command, plugin) };
}

function pluginText(child: Child | string, target: Target): string {
  const hooks = target.capability === 'hook' ? [target.point.name] : [];
  const schema = JSON.stringify([{ name: 'it', description: 'it', parameters: {}, hooks }]);
  const words = typeof child === 'string' ? [child] : [child.command, ...(child.args ?? [])];
  return `#!/bin/sh\nif [ "$1" = --schema ]; then echo '${schema}'; exit 0; fi\nexec ${line(words)}\n`;
}

function line(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", `'\\''`)}'`).join(' ');
}

function swap(file: string, place: string): void {
  rmSync(place);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) renameSync(file, place);
}

function specOf(fault: Fault, target: Target, child: Child): object {
  const entry = { ...entryOf(fault, target, child), ...child.settings };
  if (target.capability === 'tool') return { tools: { it: { description: 'it', exec: entry } } };
  if (!isHook(target)) return { evals: { it: entry } };
  const { onFailure } = target;
  const closing = onFailure === null ? {} : { on_failure: onFailure };
  return { hooks: { it: { ...entry, ...closing, ...listening(target, fault) } } };
}

function entryOf(fault: Fault, target: Target, child: Child): object {
  const { transport, dialect } = target;
  const timeout = limitOf(fault, target);
  const limits = { timeout_ms: timeout, grace_ms: SHORT_MS, max_output_bytes: 65_536 };
  return {
    ...commandOf(target, child),
    ...limits,
    ...(dialect !== 'promptkit' && { dialect }),
    env: [...variablesOf(target), ...(child.env ?? [])],
    // By default, a foreign dialect keeps the processes that a finished one leaves.
    ...((transport !== 'server' || dialect === 'picoclaw') && { leftovers: 'kill' }),
    ...(transport === 'warm' && { warm: 1 }),
    ...(transport === 'fork' && { runtime: 'fork' }),
    ...(transport === 'server' && dialect !== 'picoclaw' && { runtime: 'server' }),
  };
}

function limitOf({ isTimed = false, isHeavy = false }: Fault, target: Target): number {
  const isShort = typeof isTimed === 'function' ? isTimed(target) : isTimed;
  return isShort ? SHORT_MS : isHeavy ? HEAVY_MS : LONG_MS;
}

/** An Agentao rule is a shell command line. A forked entry is a Python script that executes the program. */
function commandOf({ dialect, transport }: Target, { command, args = [], isFile }: Child): object {
  if (dialect === 'agentao') return { command: line([command, ...args]) };
  if (transport === 'fork' && isFile !== true) {
    return { command: fixture('becomes.py'), args: [command, ...args] };
  }
  return { command, args };
}

function variablesOf(target: Target): string[] {
  const isServer = target.transport === 'server';
  const reply = target.capability === 'hook' ? target.point.reply : nativeReply;
  return [
    `REPLY=${reply}`,
    ...(isServer ? ['SERVES=1'] : []),
    ...(target.dialect === 'picoclaw' ? ['GREETS=1'] : []),
  ];
}

function listening(target: Hooked, fault: Fault): object {
  const { dialect, mode, point } = target;
  switch (dialect) {
    case 'picoclaw': {
      const methods = point.isTold ? { observe: [point.name] } : { intercept: [point.name] };
      // An approver has a limit of its own.
      const limits = {
        approval_timeout_ms: limitOf(fault, target),
        hello_timeout_ms: fault.isUngreeted ? SHORT_MS : LONG_MS,
      };
      return { picoclaw: { ...methods, ...limits } };
    }
    case 'chibi':
      return {};
    case 'claude':
    case 'agentao':
      return { [dialect]: { event: point.name } };
    default:
      return { mode, ...nativeMoment(point) };
  }
}

function nativeMoment({ event }: Point): object {
  if (!('hook' in event)) return {};
  return event.hook === 'eval' ? { hook: 'eval' } : { hook: event.hook, phases: [event.phase] };
}
