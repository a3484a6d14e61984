import { isAbsolute } from 'node:path';
import { omitUndefined } from '../../../yaml/present.ts';
import type { SourceLocation } from '../../../yaml/problem.ts';
import type { DraftContext, DraftHook, HookDraft } from '../../foreign-files.ts';
import { shortPath } from '../../import-context.ts';
import { picoclawLimits, readWire } from './entry.ts';
import type { PicoclawMethod, PicoclawSettings } from './settings.ts';

/** An enabled process of a config.json, with the file’s defaults. */
export interface HookProcess extends Limits {
  readonly name: string;
  readonly priority: number;
  readonly command: string;
  readonly args: readonly string[];
  /** Absolute. */
  readonly dir: string;
  /** `NAME=value` literals. */
  readonly env: readonly string[];
  readonly intercept: readonly PicoclawMethod[];
  readonly observe: readonly string[];
  readonly source: SourceLocation;
  readonly commandPosition: SourceLocation;
}

/** The limits that a file may set for all its processes. */
export type Limits = Pick<
  PicoclawSettings,
  'interceptorTimeoutMs' | 'approvalTimeoutMs' | 'observerTimeoutMs'
>;

/** The process as a hook that may become an entry of the config. */
export function toDraft(hookProcess: HookProcess): HookDraft {
  const { name, source, commandPosition, interceptorTimeoutMs } = hookProcess;
  return {
    dialect: 'picoclaw',
    name,
    source,
    commandPosition,
    timeoutMs: interceptorTimeoutMs,
    toHook: (context) => toHook(hookProcess, context),
    toEntry: (folder) => toEntry(hookProcess, folder),
  };
}

function toHook(hookProcess: HookProcess, { document, path, env }: DraftContext): DraftHook {
  const { command, args, dir, intercept, observe } = hookProcess;
  const { interceptorTimeoutMs, approvalTimeoutMs, observerTimeoutMs } = hookProcess;
  const settings: PicoclawSettings = {
    ...readWire(document, [...path, 'picoclaw']),
    ...{ intercept, observe, interceptorTimeoutMs, approvalTimeoutMs, observerTimeoutMs },
  };
  const exec = { command, args, cwd: dir, runtime: 'server', env: [...env, ...hookProcess.env] } as const;
  return { exec, settings };
}

function toEntry(hookProcess: HookProcess, folder: string): Record<string, unknown> {
  const { command, args, dir, env, intercept, observe } = hookProcess;
  const unless = (limit: keyof Limits) =>
    hookProcess[limit] === picoclawLimits[limit] ? undefined : hookProcess[limit];
  return {
    dialect: 'picoclaw',
    command: isAbsolute(command) ? shortPath(command, folder) : command,
    ...(args.length === 0 ? {} : { args }),
    ...(env.length === 0 ? {} : { env }),
    picoclaw: {
      ...(intercept.length === 0 ? {} : { intercept }),
      ...(observe.length === 0 ? {} : { observe }),
      dir: shortPath(dir, folder),
      ...omitUndefined({
        interceptor_timeout_ms: unless('interceptorTimeoutMs'),
        approval_timeout_ms: unless('approvalTimeoutMs'),
        observer_timeout_ms: unless('observerTimeoutMs'),
      }),
    },
  };
}
